//! Error: an atomic load with the ordering `Release`. A load writes nothing that it could release.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(flag: &mut [u32], x: &mut [u32]) {
        x[0] = flag.atomic(0).load(Scope::Agent, Ordering::Release);
    }
}

fn main() {}
