//! Error: a barrier in a varying `if`. Lanes that skip the branch would not reach the barrier.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        if i < x.len() {
            x[i] = 0.0;
            barrier();
        }
    }
}

fn main() {}
