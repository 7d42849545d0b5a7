//! Errors: tiles of f64 on a target before gfx90a, and tiles of 8-bit floats on one before gfx942.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[targets(gfx908, gfx90a)]
    fn doubles(a: &[f64], b: &[f64], c: &mut [f64]) {
        let left = TileA::<f64, 16, 16, 16>::load(row_major(a, 16), 0, 0);
        let right = TileB::<f64, 16, 16, 16>::load(col_major(b, 16), 0, 0);
        matmul(left, right, Tile::<f64, 16, 16, 16>::zero()).store_to(row_major(c, 16), 0, 0);
    }

    #[workgroup(64)]
    #[targets(HasMfmaF64)]
    fn bytes(a: &[f8e4m3], b: &[f8e5m2], c: &mut [f32]) {
        let left = TileA::<f8e4m3, 32, 16>::load(row_major(a, 16), 0, 0);
        let right = TileB::<f8e5m2, 16, 32>::load(col_major(b, 16), 0, 0);
        matmul(left, right, Tile::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
    }

    /// The bound is too weak for the product.
    #[device]
    fn weak<T: gcn_dsl::lang::HasMfma>(
        all: AllLanes<T>,
        a: TileA<f64, 16, 16, 16>,
        b: TileB<f64, 16, 16, 16>,
        c: Tile<f64, 16, 16, 16>,
    ) -> Tile<f64, 16, 16, 16> {
        matmul(a, b, c)
    }
}

fn main() {}
