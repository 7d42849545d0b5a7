//! Error: a barrier in a closure. It is unknown who calls the closure and which lanes are then active.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(128)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        let wait = move || barrier();
        if i < x.len() {
            wait();
        }
    }
}

fn main() {}
