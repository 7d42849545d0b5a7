//! Error: an explicit wait for a plain load, for which the compiler waits.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(manual)]
    fn kernel(x: &[f32], y: &mut [f32]) {
        y[0] = wait(x[0]);
    }
}

fn main() {}
