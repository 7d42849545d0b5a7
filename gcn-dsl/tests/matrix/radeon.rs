//! Products that RDNA has and GFX9 lacks; also, on RDNA, sparse matrices and results that become factors. Compared with
//! plain Rust, in waves of both sizes. The numbers are small integers, which are exact in every format.

use gcn_dsl::BuildOptions;
use gcn_dsl::lang::matrix::{AsAcc, I4, SparseA, SparseIndex, smfmac};
use gcn_dsl::prelude::*;
use gcn_isa::target::WaveSize;
use gcn_test_support::Random;

const RDNA: [Target; 3] = [Target::GFX1100, Target::GFX1151, Target::GFX1201];

fn numbers(seed: u64, n: usize) -> Vec<i32> {
    let mut rng = Random::new(seed);
    (0..n).map(|_| rng.below(9) as i32 - 4).collect()
}

/// The product. `a` is stored row by row, `b` column by column; both have `k` elements per row or column.
fn product([m, n, k]: [usize; 3], a: &[i32], b: &[i32]) -> Vec<i32> {
    (0..m * n).map(|i| (0..k).map(|l| a[i / n * k + l] * b[i % n * k + l]).sum()).collect()
}

/// Two numbers in each byte, the first in its lower half.
fn nibbles(xs: &[i32]) -> Vec<u8> {
    xs.chunks(2).map(|two| (two[0] & 15 | (two[1] & 15) << 4) as u8).collect()
}

fn both_waves() -> impl Iterator<Item = (Target, BuildOptions)> {
    let of = |target| {
        WaveSize::ALL.map(|wave| (target, BuildOptions { wave: Some(wave), ..BuildOptions::default() }))
    };
    RDNA.into_iter().flat_map(of)
}

gcn_kernel! {
    /// c = a * b for 4-bit integers, 32 x 64 by 64 x 48. `b` is stored column by column.
    #[workgroup(64)]
    #[targets(HasMatrixI4)]
    fn of_nibbles(a: &[u8], b: &[u8], c: &mut [i32]) {
        let left = TileA::<I4, 32, 64, 16>::load(row_major(a, 64), 0, 0);
        let right = TileB::<I4, 64, 48, 16>::load(col_major(b, 64), 0, 0);
        matmul(left, right, Tile::<i32, 32, 48, 16>::zero()).store_to(row_major(c, 48), 0, 0);
    }
}

#[test]
fn integers_of_4_bits_multiply() {
    let mut a = numbers(1, 32 * 64);
    let b = numbers(2, 48 * 64);
    // The extreme values; -8 has no positive counterpart.
    (a[0], a[1], a[64]) = (-8, 7, -8);
    let want = product([32, 48, 64], &a, &b);
    for (target, options) in both_waves() {
        let built = of_nibbles.build_with(target, &options).unwrap();
        // RDNA 4 has an instruction for twice as many `k`.
        let depth = if target == Target::GFX1201 { 32 } else { 16 };
        let instruction = format!("v_wmma_i32_16x16x{depth}_iu4 ");
        assert_eq!(
            built.assembly(Comments::None).matches(&instruction).count(),
            2 * 3 * 64 / depth,
            "{target}"
        );
        let mut c = vec![0; 32 * 48];
        let device = Device::simulator(target);
        device.launch(&of_nibbles, &built, Grid::x(1), (&nibbles(&a), &nibbles(&b), &mut c)).unwrap();
        assert_eq!(c, want, "{target} {options:?}");
    }
    let error = of_nibbles.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("gfx942"), "{error}");
}

gcn_kernel! {
    /// c = a * b for 8-bit integers, 32 x 16 by 16 x 48. `b` is stored column by column.
    #[workgroup(64)]
    fn of_bytes(a: &[i8], b: &[i8], c: &mut [i32]) {
        let left = TileA::<i8, 32, 16, 16>::load(row_major(a, 16), 0, 0);
        let right = TileB::<i8, 16, 48, 16>::load(col_major(b, 16), 0, 0);
        matmul(left, right, Tile::<i32, 32, 48, 16>::zero()).store_to(row_major(c, 48), 0, 0);
    }
}

/// Where there is no matrix instruction, one vector instruction adds the products of four bytes, on processors that have it.
#[test]
fn bytes_multiply_by_fours() {
    let (a, b) = (numbers(11, 32 * 16), numbers(12, 48 * 16));
    let of = |xs: &[i32]| xs.iter().map(|x| *x as i8 * 31).collect::<Vec<i8>>();
    let want: Vec<i32> = product([32, 48, 16], &a, &b).into_iter().map(|x| 31 * 31 * x).collect();
    for (target, dots) in
        [(Target::GFX900, 0), (Target::GFX906, 24 * 4), (Target::GFX1010, 0), (Target::GFX1030, 48 * 4)]
    {
        let built = of_bytes.build(target).unwrap();
        assert_eq!(built.assembly(Comments::None).matches("v_dot4_i32_i8").count(), dots, "{target}");
        let mut c = vec![0; 32 * 48];
        Device::simulator(target).launch(&of_bytes, &built, Grid::x(1), (&of(&a), &of(&b), &mut c)).unwrap();
        assert_eq!(c, want, "{target}");
    }
}

