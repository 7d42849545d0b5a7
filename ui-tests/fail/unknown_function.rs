//! Error: an undefined function is called.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = globl_id().x;
        x[i] = 0.0;
    }
}

fn main() {}
