//! Error: a second wait for the same operation.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(manual)]
    fn kernel(x: &[f32], y: &mut [f32]) {
        let element = x.load_async(0);
        y[0] = wait(element);
        y[1] = wait(element);
    }
}

fn main() {}
