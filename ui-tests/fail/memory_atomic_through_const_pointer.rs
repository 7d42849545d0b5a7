//! Error: an atomic operation through a pointer to read-only memory.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(p: *const u32) {
        p.add(lane_id()).atomic().fetch_add(1, Scope::Agent, Ordering::Relaxed);
    }
}

fn main() {}
