//! Products of tiles on RDNA, by WMMA or by vector instructions: every element type, both storage orders of the right
//! factor, each instruction set, waves of 32 lanes and of 64. The numbers are small integers, so sums are exact in any
//! order.

use gcn_dsl::BuildOptions;
use gcn_dsl::lang::matrix::{Bf8, Fp8};
use gcn_dsl::prelude::*;
use gcn_isa::check;
use gcn_isa::target::{Generation, Subtarget};

use crate::oracle;

/// One target for each instruction set of RDNA.
const TARGETS: [Target; 6] =
    [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201, Target::GFX1250];
const SIDE: usize = 32;
/// The number of columns of the left factors: the `k` of the deepest instruction.
const DEPTH: usize = 128;

macro_rules! products {
    ($($name:ident $memory:ident $a:ident $b:ident $c:ident $k:literal $to:expr;)*) => {
        $(
            gcn_kernel! {
                /// The first half of the results is for a right factor stored column by column, the second half for one
                /// stored row by row.
                #[workgroup(64)]
                fn $name(a: &[$memory], b: &[$memory], c: &mut [$c]) {
                    let c = row_major(c, 32);
                    for row in (0..32).step_by(16) {
                        let mut one = Tile::<$c, 16, 32, 16>::zero();
                        for k in (0..128).step_by($k) {
                            let a = TileA::<$a, 16, $k, 16>::load(row_major(a, 128), row, k);
                            one = matmul(a, TileB::<$b, $k, 32, 16>::load(col_major(b, 128), k, 0), one);
                        }
                        one.store_to(c, row, 0);
                        let mut other = one.map(|x| x + x);
                        for k in (0..128).step_by($k) {
                            let a = TileA::<$a, 16, $k, 16>::load(row_major(a, 128), row, k);
                            other = matmul(a, TileB::<$b, $k, 32, 16>::load(row_major(b, 32), k, 0), other);
                        }
                        other.store_to(c, row + 32, 0);
                    }
                }
            }
        )*

        #[test]
        fn products_are_those_of_the_host() {
            let (a, b) = (small(1), small(7));
            let want = expected(&a, &b);
            for Subtarget { target, wave } in TARGETS.into_iter().flat_map(oracle::wave_sizes) {
                $({
                    let name = format!("{} on {target} in waves of {}", stringify!($name), wave.lanes());
                    let options = BuildOptions { wave: Some(wave), ..BuildOptions::default() };
                    match $name.build_with(target, &options) {
                        Ok(kernel) => {
                            let by_wmma = kernel.assembly(Comments::None).contains("v_wmma_");
                            assert_eq!(how(stringify!($name), target), Some(by_wmma), "{name}");
                            assert!(check::check(kernel.program()).findings.is_empty(), "{name}");
                            oracle::assembles_to_our_bytes(&kernel);
                            let to = $to;
                            let (a, b): (Vec<$memory>, Vec<$memory>) =
                                (a.iter().map(|x| to(*x)).collect(), b.iter().map(|x| to(*x)).collect());
                            let mut c = vec![Default::default(); want.len()];
                            let device = Device::simulator(target);
                            device.launch(&$name, &kernel, Grid::x(1), (&a, &b, &mut c)).unwrap();
                            let have: Vec<i32> = c.iter().map(|x: &$c| *x as i32).collect();
                            assert_eq!(have, want, "{name}");
                        }
                        Err(error) => assert_eq!(how(stringify!($name), target), None, "{name}: {error}"),
                    }
                })*
            }
        }
    };
}

products! {
    of_f32 f32 f32 f32 f32 4 |x: i32| x as f32;
    of_f16 f16 f16 f16 f32 32 |x: i32| f16::from_f32(x as f32);
    of_bf16 bf16 bf16 bf16 f32 32 |x: i32| bf16::from_f32(x as f32);
    of_i8 i8 i8 i8 i32 64 |x: i32| x as i8;
    of_fp8 u8 Fp8 Fp8 f32 64 |x: i32| byte(x, 3, 7);
    of_bf8 u8 Bf8 Bf8 f32 128 |x: i32| byte(x, 2, 15);
}

