//! Error: `break` with a value in a `while`, which may also end without a `break`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        while x[i] < n {
            break 3;
        }
    }
}

fn main() {}
