//! Error: `as bool`. As in Rust, a number is compared to obtain a condition.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn flag(x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        if x[i] as bool {
            out[i] = 1;
        }
    }
}

fn main() {}