/// `Some(true)` if WMMA multiplies, `Some(false)` if vector instructions do, `None` if the target rejects the product.
/// WMMA was introduced with RDNA 3, WMMA for 8-bit floats with RDNA 4, and WMMA for f32 with gfx1250.
fn how(name: &str, target: Target) -> Option<bool> {
    if name.ends_with("f8") || name.ends_with("p8") {
        return (target.generation() >= Generation::GFX12).then_some(true);
    }
    Some(if name == "of_f32" { target == Target::GFX1250 } else { target.generation() >= Generation::GFX11 })
}

/// A small integer as an 8-bit float with the given number of mantissa bits.
fn byte(x: i32, fraction: u32, bias: u32) -> u8 {
    if x == 0 {
        return 0;
    }
    let exponent = x.unsigned_abs().ilog2();
    let rest = (x.unsigned_abs() << fraction >> exponent) & ((1 << fraction) - 1);
    (u32::from(x < 0) << 7 | (exponent + bias) << fraction | rest) as u8
}

fn small(seed: u32) -> Vec<i32> {
    (0..(SIDE * DEPTH) as u32)
        .map(|i| ((i + seed).wrapping_mul(2_654_435_761) >> 28) as i32 % 9 - 4)
        .collect()
}

fn expected(a: &[i32], b: &[i32]) -> Vec<i32> {
    let product = |at: &dyn Fn(usize, usize) -> i32| -> Vec<i32> {
        let element = |i: usize| (0..DEPTH).map(|k| a[i / SIDE * DEPTH + k] * at(k, i % SIDE)).sum();
        (0..SIDE * SIDE).map(element).collect()
    };
    let cols = product(&|k, n| b[n * DEPTH + k]);
    let rows = product(&|k, n| b[k * SIDE + n]);
    let other = cols.iter().zip(rows).map(|(one, row)| 2 * one + row).collect();
    [cols, other].concat()
}

gcn_kernel! {
    /// The listed targets are of both families.
    #[workgroup(64)]
    #[targets(gfx906, gfx942, gfx1102, gfx1201)]
    fn listed(a: &[f16], b: &[f16], c: &mut [f32]) {
        let (a, b) = (row_major(a, 16), col_major(b, 16));
        let left = TileA::<f16, 16, 16, 16>::load(a, 0, 0);
        let right = TileB::<f16, 16, 16, 16>::load(b, 0, 0);
        matmul(left, right, Tile::<f32, 16, 16, 16>::zero()).store_to(row_major(c, 16), 0, 0);
    }

    /// The same product, with fragments.
    #[workgroup(64)]
    fn by_fragments(a: &[f16], b: &[f16], c: &mut [f32]) {
        let left = FragA::<f16, 16, 16>::load_from(row_major(a, 16), 0, 0);
        let right = FragB::<f16, 16, 16>::load_from(col_major(b, 16), 0, 0);
        mfma(left, right, Acc::<f32, 16, 16>::zero()).store_to(row_major(c, 16), 0, 0);
    }
}

#[test]
fn listed_targets_and_fragments_multiply() {
    let (a, b) = (small(3), small(5));
    let half = |x: &[i32]| x.iter().map(|x| f16::from_f32(*x as f32)).collect::<Vec<f16>>();
    let at = |i: usize| (0..16).map(|k| a[i / 16 * 16 + k] * b[i % 16 * 16 + k]).sum::<i32>() as f32;
    let want: Vec<f32> = (0..256).map(at).collect();
    let (a, b) = (half(&a[..256]), half(&b[..256]));
    for target in [Target::GFX906, Target::GFX942, Target::GFX1102, Target::GFX1201] {
        let (mut c, mut d) = (vec![0.0; 256], vec![0.0; 256]);
        listed.launch(&Device::simulator(target), Grid::x(1), (&a, &b, &mut c)).unwrap();
        assert_eq!(c, want, "{target}");
        if target != Target::GFX906 {
            by_fragments.launch(&Device::simulator(target), Grid::x(1), (&a, &b, &mut d)).unwrap();
            assert_eq!(d, want, "{target}");
        }
    }
}
