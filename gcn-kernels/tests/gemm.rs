//! Every element type of [`gcn_kernels::gemm`] against plain Rust, on every target that has its instructions. All numbers are small
//! multiples of powers of two, so that sums are exact in any order.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Mode, Options, Sanitize};
use gcn_dsl::{BuildError, BuiltKernel, LaunchError};
use gcn_kernels::gemm;

/// The arguments that are numbers.
#[derive(Clone, Copy, Debug)]
struct Case {
    size: [u32; 3],
    pitch: [u32; 3],
    batch: [u32; 3],
    count: u32,
    alpha: f64,
    beta: f64,
    bias: bool,
}

impl Case {
    fn lengths(&self) -> [usize; 3] {
        let [m, n, _] = self.size;
        let lines = [m, n, m];
        [0, 1, 2].map(|i| ((self.count - 1) * self.batch[i] + lines[i] * self.pitch[i]) as usize)
    }

    /// The result, for factors and an old `c` as numbers.
    fn reference(&self, a: &[f64], b: &[f64], bias: &[f64], c: &mut [f64]) {
        let [m, n, depth] = self.size.map(|x| x as usize);
        let [of_a, of_b, of_c] = self.pitch.map(|x| x as usize);
        for z in 0..self.count as usize {
            let [at_a, at_b, at_c] = self.batch.map(|x| z * x as usize);
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let sum: f64 = (0..depth).map(|k| a[at_a + row * of_a + k] * b[at_b + col * of_b + k]).sum();
                let c = &mut c[at_c + row * of_c + col];
                let old = if self.beta == 0.0 { 0.0 } else { self.beta * *c };
                let x = self.alpha * sum + old + bias.get(col).copied().unwrap_or(0.0);
                *c = x.max(0.0);
            }
        }
    }
}

/// Small whole numbers, a different row for each seed.
fn numbers(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * 7 + i / 13 + seed) % 5) as f64 - 2.0).collect()
}

/// Ragged, more than a tile, and tiny; `align` elements are 16 bytes.
fn cases(align: u32, tile: u32) -> Vec<(bool, Case)> {
    let tight = |[m, n, k]: [u32; 3]| Case {
        size: [m, n, k],
        pitch: [k, k, n],
        batch: [0; 3],
        count: 1,
        alpha: 1.0,
        beta: 0.0,
        bias: false,
    };
    let k = 5 * align;
    let padded = Case {
        pitch: [k + align, k + 2 * align, 41],
        batch: [20 * (k + align), 0, 20 * 41],
        count: 3,
        alpha: 2.0,
        beta: -1.0,
        bias: true,
        ..tight([19, 37, k])
    };
    vec![
        (true, padded),
        (true, Case { beta: 2.0, ..tight([tile + 5, tile + 3, 9 * align]) }),
        (true, tight([1, 2, align])),
        (false, Case { bias: true, ..tight([33, 7, 2 * align + 3]) }),
        (false, tight([1, 1, 1])),
    ]
}

