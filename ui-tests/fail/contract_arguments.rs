//! Error: `#[contract]` with arguments. It has none.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[contract(fast)]
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = x[i] * x[i] + 1.0;
    }
}

fn main() {}
