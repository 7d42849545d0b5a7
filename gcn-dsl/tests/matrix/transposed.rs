//! Factors in LDS in which `k` is not contiguous. They are loaded by transposing loads on gfx950; elsewhere, or if the
//! matrix is not suitably aligned, element by element. Compared with plain Rust.

use gcn_dsl::lang::matrix::{Fp4, Fp6, Linear, MxA, MxB, Pad, Spread};
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use crate::multiply::formats::Stored;
use crate::timing::report;

fn numbers(seed: u64, n: usize) -> Vec<i32> {
    let mut rng = Random::new(seed);
    (0..n).map(|_| rng.below(7) as i32 - 3).collect()
}

/// The product. `a` has `k` rows of `m` elements, `b` has `k` rows of `n`.
fn product([m, n, k]: [usize; 3], a: &[i32], b: &[i32]) -> Vec<i32> {
    (0..m * n).map(|i| (0..k).map(|l| a[l * m + i / n] * b[l * n + i % n]).sum()).collect()
}

macro_rules! through_lds {
    ($name:ident, $t:ident => $c:ident, $layout:ty, $side:literal, $k:literal, $instruction:literal, |$x:ident, $target:ident| $to:expr) => {
        mod $name {
            use super::*;

            gcn_kernel! {
                /// c = a * b by two waves. Both factors are in LDS, in rows of equal `k`.
                #[workgroup(128)]
                fn kernel(a: &[$t], b: &[$t], c: &mut [$c]) {
                    let tile_a = LdsTile::<$t, $k, 64, $layout>::new();
                    let tile_b = LdsTile::<$t, $k, 32, $layout>::new();
                    tile_a.put(tile_a.fetch(row_major(a, 64), 0, 0));
                    tile_b.put(tile_b.fetch(row_major(b, 32), 0, 0));
                    barrier();
                    let row = wave_id() * 32;
                    let left = TileA::<$t, 32, $k, $side>::load(tile_a.transposed(), row, 0);
                    let right = TileB::<$t, $k, 32, $side>::load(tile_b, 0, 0);
                    let acc = Tile::<$c, 32, 32, $side>::zero();
                    matmul(left, right, acc).store_to(row_major(c, 32), row, 0);
                }
            }

            #[test]
            fn is_the_product() {
                let (a, b) = (numbers(1, $k * 64), numbers(2, $k * 32));
                let want: Vec<$c> = product([64, 32, $k], &a, &b).into_iter().map(|x| x as $c).collect();
                for target in [Target::GFX942, Target::GFX950] {
                    let to = |xs: &[i32]| -> Vec<$t> {
                        let $target = target;
                        xs.iter().map(|$x| $to).collect()
                    };
                    let built = kernel.build(target).unwrap();
                    let text = built.assembly(Comments::None);
                    assert_eq!(text.contains($instruction), target == Target::GFX950, "{target}: {text}");
                    let mut c = vec![<$c>::default(); 64 * 32];
                    let args = (&to(&a)[..], &to(&b)[..], &mut c[..]);
                    Device::simulator(target).launch(&kernel, &built, Grid::x(1), args).unwrap();
                    assert_eq!(c, want, "{target}");
                }
            }
        }
    };
}

through_lds!(f16_linear, f16 => f32, Linear, 32, 32, "ds_read_b64_tr_b16", |x, _t| f16::from_f32(*x as f32));
through_lds!(f16_spread, f16 => f32, Spread, 32, 64, "ds_read_b64_tr_b16", |x, _t| f16::from_f32(*x as f32));
through_lds!(f16_shallow, f16 => f32, Linear, 32, 8, "ds_read_b64_tr_b16", |x, _t| f16::from_f32(*x as f32));
through_lds!(bf16_padded, bf16 => f32, Pad<8>, 16, 64, "ds_read_b64_tr_b16", |x, _t| bf16::from_f32(*x as f32));
through_lds!(i8_linear, i8 => i32, Linear, 32, 64, "ds_read_b64_tr_b8", |x, _t| *x as i8);
through_lds!(i8_spread, i8 => i32, Spread<16>, 16, 64, "ds_read_b64_tr_b8", |x, _t| *x as i8);
through_lds!(f8_spread, f8e4m3 => f32, Spread, 32, 64, "ds_read_b64_tr_b8", |x, t| f8e4m3::from_f32(*x as f32, t));
through_lds!(f8_shallow, f8e5m2 => f32, Spread, 32, 16, "ds_read_b64_tr_b8", |x, t| f8e5m2::from_f32(*x as f32, t));

