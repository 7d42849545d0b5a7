//! Error: one of the targets lacks this encoding variant of the instruction.
use gcn_dsl::{isa, prelude::*};

gcn_kernel! {
    #[workgroup(64)]
    #[targets(gfx908, gfx90a)]
    fn kernel(x: &mut [f64]) {
        let i = global_id().x;
        let broadcast = isa::Options::new().row_newbcast(3);
        x[i] = isa::v_fmac_f64_dpp(x[i], x[i], x[i], broadcast);
    }
}

fn main() {}
