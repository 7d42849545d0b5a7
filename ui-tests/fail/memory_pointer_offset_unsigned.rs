//! Error: a pointer's `offset` with an unsigned distance, for which there is `add`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(p: *const f32, x: &mut [f32]) {
        let i = global_id().x;
        x[i] = unsafe { *p.offset(i) };
    }
}

fn main() {}
