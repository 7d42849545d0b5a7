//! Shift counts are `u32`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn shift(x: &[i32], n: &[i32], out: &mut [i32]) {
        let i = global_id().x;
        out[i] = x[i] << n[i];
    }
}

fn main() {}
