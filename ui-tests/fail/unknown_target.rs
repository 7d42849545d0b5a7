//! Error: an unknown target.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[targets(gfx942, gfx1310)]
    fn kernel(x: &mut [f32]) {
        x[global_id().x] = 0.0;
    }
}

fn main() {}
