//! Tiles, matrices in LDS and elements of accumulators, compared with plain Rust. The kernels are the same on every
//! target.

use gcn_dsl::lang::matrix::{AsAcc, Linear, Pad, Spread, XorGroups};
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

const TARGETS: [Target; 4] = [Target::GFX908, Target::GFX90A, Target::GFX942, Target::GFX950];

fn numbers(seed: u64, n: usize) -> Vec<i32> {
    let mut rng = Random::new(seed);
    (0..n).map(|_| rng.below(9) as i32 - 4).collect()
}

fn product([m, n, k]: [usize; 3], a: &[i32], b: &[i32]) -> Vec<i32> {
    let dot = |row: usize, col: usize| (0..k).map(|l| a[row * k + l] * b[l * n + col]).sum();
    (0..m * n).map(|i| dot(i / n, i % n)).collect()
}

fn half(xs: &[i32]) -> Vec<f16> {
    xs.iter().map(|x| f16::from_f32(*x as f32)).collect()
}

fn transposed(rows: usize, cols: usize, xs: &[i32]) -> Vec<i32> {
    (0..rows * cols).map(|i| xs[i % rows * cols + i / rows]).collect()
}

macro_rules! from_memory {
    ($name:ident, $t:ident => $c:ident on $targets:ident, $m:literal x $n:literal x $k:literal, $side:literal, $to:expr,
     $mnemonics:expr) => {
        mod $name {
            use super::*;
            gcn_kernel! {
                /// c = a * b. `b` is stored column by column.
                #[workgroup(64)]
                #[targets($targets)]
                fn kernel(a: &[$t], b: &[$t], c: &mut [$c]) {
                    let left = TileA::<$t, $m, $k, $side>::load(row_major(a, $k), 0, 0);
                    let right = TileB::<$t, $k, $n, $side>::load(col_major(b, $k), 0, 0);
                    let acc = matmul(left, right, Tile::<$c, $m, $n, $side>::zero());
                    acc.store_to(row_major(c, $n), 0, 0);
                }
            }

            #[test]
            fn is_the_product_with_the_targets_best_instruction() {
                let (a, b) = (numbers(1, $m * $k), numbers(2, $k * $n));
                let want: Vec<$c> = product([$m, $n, $k], &a, &b).into_iter().map(|x| x as $c).collect();
                let to = $to;
                let a: Vec<$t> = a.into_iter().map(to).collect();
                let b: Vec<$t> = transposed($k, $n, &b).into_iter().map(to).collect();
                for (target, mnemonic) in Kernel::signature(&kernel).targets.representatives().zip($mnemonics)
                {
                    let built = kernel.build(target).unwrap();
                    let text = built.assembly(Comments::None);
                    assert!(text.contains(mnemonic), "{target}: {text}");
                    let mut c = vec![<$c>::default(); $m * $n];
                    Device::simulator(target).launch(&kernel, &built, Grid::x(1), (&a, &b, &mut c)).unwrap();
                    assert_eq!(c, want, "{target}");
                }
            }
        }
    };
}

