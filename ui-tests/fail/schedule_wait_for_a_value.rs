//! A plain load is waited for by the compiler.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(manual)]
    fn kernel(x: &[f32], y: &mut [f32]) {
        y[0] = wait(x[0]);
    }
}

fn main() {}
