//! Error: an atomic store with the ordering `Acquire`. A store reads nothing that it could acquire.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(flag: &mut [u32]) {
        flag.atomic(0).store(1, Scope::Agent, Ordering::Acquire);
        flag.atomic(1).store(1, Scope::Agent, Ordering::AcqRel);
    }
}

fn main() {}
