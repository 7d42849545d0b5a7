//! Error: a kernel without a workgroup size.
use gcn_dsl::prelude::*;

gcn_kernel! {
    fn kernel(x: &mut [f32]) {
        x[global_id().x] = 0.0;
    }
}

fn main() {}
