//! Error: a matrix product where only some lanes are active. Matrix instructions ignore EXEC.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(a: &[f16], c: &mut [f32]) {
        let left = TileA::<f16, 32, 32>::load(row_major(a, 32), 0, 0);
        let right = TileB::<f16, 32, 32>::load(col_major(a, 32), 0, 0);
        if lane_id() < 32 {
            matmul(left, right, Tile::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
        }
    }
}

fn main() {}
