//! Error: an asynchronous load whose result is discarded.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(manual)]
    fn kernel(x: &[f32], y: &mut [f32]) {
        x.load_async(0);
        y[0] = 1.0;
    }
}

fn main() {}
