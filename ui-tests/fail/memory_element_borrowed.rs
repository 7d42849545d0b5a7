//! Error: a reference to an element of memory.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn borrows(y: &mut [f32]) {
        let i = global_id().x;
        let p = &mut y[i];
        *p = 0.0;
    }
}

fn main() {}
