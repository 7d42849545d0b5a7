//! Error: an atomic operation on a single 16-bit element, for which the hardware has no instruction.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f16]) {
        x.atomic(0).fetch_add(f16::ONE, Scope::Agent, Ordering::Relaxed);
    }
}

fn main() {}