gcn_kernel! {
    /// c = a * b for 4-bit and 6-bit floats, packed in LDS in rows of equal `k`.
    #[workgroup(64)]
    #[targets(gfx950)]
    fn packed(a: &[u8], b: &[u8], c: &mut [f32]) {
        let (in_a, in_b) = (Lds::<u8, 1024>::new(), Lds::<u8, 1536>::new());
        let lane = lane_id();
        #[unroll]
        for i in 0..16u32 {
            in_a[lane * 16 + i] = a[lane * 16 + i];
        }
        #[unroll]
        for i in 0..24u32 {
            in_b[lane * 24 + i] = b[lane * 24 + i];
        }
        barrier();
        let left = MxA::<Fp4, 32, 64>::load_from(col_major(in_a, 32), 0, 0);
        let right = MxB::<Fp6, 64, 32>::load_from(row_major(in_b, 32), 0, 0);
        mfma(left, right, Acc::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
    }
}

#[test]
fn elements_of_less_than_a_byte_are_transposed() {
    let (a, b) = (numbers(3, 64 * 32), numbers(4, 64 * 32));
    let want: Vec<f32> = product([32, 32, 64], &a, &b).into_iter().map(|x| x as f32).collect();
    let target = Target::GFX950;
    let (a, b) = (Fp4::matrix(a, target), Fp6::matrix(b, target));
    let built = packed.build(target).unwrap();
    let text = built.assembly(Comments::None);
    assert!(text.contains("ds_read_b64_tr_b4") && text.contains("ds_read_b96_tr_b6"), "{text}");
    let mut c = vec![0.0; 1024];
    Device::simulator(target).launch(&packed, &built, Grid::x(1), (&a, &b, &mut c)).unwrap();
    assert_eq!(c, want);
}

macro_rules! elsewhere {
    ($($name:ident |$lds:ident, $col:ident, $lane:ident| $load:expr;)*) => {$(
        gcn_kernel! {
            /// The first two elements of the lane's column of a right factor, for lanes below 40.
            #[allow(unused_variables, reason = "not every place needs the column")]
            #[workgroup(64)]
            #[targets(gfx950)]
            fn $name($col: u32, x: &[f16], y: &mut [f32]) {
                let $lds = LdsTile::<f16, 16, 64>::new();
                $lds.put($lds.fetch(row_major(x, 64), 0, 0));
                barrier();
                let $lane = lane_id();
                let part: FragB<f16, 16, 32> = $load;
                if $lane < 40 {
                    y[$lane * 2] = part.get(0) as f32;
                    y[$lane * 2 + 1] = part.get(7) as f32;
                }
            }
        }
    )*};
}
elsewhere! {
    aligned |lds, col, lane| FragB::load_from(lds, 0, col * 4);
    odd |lds, col, lane| FragB::load_from(lds, 0, 2);
    unknown |lds, col, lane| FragB::load_from(lds, 0, col + col);
    by_lane |lds, col, lane| FragB::load_from(lds, 0, (lane >> 6) + 2);
}

gcn_kernel! {
    /// The same, with a load that only some lanes execute.
    #[workgroup(64)]
    #[targets(gfx950)]
    fn in_some_lanes(_col: u32, x: &[f16], y: &mut [f32]) {
        let lds = LdsTile::<f16, 16, 64>::new();
        lds.put(lds.fetch(row_major(x, 64), 0, 0));
        barrier();
        let lane = lane_id();
        if lane < 40 {
            let part = FragB::<f16, 16, 32>::load_from(lds, 0, 2);
            y[lane * 2] = part.get(0) as f32;
            y[lane * 2 + 1] = part.get(7) as f32;
        }
    }
}

/// Data that may not start at a multiple of 8 bytes, and loads that only some lanes execute, are loaded element by
/// element.
#[test]
fn other_places_load_single_elements() {
    let x: Vec<f16> = (0..16 * 64).map(|i| f16::from_f32(i as f32)).collect();
    // The column for lanes 0 to 31 and for lanes 32 to 63, whose `k` start at 0 and at 8.
    let want = |first: usize| -> Vec<f32> {
        let at = |lane: usize, j: usize| ((lane / 32 * 8 + j) * 64 + lane % 32 + first) as f32;
        (0..40).flat_map(|lane| [at(lane, 0), at(lane, 7)]).collect()
    };
    macro_rules! check {
        ($($name:ident $col:literal $first:literal $transposed:literal;)*) => {$(
            let built = $name.build(Target::GFX950).unwrap();
            let text = built.assembly(Comments::None);
            assert_eq!(text.contains("_tr_"), $transposed, "{text}");
            let mut y = vec![0.0; 80];
            Device::simulator(Target::GFX950).launch(&$name, &built, Grid::x(1), ($col, &x, &mut y)).unwrap();
            assert_eq!(y, want($first), stringify!($name));
        )*};
    }
    check! {
        aligned 3 12 true;
        odd 0 2 false;
        unknown 5 10 false;
        by_lane 0 2 false;
        in_some_lanes 0 2 false;
    }
}

macro_rules! costs {
    ($($name:ident |$lane:ident| $col:expr;)*) => {$(
        gcn_kernel! {
            /// A right factor of 64 x 64 from rows of equal `k`.
            #[workgroup(64)]
            #[targets(gfx950)]
            fn $name(x: &[f16], y: &mut [f32]) {
                let tile = LdsTile::<f16, 64, 64, Spread>::new();
                tile.put(tile.fetch(row_major(x, 64), 0, 0));
                barrier();
                let $lane = lane_id();
                let right = TileB::<f16, 64, 64>::load(tile, 0, $col);
                let left = TileA::<f16, 32, 64>::load(row_major(x, 64), 0, 0);
                matmul(left, right, Tile::<f32, 32, 64>::zero()).store_to(row_major(y, 64), 0, 0);
            }
        }
    )*};
}
costs! {
    exchanged |_lane| 0;
    // Always 0, but varying as far as the compiler knows.
    singly |lane| lane >> 6;
}

/// The number of reads from LDS, the number of all instructions, and the cycles of one workgroup.
fn cost<K>(kernel: &K) -> [u64; 3]
where
    K: for<'a> Kernel<Args<'a> = (&'a [f16], &'a mut [f32])>,
{
    let built = kernel.build(Target::GFX950).unwrap();
    let text = built.assembly(Comments::None);
    let reads = text.lines().filter(|line| line.trim_start().starts_with("ds_read")).count() as u64;
    let report = report(kernel, Target::GFX950, f16::ONE, [64 * 64, 32 * 64]);
    [reads, report.instructions, report.cycles]
}

#[test]
fn transposing_loads_save_instructions() {
    let (together, apart) = (cost(&exchanged), cost(&singly));
    assert_eq!([together[0], apart[0]], [16, 64], "4096 elements: four, or one, to each of 64 lanes");
    // In both kernels, about half of the cycles is waiting for memory: the tile, the other factor and the stores miss
    // all caches in a single workgroup.
    assert!(together[1] * 3 < apart[1] * 2 && together[2] * 10 < apart[2] * 7, "{together:?} {apart:?}");
}
