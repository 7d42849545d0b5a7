//! A pointer is offset by a signed distance; unsigned ones are for `add`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(p: *const f32, x: &mut [f32]) {
        let i = global_id().x;
        x[i] = unsafe { *p.offset(i) };
    }
}

fn main() {}
