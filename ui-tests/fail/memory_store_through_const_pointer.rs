//! Error: a store through a `*const T`, uniform or varying.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(p: *const f32, n: u32) {
        *p.add(n) = 1.0;
        *p.add(lane_id()) = 2.0;
        p.add(lane_id())[1] = 3.0;
    }
}

fn main() {}
