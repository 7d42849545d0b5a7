//! Error: `write_lane` with a varying lane number or value.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn put(x: &mut [u32]) {
        let i = global_id().x;
        x[i] = write_lane(x[i], lane_id(), 1u32);
        x[i] = write_lane(x[i], 5, x[i]);
    }
}

fn main() {}
