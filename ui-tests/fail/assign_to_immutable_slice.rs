//! Error: an element of a `&[T]`, which is read-only, is assigned.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &[f32]) {
        let i = global_id().x;
        x[i] = 0.0;
    }
}

fn main() {}
