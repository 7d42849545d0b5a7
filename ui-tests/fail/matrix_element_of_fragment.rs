//! Matrix instructions cannot multiply `u32`.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(out: &mut [u32]) {
        out[lane_id()] = FragA::<u32, 32, 8>::row();
    }
}

fn main() {}
