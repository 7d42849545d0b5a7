//! Error: a wait in a loop for an operation that was started before the loop.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(manual)]
    fn kernel(n: u32, x: &[f32], y: &mut [f32]) {
        let element = x.load_async(0);
        for i in 0..n {
            y[i] = wait(element);
        }
    }
}

fn main() {}
