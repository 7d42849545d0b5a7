//! Error: a fragment of `u32`, which matrix instructions cannot multiply.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(out: &mut [u32]) {
        out[lane_id()] = FragA::<u32, 32, 8>::row();
    }
}

fn main() {}
