//! Error: a product of tiles whose depths differ.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(a: &[f16], c: &mut [f32]) {
        let left = TileA::<f16, 64, 32>::load(row_major(a, 32), 0, 0);
        let right = TileB::<f16, 16, 64>::load(row_major(a, 64), 0, 0);
        matmul(left, right, Tile::<f32, 64, 64>::zero()).store_to(row_major(c, 64), 0, 0);
    }
}

fn main() {}
