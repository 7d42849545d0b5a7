//! Error: a workgroup of more than 1024 work-items.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64, 32)]
    fn kernel(x: &mut [f32]) {
        x[global_id().x] = 0.0;
    }
}

fn main() {}
