//! Elements of an array of device values are registers, which have no computed numbers.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn tile(x: &[f32], y: &mut [f32]) {
        let mut tile: [V<f32>; 64] = [0.0; 64];
        let lane = local_id().x;
        tile[lane] = x[global_id().x];
        tile[63 - lane] += 1.0;
        y[global_id().x] = tile[3];
    }
}

fn main() {}
