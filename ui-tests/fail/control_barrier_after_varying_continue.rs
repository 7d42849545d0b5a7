//! Lanes that went on to the next trip do not arrive at the barrier; one before it is fine.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        for k in 0..n {
            barrier();
            if x[i] == k {
                continue;
            }
            barrier();
        }
    }
}

fn main() {}
