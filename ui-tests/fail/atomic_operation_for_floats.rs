//! Error: an atomic bitwise operation on floats.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        x.atomic(0).fetch_xor(1.0, Scope::Agent, Ordering::Relaxed);
    }
}

fn main() {}
