//! Products added to parts of a tile, by MFMA, WMMA and vector instructions.

use gcn_dsl::lang::matrix::matmul_part;
use gcn_dsl::prelude::*;

gcn_kernel! {
    /// c = a * b for 64 x 16 times 16 x 32 elements, b column by column.
    #[workgroup(64)]
    fn tall(a: &[f16], b: &[f16], c: &mut [f32]) {
        let right = TileB::<f16, 16, 32, 16>::load(col_major(b, 16), 0, 0);
        let mut acc = Tile::<f32, 64, 32, 16>::zero();
        #[unroll]
        for row in (0..64usize).step_by(16) {
            let left = TileA::<f16, 16, 16, 16>::load(row_major(a, 16), row as u32, 0);
            acc = matmul_part(left, right, acc, row, 0usize);
        }
        acc.store_to(row_major(c, 32), 0, 0);
    }

    #[workgroup(64)]
    fn beyond(a: &[f16], b: &[f16], c: &mut [f32]) {
        let right = TileB::<f16, 16, 32, 16>::load(col_major(b, 16), 0, 0);
        let left = TileA::<f16, 16, 16, 16>::load(row_major(a, 16), 0, 0);
        let acc = matmul_part(left, right, Tile::<f32, 64, 32, 16>::zero(), 56usize, 0usize);
        acc.store_to(row_major(c, 32), 0, 0);
    }
}

#[test]
fn parts_of_a_tile_make_up_the_product() {
    let numbers = |n: usize, period: usize| -> Vec<f16> {
        (0..n).map(|i| f16::from_f32((i % period) as f32)).collect()
    };
    let (a, b) = (numbers(64 * 16, 7), numbers(16 * 32, 5));
    for target in [Target::GFX942, Target::GFX1030, Target::GFX1100, Target::GFX1201] {
        let mut c = vec![0f32; 64 * 32];
        tall.launch(&Device::simulator(target), Grid::x(1), (&a, &b, &mut c)).unwrap();
        for (at, x) in c.iter().enumerate() {
            let (row, column) = (&a[at / 32 * 16..][..16], &b[at % 32 * 16..][..16]);
            let want: f32 = row.iter().zip(column).map(|(x, y)| x.to_f32() * y.to_f32()).sum();
            assert_eq!(*x, want, "{target}: {at}");
        }
    }
}

#[test]
fn a_part_consists_of_whole_accumulators() {
    let error = beyond.build(Target::GFX1100).unwrap_err().to_string();
    let want = "16 x 32 elements from row 56 and column 0 on are no part of 64 x 32 in accumulators of 16 x 16 elements";
    assert!(error.contains(want), "{error}");
}