macro_rules! narrow_sums {
    ($($name:ident $t:ident;)*) => {
        gcn_kernel! {$(
            /// c = 2 * a * b + the row's last two bits, for 32 x 32 by 32 x 48 elements. `b` is stored column by column.
            #[workgroup(64)]
            #[targets(HasWmma)]
            fn $name(a: &[$t], b: &[$t], c: &mut [$t]) {
                let left = TileA::<$t, 32, 32, 16>::load(row_major(a, 32), 0, 0);
                let right = TileB::<$t, 32, 48, 16>::load(col_major(b, 32), 0, 0);
                let once = matmul(left, right, Tile::<$t, 32, 48, 16>::zero());
                let more = once.map_indexed(|row, _, x| x + (row & 3) as f32 as $t);
                matmul(left, right, more.in_vgprs()).map_pairs(|x| x).store_to(row_major(c, 48), 0, 0);
            }
        )*}

        /// The sums are small, since bf16 has 8 bits for an integer.
        #[test]
        fn sums_of_16_bits() {
            let signs = |seed, n| numbers(seed, n).into_iter().map(i32::signum).collect::<Vec<i32>>();
            let (a, b) = (signs(9, 32 * 32), signs(10, 48 * 32));
            let want: Vec<i32> = product([32, 48, 32], &a, &b).iter().zip(0..).map(|(x, i)| 2 * x + (i / 48 & 3)).collect();
            let with_gfx1250 = both_waves().chain([(Target::GFX1250, BuildOptions::default())]);
            for (target, options) in with_gfx1250 {
                $({
                    let built = $name.build_with(target, &options).unwrap();
                    let of = |xs: &[i32]| xs.iter().map(|x| $t::from_f32(*x as f32)).collect::<Vec<$t>>();
                    let mut c = vec![$t::default(); 32 * 48];
                    let device = Device::simulator(target);
                    device.launch(&$name, &built, Grid::x(1), (&of(&a), &of(&b), &mut c)).unwrap();
                    assert_eq!(c, of(&want), "{} on {target} {options:?}", stringify!($name));
                })*
            }
            for target in [Target::GFX942, Target::GFX1030] {
                $(
                    let error = $name.build(target).unwrap_err().to_string();
                    assert!(error.contains(target.name()), "{error}");
                )*
            }
        }
    };
}
narrow_sums! {
    sums_of_f16 f16;
    sums_of_bf16 bf16;
}

macro_rules! sparse {
    ($($name:ident $memory:ident $a:ident $b:ident $c:ident $k:literal $to:expr;)*) => {
        gcn_kernel! {$(
            /// c = a * b for a compressed `a` of 16 x k, and `b` stored column by column. For each row and group of
            /// four `k`, `places` has the positions of the two elements that are present. Every set of the index
            /// register is filled and used once, so the sum is that many times the product.
            #[workgroup(64)]
            #[targets(HasSwmmac)]
            fn $name(a: &[$memory], places: &[u32], b: &[$memory], c: &mut [$c]) {
                let left = SparseA::<$a, 16, $k>::load_from(row_major(a, $k / 2), 0, 0);
                let right = FragB::<$b, $k, 16>::load_from(col_major(b, $k), 0, 0);
                let row = SparseA::<$a, 16, $k>::row();
                let groups = comptime { SparseA::<$a, 16, $k>::per_lane() / 2 };
                let mut index: V<u32> = 0;
                #[unroll]
                for j in 0..groups {
                    let group = SparseA::<$a, 16, $k>::k_of(j) / 4;
                    index |= places[row * ($k / 4) + group] << (4 * j) as u32;
                }
                let mut sum = Acc::<$c, 16, 16>::zero();
                #[unroll]
                for set in 0..8 / groups {
                    // Only this set, at its position.
                    let here = index << (4 * groups * set) as u32;
                    sum = smfmac(left, SparseIndex::new(here).set(set as u8), right, sum);
                }
                sum.store_to(row_major(c, 16), 0, 0);
            }
        )*}

        #[test]
        fn sparse_matrices_multiply() {
            for wave in WaveSize::ALL {
                $({
                    let target = Target::GFX1201;
                    let (k, mut rng) = ($k as usize, Random::new(5));
                    let (stored, b) = (numbers(3, 16 * k / 2), numbers(4, 16 * k));
                    let (mut a, mut places) = (vec![0; 16 * k], Vec::new());
                    for group in 0..16 * k / 4 {
                        let first = rng.below(3);
                        let second = first + 1 + rng.below(3 - first);
                        a[4 * group + first] = stored[2 * group];
                        a[4 * group + second] = stored[2 * group + 1];
                        places.push((first | second << 2) as u32);
                    }
                    let options = BuildOptions { wave: Some(wave), ..BuildOptions::default() };
                    let built = $name.build_with(target, &options).unwrap();
                    let count = built.assembly(Comments::None).matches("v_swmmac_").count() as i32;
                    let want: Vec<i32> = product([16, 16, k], &a, &b).into_iter().map(|x| count * x).collect();
                    let pack: fn(&[i32]) -> Vec<$memory> = $to;
                    let mut c = vec![Default::default(); 256];
                    let device = Device::simulator(target);
                    device.launch(&$name, &built, Grid::x(1), (&pack(&stored), &places, &pack(&b), &mut c)).unwrap();
                    let have: Vec<i32> = c.iter().map(|x: &$c| f64::from(*x) as i32).collect();
                    assert_eq!(have, want, "{} in waves of {}", stringify!($name), wave.lanes());
                    // As many sets as fit into the index register.
                    let sets = 32 / (4 * 16 * k as u32 / 4 / wave.lanes());
                    assert_eq!(count, sets as i32, "{}", stringify!($name));
                })*
            }
        }
    };
}

