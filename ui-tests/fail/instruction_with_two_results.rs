//! Error: the result of an instruction with two results, which is a tuple, is used as one value.
use gcn_dsl::{isa, prelude::*};

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let i = global_id().x;
        x[i] = isa::v_add_co_u32(x[i], 1);
    }
}

fn main() {}
