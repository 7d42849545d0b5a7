//! Error: an ordering of `std::sync::atomic`, which is a value. The device's orderings are types.
use std::sync::atomic::Ordering;

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        x.atomic(0).fetch_add(1, Scope::Agent, Ordering::Relaxed);
    }
}

fn main() {}
