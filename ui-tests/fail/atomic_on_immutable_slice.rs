//! Error: an atomic operation, which writes, on an immutable slice.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &[u32]) {
        x.atomic(0).fetch_add(1, Scope::Agent, Ordering::Relaxed);
    }
}

fn main() {}
