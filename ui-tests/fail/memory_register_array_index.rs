//! Error: an array in registers is indexed by a type other than `usize` or the device's `u32`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn tile(x: &[f32], y: &mut [f32]) {
        let mut tile: [V<f32>; 64] = [0.0; 64];
        let lane = local_id().x;
        tile[lane as i32] = x[global_id().x];
        tile[63.0 * x[0]] += 1.0;
        y[global_id().x] = tile[3];
    }
}

fn main() {}
