//! Error: a barrier after a varying `return`. Lanes that have returned would not reach the barrier.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        if i >= x.len() {
            return;
        }
        barrier();
        x[i] = 1;
    }
}

fn main() {}
