//! Error: `break` or `continue` outside of a loop.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        if x[i] > n {
            break;
        }
        continue;
    }
}

fn main() {}
