//! Who calls a closure, and under which condition, cannot be seen in its body.
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