from_memory!(
    f16_32,
    f16 => f32 on HasMfma,
    64 x 32 x 32,
    32,
    |x| f16::from_f32(x as f32),
    ["v_mfma_f32_32x32x8f16 ", "v_mfma_f32_32x32x8f16 ", "v_mfma_f32_32x32x8_f16 ", "v_mfma_f32_32x32x16_f16 "]
);
from_memory!(
    f16_shallow,
    f16 => f32 on HasMfma,
    32 x 64 x 8,
    32,
    |x| f16::from_f32(x as f32),
    ["v_mfma_f32_32x32x8f16 ", "v_mfma_f32_32x32x8f16 ", "v_mfma_f32_32x32x8_f16 ", "v_mfma_f32_32x32x8_f16 "]
);
from_memory!(
    bf16_16,
    bf16 => f32 on HasMfma,
    16 x 48 x 64,
    16,
    |x| bf16::from_f32(x as f32),
    ["v_mfma_f32_16x16x8bf16 ", "v_mfma_f32_16x16x16bf16_1k ", "v_mfma_f32_16x16x16_bf16 ", "v_mfma_f32_16x16x32_bf16 "]
);
from_memory!(
    bf16_32,
    bf16 => f32 on HasMfma,
    32 x 64 x 48,
    32,
    |x| bf16::from_f32(x as f32),
    ["v_mfma_f32_32x32x4bf16 ", "v_mfma_f32_32x32x8bf16_1k ", "v_mfma_f32_32x32x8_bf16 ", "v_mfma_f32_32x32x16_bf16 "]
);
from_memory!(
    f32_32,
    f32 => f32 on HasMfma,
    64 x 32 x 8,
    32,
    |x| x as f32,
    ["v_mfma_f32_32x32x2f32 ", "v_mfma_f32_32x32x2f32 ", "v_mfma_f32_32x32x2_f32 ", "v_mfma_f32_32x32x2_f32 "]
);
from_memory!(
    i8_16,
    i8 => i32 on HasMfma,
    32 x 16 x 32,
    16,
    |x| x as i8,
    ["v_mfma_i32_16x16x16i8 ", "v_mfma_i32_16x16x16i8 ", "v_mfma_i32_16x16x32_i8 ", "v_mfma_i32_16x16x32_i8 "]
);
from_memory!(
    i8_32,
    i8 => i32 on HasMfma,
    32 x 32 x 64,
    32,
    |x| x as i8,
    ["v_mfma_i32_32x32x8i8 ", "v_mfma_i32_32x32x8i8 ", "v_mfma_i32_32x32x16_i8 ", "v_mfma_i32_32x32x32_i8 "]
);
from_memory!(
    f64_16,
    f64 => f64 on HasMfmaF64,
    32 x 16 x 8,
    16,
    |x| f64::from(x),
    ["v_mfma_f64_16x16x4f64 ", "v_mfma_f64_16x16x4_f64 ", "v_mfma_f64_16x16x4_f64 "]
);

macro_rules! through_lds {
    ($name:ident, $t:ident, $layout:ty) => {
        mod $name {
            use super::*;
            gcn_kernel! {
                /// c = a * b for matrices of 64 x 32 and 32 x 64, which are both loaded through LDS. `b` is stored
                /// column by column.
                #[workgroup(128)]
                #[targets(HasMfma)]
                fn kernel(a: &[$t], b: &[$t], c: &mut [f32]) {
                    let tile_a = LdsTile::<$t, 64, 32, $layout>::new();
                    let tile_b = LdsTile::<$t, 64, 32, $layout>::new();
                    let mut staged = tile_a.fetch(row_major(a, 32), 0, 0);
                    tile_a.put(staged);
                    staged = tile_b.fetch(row_major(b, 32), 0, 0);
                    tile_b.put(staged);
                    barrier();
                    let row = wave_id() * 32;
                    let left = TileA::<$t, 32, 32>::load(tile_a, row, 0);
                    let right = TileB::<$t, 32, 64>::load(tile_b.transposed(), 0, 0);
                    let acc = matmul(left, right, Tile::<f32, 32, 64>::zero());
                    acc.store_to(row_major(c, 64), row, 0);
                }
            }

            #[test]
            fn arrives() {
                let (a, b) = (numbers(3, 64 * 32), numbers(4, 32 * 64));
                let want: Vec<f32> = product([64, 64, 32], &a, &b).into_iter().map(|x| x as f32).collect();
                let to = |xs: Vec<i32>| xs.into_iter().map(|x| <$t>::from_f32(x as f32)).collect::<Vec<_>>();
                let (a, b) = (to(a), to(transposed(32, 64, &b)));
                for target in TARGETS {
                    let mut c = vec![0f32; 64 * 64];
                    kernel.launch(&Device::simulator(target), Grid::x(1), (&a, &b, &mut c)).unwrap();
                    assert_eq!(c, want, "{target}");
                }
            }
        }
    };
}
through_lds!(lds_linear, f16, Linear);
through_lds!(lds_padded, f16, Pad<8>);
through_lds!(lds_xor, f16, XorGroups<8, 4>);
through_lds!(lds_bf16, bf16, XorGroups<8, 4>);
through_lds!(lds_xor_of_rows, f16, XorGroups<8, 2, 8>);
through_lds!(lds_spread, bf16, Spread);

