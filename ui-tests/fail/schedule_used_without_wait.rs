//! Error: a pending result is used as a value.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(manual)]
    fn kernel(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let element = x.load_async(i);
        y[i] = element * 2.0;
    }
}

fn main() {}
