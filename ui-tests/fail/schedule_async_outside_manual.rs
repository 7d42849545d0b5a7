//! Error: an asynchronous load outside of manually scheduled code, where the compiler inserts the waits.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &[f32], y: &mut [f32]) {
        let element = x.load_async(0);
        y[0] = wait(element);
    }
}

fn main() {}
