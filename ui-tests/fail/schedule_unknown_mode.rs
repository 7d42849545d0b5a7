//! Error: an unknown argument of `#[schedule(…)]`. There is only `manual`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(automatic)]
    fn kernel(y: &mut [f32]) {
        y[0] = 0.0;
    }

    #[workgroup(64)]
    fn block(y: &mut [f32]) {
        #[schedule]
        {
            y[0] = 0.0;
        }
    }
}

fn main() {}
