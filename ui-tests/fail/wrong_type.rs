//! Error: operands of different element types.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [f32]) {
        let i = global_id().x;
        x[i] = x[i] * n;
    }
}

fn main() {}
