//! Error: a barrier after a varying `break`. Lanes that left the loop on an earlier trip would not reach the barrier.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        for k in 0..n {
            barrier();
            if x[i] == k {
                break;
            }
        }
    }
}

fn main() {}
