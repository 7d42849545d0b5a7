//! Error: a comparison of different element types.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: i32, x: &mut [f32]) {
        let i = global_id().x;
        if i < n {
            x[i] = 0.0;
        }
    }
}

fn main() {}
