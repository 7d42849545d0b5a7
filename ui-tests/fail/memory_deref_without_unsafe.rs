//! Error: a raw pointer, uniform or varying, is dereferenced outside of an `unsafe` block.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(p: *const f32, q: *mut f32) {
        let own = q.add(lane_id());
        let x = *p;
        *own = x;
        unsafe { *own += *p };
    }
}

fn main() {}
