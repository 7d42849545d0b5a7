//! A load whose result is thrown away.
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