macro_rules! chained {
    ($name:ident, $t:ident, $side:literal $(, $in_vgprs:ident)?) => {
        mod $name {
            use super::*;
            gcn_kernel! {
                /// e = a * (b * c): the product of a 64 x 16 and a 16 x 32 matrix is the right factor of a second
                /// product.
                #[workgroup(64)]
                #[targets(HasMfma)]
                fn kernel(a: &[$t], b: &[$t], c: &[$t], e: &mut [f32]) {
                    let left = TileA::<$t, 64, 16, $side>::load(row_major(b, 16), 0, 0);
                    let right = TileB::<$t, 16, 32, $side>::load(row_major(c, 32), 0, 0);
                    let inner = matmul(left, right, Tile::<f32, 64, 32, $side>::zero()$(.$in_vgprs())?);
                    let outer = TileA::<$t, 32, 64, $side, AsAcc>::load(row_major(a, 64), 0, 0);
                    let result = matmul(outer, inner.to_b(|x| x as $t), Tile::<f32, 32, 32, $side>::zero());
                    result.store_to(row_major(e, 32), 0, 0);
                }
            }

            #[test]
            fn an_accumulator_becomes_a_right_factor() {
                let (a, b, c) = (numbers(5, 32 * 64), numbers(6, 64 * 16), numbers(7, 16 * 32));
                let to = |xs: &[i32]| xs.iter().map(|x| <$t>::from_f32(*x as f32)).collect::<Vec<_>>();
                // Between the products, the kernel rounds to the type of the factors.
                let inner: Vec<f32> = to(&product([64, 32, 16], &b, &c)).iter().map(|x| x.to_f32()).collect();
                let inner: Vec<i32> = inner.into_iter().map(|x| x as i32).collect();
                let want: Vec<f32> = product([32, 32, 64], &a, &inner).into_iter().map(|x| x as f32).collect();
                let (a, b, c) = (to(&a), to(&b), to(&c));
                for target in TARGETS {
                    let mut e = vec![0f32; 32 * 32];
                    kernel.launch(&Device::simulator(target), Grid::x(1), (&a, &b, &c, &mut e)).unwrap();
                    assert_eq!(e, want, "{target}");
                }
            }
        }
    };
}
chained!(chain_32, f16, 32, in_vgprs);
chained!(chain_16, f16, 16);
chained!(chain_bf16_32, bf16, 32);
chained!(chain_bf16_16, bf16, 16, in_vgprs);

gcn_kernel! {
    /// Operations on the elements of accumulators: maxima and sums of columns, maxima of rows, maps.
    #[workgroup(64)]
    fn elements(x: &[f32], out: &mut [f32]) {
        let acc = Acc::<f32, 32, 32>::load_from(row_major(x, 32), 0, 0).in_vgprs();
        let tile = Tile::from(acc);
        acc.row_max().store_to(row_major(out, 32), 0, 0);
        let largest = acc.col_max();
        acc.map(|x| x - largest).store_to(row_major(out, 32), 32, 0);
        acc.row_sum().zip(&acc, |sum, x| sum - x).store_to(row_major(out, 32), 64, 0);
        let sum = tile.col_sum();
        tile.map(|x| x + sum[0]).store_to(row_major(out, 32), 96, 0);
        let odd = acc.map_indexed(|i, x| select(acc.row(i) == acc.col(), 0.0, x));
        odd.with(0, 100.0).store_with(col_major(out, 32), 0, 128, |x| x * 2.0);
        let placed = acc.map_indexed(|row, col, x| x + (row * 32 + col) as f32);
        placed.store_to(row_major(out, 32), 160, 0);
        let mut placed = tile;
        placed = placed.map_indexed(|row, _, x| select(row < 16, x, -x));
        placed.store_to(row_major(out, 32), 192, 0);
    }
}