sparse! {
    sparse_f16 f16 f16 f16 f32 32 |xs| xs.iter().map(|x| f16::from_f32(*x as f32)).collect();
    sparse_bf16 bf16 bf16 bf16 f32 32 |xs| xs.iter().map(|x| bf16::from_f32(*x as f32)).collect();
    sparse_f16_sums f16 f16 f16 f16 32 |xs| xs.iter().map(|x| f16::from_f32(*x as f32)).collect();
    sparse_bf16_sums bf16 bf16 bf16 bf16 32 |xs| xs.iter().map(|x| bf16::from_f32(*x as f32)).collect();
    sparse_i8 i8 i8 i8 i32 32 |xs| xs.iter().map(|x| *x as i8).collect();
    sparse_i4 u8 I4 I4 i32 64 nibbles;
    sparse_fp8 f8e4m3 f8e4m3 f8e4m3 f32 32 |xs| xs.iter().map(|x| f8e4m3::from_f32(*x as f32, Target::GFX1201)).collect();
    sparse_bf8 f8e5m2 f8e5m2 f8e5m2 f32 32 |xs| xs.iter().map(|x| f8e5m2::from_f32(*x as f32, Target::GFX1201)).collect();
}

gcn_kernel! {
    /// d = c * (a * b): the result of a product is the right factor of the next. All matrices are 32 x 32, and `b` is
    /// stored column by column.
    #[workgroup(64)]
    fn chained(a: &[f16], b: &[f16], c: &[f16], d: &mut [f32]) {
        let b = col_major(b, 32);
        let mut first = Tile::<f32, 32, 32, 16>::zero();
        #[unroll]
        for k in (0..32).step_by(16) {
            let left = TileA::<f16, 32, 16, 16>::load(row_major(a, 32), 0, k as u32);
            first = matmul(left, TileB::<f16, 16, 32, 16>::load(b, k as u32, 0), first);
        }
        let left = TileA::<f16, 32, 32, 16, AsAcc>::load(row_major(c, 32), 0, 0);
        let zero = Tile::<f32, 32, 32, 16>::zero();
        matmul(left, first.to_b_pairs(|x| x.map(|x| x as f16)), zero).store_to(row_major(d, 32), 0, 0);
        let zero = Tile::<f32, 32, 32, 16>::zero();
        matmul(left, first.to_b(|x| x as f16), zero).store_to(row_major(d, 32), 32, 0);
    }
}

#[test]
fn results_become_right_factors() {
    let (a, b, c) = (numbers(6, 1024), numbers(7, 1024), numbers(8, 1024));
    let half = |xs: &[i32]| xs.iter().map(|x| f16::from_f32(*x as f32)).collect::<Vec<f16>>();
    let first = product([32; 3], &a, &b);
    let columns: Vec<i32> = (0..1024).map(|i| first[i % 32 * 32 + i / 32]).collect();
    let want: Vec<f32> = product([32; 3], &c, &columns).into_iter().map(|x| x as f32).collect();
    for (target, options) in both_waves() {
        let built = chained.build_with(target, &options).unwrap();
        let mut d = vec![0.0; 2048];
        let device = Device::simulator(target);
        device.launch(&chained, &built, Grid::x(1), (&half(&a), &half(&b), &half(&c), &mut d)).unwrap();
        assert_eq!(d[..1024], want, "pairs on {target} {options:?}");
        assert_eq!(d[1024..], want, "on {target} {options:?}");
    }
}
