//! Error: a variable that is not declared mutable is assigned.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let sum = 0.0f32;
        sum = 1.0;
        x[global_id().x] = sum;
    }
}

fn main() {}