#[test]
fn accumulators_elements_are_mapped_and_reduced() {
    let x = numbers(8, 32 * 32);
    let at = |row: usize, col: usize| x[row * 32 + col] as f32;
    let rows = |f: &dyn Fn(usize, usize) -> f32| (0..1024).map(|i| f(i / 32, i % 32)).collect::<Vec<f32>>();
    let largest = |xs: &mut dyn Iterator<Item = f32>| xs.fold(f32::MIN, f32::max);
    for target in TARGETS {
        let mut out = vec![0f32; 7 * 1024];
        let xs: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        elements.launch(&Device::simulator(target), Grid::x(1), (&xs, &mut out)).unwrap();
        let want = [
            rows(&|r, _| largest(&mut (0..32).map(|c| at(r, c)))),
            rows(&|r, c| at(r, c) - largest(&mut (0..32).map(|r| at(r, c)))),
            rows(&|r, c| (0..32).map(|c| at(r, c)).sum::<f32>() - at(r, c)),
            rows(&|r, c| (0..32).map(|r| at(r, c)).sum::<f32>() + at(r, c)),
            // Stored column by column. The first element of each lane is in row 0 or 4.
            rows(&|c, r| match r {
                0 | 4 => 200.0,
                _ if r == c => 0.0,
                _ => 2.0 * at(r, c),
            }),
            rows(&|r, c| at(r, c) + (r * 32 + c) as f32),
            rows(&|r, c| if r < 16 { at(r, c) } else { -at(r, c) }),
        ];
        for (i, want) in want.iter().enumerate() {
            assert_eq!(&out[i * 1024..][..1024], want, "{target} part {i}");
        }
    }
}

gcn_kernel! {
    /// c = alpha * a * b + beta * c for matrices of any size. The hardware's bounds checks handle the edges.
    #[workgroup(64)]
    fn ragged(m: u32, n: u32, k: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let (row, col) = (workgroup_id().y * 32, workgroup_id().x * 32);
        let (a, b) = (row_major(a, k).rows(m).columns(k), row_major(b, n).rows(k).columns(n));
        let mut acc = Tile::<f32, 32, 32>::zero();
        for done in (0..k).step_by(16) {
            let left = TileA::<f16, 32, 16>::load(a, row, done);
            let right = TileB::<f16, 16, 32>::load(b, done, col);
            acc = matmul(left, right, acc);
        }
        acc.update(row_major(c, n).rows(m).columns(n), row, col, |x, old| x * 2.0 - old);
    }
}

#[test]
fn edges_are_cut_by_bounds() {
    let [m, n, k] = [45, 39, 21];
    let (a, b, c) = (numbers(9, m * k), numbers(10, k * n), numbers(11, m * n));
    let old: Vec<f32> = c.iter().map(|x| *x as f32).collect();
    let sums = product([m, n, k], &a, &b);
    let want: Vec<f32> = sums.iter().zip(&c).map(|(x, c)| (2 * x - c) as f32).collect();
    let (a, b) = (half(&a), half(&b));
    for target in TARGETS {
        let mut c = old.clone();
        let args = (m as u32, n as u32, k as u32, &a[..], &b[..], &mut c[..]);
        ragged.launch(&Device::simulator(target), Grid::xy(2, 2), args).unwrap();
        assert_eq!(c, want, "{target}");
    }
}

