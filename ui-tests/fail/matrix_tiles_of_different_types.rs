//! Error: the accumulator of a product of i8 tiles is f32. It has to be i32.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(a: &[i8], c: &mut [f32]) {
        let left = TileA::<i8, 32, 32>::load(row_major(a, 32), 0, 0);
        let right = TileB::<i8, 32, 32>::load(col_major(a, 32), 0, 0);
        matmul(left, right, Tile::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
    }
}

fn main() {}
