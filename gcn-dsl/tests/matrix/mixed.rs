//! Tiles of 8-bit floats in every combination of formats, with the instructions for these and, if the tiles are deep
//! enough, with gfx950's instructions that have format fields.

use gcn_dsl::lang::matrix::{AsAcc, Bf8, Fp8, MatrixElement};
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use crate::timing::report;

const TARGETS: [Target; 2] = [Target::GFX942, Target::GFX950];

fn numbers(seed: u64, n: usize) -> Vec<f32> {
    let mut rng = Random::new(seed);
    (0..n).map(|_| rng.below(9) as f32 - 4.0).collect()
}

/// The product. `a` is stored row by row, `b` column by column.
fn product([m, n, k]: [usize; 3], a: &[f32], b: &[f32]) -> Vec<f32> {
    (0..m * n).map(|i| (0..k).map(|l| a[i / n * k + l] * b[i % n * k + l]).sum()).collect()
}

fn transposed(rows: usize, cols: usize, xs: &[f32]) -> Vec<f32> {
    (0..rows * cols).map(|i| xs[i % rows * cols + i / rows]).collect()
}

/// Numbers in the representation that they have in memory.
trait Stored: MatrixElement {
    fn stored(x: f32, target: Target) -> Self::Memory;

    fn all(xs: &[f32], target: Target) -> Vec<Self::Memory> {
        xs.iter().map(|x| Self::stored(*x, target)).collect()
    }
}

macro_rules! stored {
    ($($t:ident $device:ident |$x:ident| $memory:expr;)*) => {$(
        impl Stored for $t {
            fn stored(x: f32, target: Target) -> Self::Memory {
                let $x = $device::from_f32(x, target);
                $memory
            }
        }
    )*};
}
stored! {
    f8e4m3 f8e4m3 |x| x;
    f8e5m2 f8e5m2 |x| x;
    Fp8 f8e4m3 |x| x.to_bits();
    Bf8 f8e5m2 |x| x.to_bits();
}

macro_rules! mixture {
    ($name:ident, $a:ident in $mem_a:ident, $b:ident in $mem_b:ident, $m:literal x $n:literal x $k:literal, $side:literal,
     $instructions:expr) => {
        mod $name {
            use super::*;

            gcn_kernel! {
                /// c = a * b, first with `k` contiguous in memory in both factors, then in neither.
                #[workgroup(64)]
                #[targets(HasMfmaF8)]
                fn kernel(a: &[$mem_a], b: &[$mem_b], at: &[$mem_a], bt: &[$mem_b], c: &mut [f32]) {
                    let left = TileA::<$a, $m, $k, $side>::load(row_major(a, $k), 0, 0);
                    let right = TileB::<$b, $k, $n, $side>::load(col_major(b, $k), 0, 0);
                    let acc = matmul(left, right, Tile::<f32, $m, $n, $side>::zero());
                    acc.store_to(row_major(c, $n), 0, 0);
                    let left = TileA::<$a, $m, $k, $side>::load(col_major(at, $m), 0, 0);
                    let right = TileB::<$b, $k, $n, $side>::load(row_major(bt, $n), 0, 0);
                    matmul(left, right, acc).store_to(row_major(c, $n), $m, 0);
                }
            }

            #[test]
            fn is_the_product() {
                let (a, b) = (numbers(1, $m * $k), numbers(2, $n * $k));
                let want = product([$m, $n, $k], &a, &b);
                let twice: Vec<f32> = want.iter().map(|x| 2.0 * x).collect();
                let (at, bt) = (transposed($m, $k, &a), transposed($n, $k, &b));
                for (target, instruction) in TARGETS.into_iter().zip($instructions) {
                    let of_a = |xs: &[f32]| <$a>::all(xs, target);
                    let of_b = |xs: &[f32]| <$b>::all(xs, target);
                    let built = kernel.build(target).unwrap();
                    let text = built.assembly(Comments::None);
                    assert!(text.contains(instruction), "{target}: {text}");
                    let mut c = vec![0.0; 2 * $m * $n];
                    let args = (&of_a(&a)[..], &of_b(&b)[..], &of_a(&at)[..], &of_b(&bt)[..], &mut c[..]);
                    Device::simulator(target).launch(&kernel, &built, Grid::x(1), args).unwrap();
                    assert_eq!(c[..$m * $n], want, "{target}");
                    assert_eq!(c[$m * $n..], twice, "{target}, k not the fast dimension");
                }
            }
        }
    };
}

