//! Error: a barrier after a varying `continue`, which skips it for some lanes. A barrier before it is accepted.
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
