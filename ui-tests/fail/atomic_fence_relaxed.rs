//! Error: a fence with the ordering `Relaxed`, which would order nothing.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        x[0] = 1;
        fence(Scope::Agent, Ordering::Relaxed);
    }
}

fn main() {}