mixture!(
    fp8_bf8_shallow,
    f8e4m3 in f8e4m3,
    f8e5m2 in f8e5m2,
    32 x 32 x 48,
    32,
    ["v_mfma_f32_32x32x16_fp8_bf8 ", "v_mfma_f32_32x32x16_fp8_bf8 "]
);
mixture!(
    fp8_bf8,
    f8e4m3 in f8e4m3,
    f8e5m2 in f8e5m2,
    64 x 32 x 128,
    32,
    ["v_mfma_f32_32x32x16_fp8_bf8 ", "v_mfma_f32_32x32x64_f8f6f4 "]
);
mixture!(
    raw_bf8_fp8,
    Bf8 in u8,
    Fp8 in u8,
    16 x 48 x 128,
    16,
    ["v_mfma_f32_16x16x32_bf8_fp8 ", "v_mfma_f32_16x16x128_f8f6f4 "]
);
mixture!(
    raw_bf8,
    Bf8 in u8,
    Bf8 in u8,
    32 x 32 x 64,
    32,
    ["v_mfma_f32_32x32x16_bf8_bf8 ", "v_mfma_f32_32x32x64_f8f6f4 "]
);

gcn_kernel! {
    /// e = a * (b * c). The inner product has 128 rows and is the right factor of the outer one, which gfx950
    /// multiplies with one deep instruction.
    #[workgroup(64)]
    #[targets(HasMfmaF8)]
    fn chain(a: &[f8e5m2], b: &[f8e4m3], c: &[f8e4m3], e: &mut [f32]) {
        let left = TileA::<f8e4m3, 128, 32, 16>::load(row_major(b, 32), 0, 0);
        let right = TileB::<f8e4m3, 32, 16, 16>::load(col_major(c, 32), 0, 0);
        let inner = matmul(left, right, Tile::<f32, 128, 16, 16>::zero());
        let outer = TileA::<f8e5m2, 16, 128, 16, AsAcc>::load(row_major(a, 128), 0, 0);
        let inner = inner.to_b(|x| x as f8e4m3);
        matmul(outer, inner, Tile::<f32, 16, 16, 16>::zero()).store_to(row_major(e, 16), 0, 0);
    }
}

#[test]
fn an_accumulator_becomes_a_factor_of_8_bits() {
    let (a, b, c) = (numbers(5, 16 * 128), numbers(6, 128 * 32), numbers(7, 32 * 16));
    for target in TARGETS {
        let inner = product([128, 16, 32], &b, &c);
        let rounded: Vec<f32> = inner.iter().map(|x| f8e4m3::from_f32(*x, target).to_f32(target)).collect();
        let want = product([16, 16, 128], &a, &transposed(128, 16, &rounded));
        let mut e = vec![0.0; 256];
        let args = (
            &f8e5m2::all(&a, target)[..],
            &f8e4m3::all(&b, target)[..],
            &f8e4m3::all(&c, target)[..],
            &mut e[..],
        );
        chain.launch(&Device::simulator(target), Grid::x(1), args).unwrap();
        assert_eq!(e, want, "{target}");
    }
}

gcn_kernel! {
    /// The same product 64 times, with 64 `k` per instruction.
    #[workgroup(64)]
    #[targets(gfx950)]
    fn deep(x: &[f8e4m3], y: &mut [f32]) {
        let left = TileA::<f8e4m3, 64, 64>::load(row_major(x, 64), 0, 0);
        let right = TileB::<f8e4m3, 64, 64>::load(col_major(x, 64), 0, 0);
        let mut acc = Tile::<f32, 64, 64>::zero();
        for _i in 0..64u32 {
            acc = matmul(left, right, acc);
        }
        acc.store_to(row_major(y, 64), 0, 0);
    }

    /// The same with 16 `k` per instruction.
    #[workgroup(64)]
    #[targets(gfx950)]
    fn shallow(x: &[f8e4m3], y: &mut [f32]) {
        let left = [0u32, 16, 32, 48].map(|k| TileA::<f8e4m3, 64, 16>::load(row_major(x, 64), 0, k));
        let right = [0u32, 16, 32, 48].map(|k| TileB::<f8e4m3, 16, 64>::load(col_major(x, 64), k, 0));
        let mut acc = Tile::<f32, 64, 64>::zero();
        for _i in 0..64u32 {
            #[unroll]
            for step in 0..4usize {
                acc = matmul(left[step], right[step], acc);
            }
        }
        acc.store_to(row_major(y, 64), 0, 0);
    }
}

/// Each trip has 4 instructions of 16 passes, or 16 of 8 passes; a pass takes 4 cycles.
#[test]
fn the_deep_instructions_of_gfx950_take_half_the_time() {
    let size = [64 * 64, 64 * 64];
    let one = f8e4m3::from_f32(1.0, Target::GFX950);
    let by_four = report(&deep, Target::GFX950, one, size).cycles;
    let by_sixteen = report(&shallow, Target::GFX950, one, size).cycles;
    let saved = 64 * (16 * 8 - 4 * 16) * 4;
    // The code around the loops differs by fewer cycles.
    assert!((by_sixteen - by_four).abs_diff(saved) < 500, "{by_four} and {by_sixteen} cycles");
}
