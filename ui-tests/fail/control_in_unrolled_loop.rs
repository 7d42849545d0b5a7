//! The trips of an unrolled loop exist before the kernel runs.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        #[unroll]
        for k in 0..4 {
            if x[i] == k {
                break;
            }
        }
    }
}

fn main() {}
