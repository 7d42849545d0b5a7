//! An unrolled loop runs when the kernel is built, so its bound must be known then.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [f32]) {
        let i = global_id().x;
        #[unroll]
        for k in 0..n {
            x[i + k] = 0.0;
        }
    }
}

fn main() {}
