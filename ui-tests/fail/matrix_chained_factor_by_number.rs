//! Error: the left factor of a chained product has the usual order of k, but the right factor has another.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(a: &[f16], c: &mut [f32]) {
        let inner = Tile::<f32, 32, 32>::zero().to_b(|x| x as f16);
        let left = TileA::<f16, 32, 32>::load(row_major(a, 32), 0, 0);
        matmul(left, inner, Tile::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
    }
}

fn main() {}
