//! Error: the bound of an unrolled loop is not known when the kernel is built, which is when the loop is executed.
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
