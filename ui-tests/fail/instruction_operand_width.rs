//! Error: an operand of an instruction has the wrong width.
use gcn_dsl::{isa, prelude::*};

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(a: &[f64], x: &mut [f32]) {
        let i = global_id().x;
        x[i] = isa::v_add_f32(x[i], a[i]);
    }
}

fn main() {}