macro_rules! tests {
    ($($name:ident: $kernel:ident $tile:literal, $of:ty, $sum:ty, $to:ty, $encode:expr, $value:expr, $result:expr;)*) => {$(
        mod $name {
            use super::*;

            fn run(device: &Device, built: &BuiltKernel, whole: bool, case: Case) -> Result<(), LaunchError> {
                let encode: fn(f64) -> $of = $encode;
                let value: fn(Target, $of) -> f64 = $value;
                let result: fn(f64) -> $to = $result;
                let [left, right, out] = case.lengths();
                let a: Vec<$of> = numbers(left, 1).into_iter().map(encode).collect();
                let b: Vec<$of> = numbers(right, 3).into_iter().map(encode).collect();
                let bias = numbers(if case.bias { case.size[1] as usize } else { 0 }, 2);
                let old = numbers(out, 4);
                let mut c: Vec<$to> = old.iter().map(|x| result(*x)).collect();
                let mut want = old;
                let of = |x: &[$of]| x.iter().map(|x| value(device.target(), *x)).collect::<Vec<f64>>();
                case.reference(&of(&a), &of(&b), &bias, &mut want);
                let want: Vec<$to> = want.into_iter().map(result).collect();
                let bias: Vec<$sum> = bias.into_iter().map(|x| x as $sum).collect();
                let grid = gemm::grid(case.size[0], case.size[1], case.count, $tile);
                let (alpha, beta) = (case.alpha as $sum, case.beta as $sum);
                let arguments = (case.size, case.pitch, case.batch, alpha, beta, &a[..], &b[..], &bias[..], &mut c[..]);
                match whole {
                    true => device.launch(&gemm::$kernel::<true, true>, built, grid, arguments)?,
                    false => device.launch(&gemm::$kernel::<false, true>, built, grid, arguments)?,
                };
                let first = c.iter().zip(&want).position(|(c, want)| c != want);
                assert_eq!(first, None, "{case:?} on {}: {:?}", device.target(), first.map(|i| (c[i], want[i])));
                Ok(())
            }

            /// Those of the cases for a kernel, in a mode of the simulator.
            fn cases_of(built: &BuiltKernel, whole: bool, options: Options) {
                let device = Device::simulator_with(built.target(), options);
                let checks = options.sanitize != Sanitize::empty();
                let all = cases(16 / size_of::<$of>() as u32, $tile).into_iter().filter(|(w, _)| *w == whole);
                // Sanitizers take their time: one case.
                for (_, case) in all.take(if checks { 1 } else { usize::MAX }) {
                    run(&device, built, whole, case)
                        .unwrap_or_else(|e| panic!("{case:?} on {} {:?}: {e}", device.target(), options.mode));
                }
            }

            #[test]
            fn agrees_with_the_reference() {
                let strict = Options { mode: Mode::Strict, ..Options::default() };
                let mut ran = 0;
                for target in [Target::GFX908, Target::GFX90A, Target::GFX942, Target::GFX950] {
                    match gemm::$kernel::<true, true>.build(target) {
                        Err(BuildError::Target { .. }) => continue,
                        built => cases_of(&built.unwrap(), true, strict),
                    }
                    ran += 1;
                }
                assert!(ran >= 2, "{ran} targets");
                let single = gemm::$kernel::<false, true>.build(Target::GFX942).unwrap();
                cases_of(&single, false, strict);
                cases_of(&single, false, Options { mode: Mode::Faithful, ..Options::default() });
                cases_of(&single, false, Options { sanitize: Sanitize::all(), ..Options::default() });
            }
        }
    )*};
}

/// 0, 1, -1, 2 and -2 as OCP numbers; on targets with FNUZ numbers the same bits are half of that.
fn to_fp8(x: f64) -> u8 {
    let size = [0x00, 0x38, 0x40][x.abs() as usize];
    if x < 0.0 { size | 0x80 } else { size }
}

fn of_fp8(target: Target, bits: u8) -> f64 {
    let size = [(0x00, 0.0), (0x38, 1.0), (0x40, 2.0)].iter().find(|(b, _)| *b == bits & 0x7f).unwrap().1;
    let sign = if bits & 0x80 != 0 { -1.0 } else { 1.0 };
    if target == Target::GFX950 { sign * size } else { sign * size / 2.0 }
}

tests! {
    half: f16s 256, f16, f32, f16, f16::from_f64, |_, x| x.to_f64(), f16::from_f64;
    brain: bf16s 256, bf16, f32, bf16, bf16::from_f64, |_, x| x.to_f64(), bf16::from_f64;
    single: f32s 256, f32, f32, f32, |x| x as f32, |_, x| x.into(), |x| x as f32;
    bytes: i8s 256, i8, i32, i32, |x| x as i8, |_, x| x.into(), |x| x as i32;
    small: fp8s 256, u8, f32, f32, to_fp8, of_fp8, |x| x as f32;
    double: f64s 128, f64, f64, f64, |x| x, |_, x| x, |x| x;
}
