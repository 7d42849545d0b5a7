//! A host condition is known when the kernel is built.
use gcn_dsl::prelude::*;

const FAST: bool = true;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        if FAST {
            x[i] = 0.0;
        }
    }
}

fn main() {}
