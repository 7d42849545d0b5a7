//! Error: a number as a condition.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [f32]) {
        let i = global_id().x;
        if n {
            x[i] = 0.0;
        }
    }
}

fn main() {}
