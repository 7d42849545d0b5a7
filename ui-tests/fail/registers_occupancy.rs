//! Errors: an occupancy that no SIMD can have.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[min_occupancy(21)]
    fn too_many(x: &mut [f32]) {
        x[global_id().x] = 1.0;
    }
}

gcn_kernel! {
    #[workgroup(64)]
    #[min_occupancy(0)]
    fn none(x: &mut [f32]) {
        x[global_id().x] = 1.0;
    }
}

gcn_kernel! {
    #[workgroup(64)]
    #[min_occupancy(2, 4)]
    fn two(x: &mut [f32]) {
        x[global_id().x] = 1.0;
    }
}

fn main() {}
