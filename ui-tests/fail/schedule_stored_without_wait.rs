//! Error: a pending result is stored without a wait.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(manual)]
    fn kernel(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        y[i] = x.load_async(i);
    }
}

fn main() {}