gcn_kernel! {
    /// Each instruction option once.
    #[workgroup(64)]
    #[targets(gfx942)]
    fn options(a: &[f32], b: &[f32], x: &[f64], out: &mut [f32], wide: &mut [f64]) {
        use gcn_dsl::lang::matrix::{LanePattern, MfmaOptions};
        let left = FragA::<f32, 16, 1, 4>::load_from(row_major(a, 1).blocks(16), 0, 0);
        let right = FragB::<f32, 1, 16, 4>::load_from(row_major(b, 16).blocks(16), 0, 0);
        let zero = Acc::<f32, 16, 16, 4>::zero();
        let shared = mfma_with(left, right, zero, MfmaOptions::new().broadcast_a(2, 1));
        shared.store_to(row_major(out, 16).blocks(256), 0, 0);
        let rotated = mfma_with(left, right, zero, MfmaOptions::new().permute_b(LanePattern::RotatedBy16));
        rotated.store_to(row_major(out, 16).blocks(256), 64, 0);
        let left = FragA::<f64, 16, 4>::load_from(row_major(x, 4), 0, 0);
        let right = FragB::<f64, 4, 16>::load_from(row_major(x, 16), 0, 0);
        let acc = Acc::<f64, 16, 16>::from_fn(|_| splat(1000.0));
        let negated = MfmaOptions::new().negate_a().negate_c();
        mfma_with(left, right, acc, negated).store_to(row_major(wide, 16), 0, 0);
    }
}

#[test]
fn options_broadcast_permute_and_negate() {
    let (a, b, x) = (numbers(12, 64), numbers(13, 64), numbers(14, 64));
    let (af, bf): (Vec<f32>, Vec<f32>) =
        (a.iter().map(|x| *x as f32).collect(), b.iter().map(|x| *x as f32).collect());
    let xf: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    let (mut out, mut wide) = (vec![0f32; 2048], vec![0f64; 256]);
    options
        .launch(&Device::simulator(Target::GFX942), Grid::x(1), (&af, &bf, &xf, &mut out, &mut wide))
        .unwrap();
    for i in 0..1024 {
        let (block, row, col) = (i / 256, i / 16 % 16, i % 16);
        // Two blocks each use the A of the second one.
        assert_eq!(out[i], af[(block | 1) * 16 + row] * bf[block * 16 + col]);
        // The 16 columns of B's block are in 16 neighbouring lanes.
        assert_eq!(out[1024 + i], af[block * 16 + row] * bf[(block + 1) % 4 * 16 + col]);
    }
    let square = product([16, 16, 4], &x, &x);
    let want: Vec<f64> = square.iter().map(|x| f64::from(-x - 1000)).collect();
    assert_eq!(wide, want);
}

gcn_kernel! {
    #[workgroup(64)]
    fn deep(a: &[f16], c: &mut [f32]) {
        let left = FragA::<f16, 32, 16>::load(&a, lane_id() * 8);
        let right = FragB::<f16, 16, 32>::load(&a, lane_id() * 8);
        mfma(left, right, Acc::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn misplaced(a: &[f16], c: &mut [f32]) {
        use gcn_dsl::lang::matrix::MfmaOptions;
        let left = FragA::<f16, 32, 8>::load(&a, lane_id() * 4);
        let right = FragB::<f16, 8, 32>::load(&a, lane_id() * 4);
        let acc = mfma_with(left, right, Acc::<f32, 32, 32>::zero(), MfmaOptions::new().broadcast_a(2, 0));
        acc.store_to(row_major(c, 32), 0, 0);
    }
}

/// If rustc cannot tell from the kernel's targets that an instruction is missing, the build reports an error at the
/// user's line, which names the available ones.
#[test]
fn what_the_target_lacks_is_a_build_error() {
    assert!(deep.build(Target::GFX950).is_ok());
    let error = deep.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("tile.rs:"), "{error}");
    assert!(error.contains("gfx942 has no matrix instruction with an A of 32 x 16 f16, it has"), "{error}");
    assert!(error.contains("32 x 4 in 2 blocks") || error.contains("32 x 8"), "{error}");
    assert!(error.contains("gfx950 has this one"), "{error}");
    let error = misplaced.build(Target::GFX90A).unwrap_err().to_string();
    assert!(error.contains("cbsz:1 is not possible"), "{error}");
}
