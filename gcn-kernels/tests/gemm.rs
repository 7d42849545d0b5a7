//! Compares every element type of [`gcn_kernels::gemm`] with plain Rust, on every target that has its instructions. All
//! numbers are small multiples of powers of two, so sums are exact in any order.

use gcn_dsl::lang::matrix::{Columns, Contiguous, Rows};
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Mode, Options, Sanitize};
use gcn_dsl::{BuildCause, BuiltKernel, LaunchError};
use gcn_kernels::activation::{Activation, Gelu, Identity, Relu, Silu};
use gcn_kernels::gemm;
use gcn_test_support::env::{daily_sample, fuzz_step, is_thorough, some_of};

const TARGETS: [Target; 4] = [Target::GFX908, Target::GFX90A, Target::GFX942, Target::GFX950];
/// Targets of RDNA and gfx1250, whose waves have 32 lanes. On gfx1010, gfx1030 and gfx1102 a wave has fewer registers, so that kernels
/// process a tile in two passes.
const RADEON: [Target; 6] =
    [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1102, Target::GFX1201, Target::GFX1250];

/// The arguments of a product that are numbers.
#[derive(Clone, Copy, Debug)]
struct Case {
    size: [u32; 3],
    pitch: [u32; 3],
    batch: [u32; 3],
    count: u32,
    alpha: f64,
    beta: f64,
    bias: bool,
    scales: bool,
    order: [u32; 2],
}

/// The index of a factor's element. `line` is its row in `a` or its column in `b`, and `k` its position in the depth.
fn place<C: Contiguous>(pitch: usize, line: usize, k: usize) -> usize {
    if C::COLUMNS { k * pitch + line } else { line * pitch + k }
}

impl Case {
    fn lengths<A: Contiguous, B: Contiguous>(&self) -> [usize; 3] {
        let [m, n, k] = self.size;
        let lines = [if A::COLUMNS { k } else { m }, if B::COLUMNS { k } else { n }, m];
        [0, 1, 2].map(|i| ((self.count - 1) * self.batch[i] + lines[i] * self.pitch[i]) as usize)
    }

    /// The result, for factors and an old `c` as numbers.
    fn reference<A: Contiguous, B: Contiguous>(
        &self,
        a: &[f64],
        b: &[f64],
        [bias, by_row, by_column]: [&[f64]; 3],
        c: &mut [f64],
    ) {
        let [m, n, depth] = self.size.map(|x| x as usize);
        let [of_a, of_b, of_c] = self.pitch.map(|x| x as usize);
        for z in 0..self.count as usize {
            let [at_a, at_b, at_c] = self.batch.map(|x| z * x as usize);
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let product = |k| a[at_a + place::<A>(of_a, row, k)] * b[at_b + place::<B>(of_b, col, k)];
                let sum: f64 = (0..depth).map(product).sum();
                let factor = |x: &[f64], i: usize| x.get(i).copied().unwrap_or(1.0);
                let sum = sum * factor(by_row, row) * factor(by_column, col);
                let c = &mut c[at_c + row * of_c + col];
                let old = if self.beta == 0.0 { 0.0 } else { self.beta * *c };
                let x = self.alpha * sum + old + bias.get(col).copied().unwrap_or(0.0);
                *c = x.max(0.0);
            }
        }
    }
}

/// Small whole numbers. Each seed gives another sequence.
fn numbers(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * 7 + i / 13 + seed) % 5) as f64 - 2.0).collect()
}

/// Ragged sizes, sizes of more than a tile, and tiny ones. `align` elements are 16 bytes. The first value of each pair
/// is the kernel's parameter `WHOLE`.
fn cases(align: u32, tile: u32) -> Vec<(bool, Case)> {
    let tight = |[m, n, k]: [u32; 3]| Case {
        size: [m, n, k],
        pitch: [k, k, n],
        batch: [0; 3],
        count: 1,
        alpha: 1.0,
        beta: 0.0,
        bias: false,
        scales: false,
        order: gemm::ORDER,
    };
    let k = 5 * align;
    let padded = Case {
        pitch: [k + align, k + 2 * align, 41],
        batch: [20 * (k + align), 0, 20 * 41],
        count: 3,
        alpha: 2.0,
        beta: -1.0,
        bias: true,
        scales: true,
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

/// As [`cases`], for factors of which at least one has contiguous columns: then their extents are multiples of 16 bytes
/// too.
fn turned(align: u32, tile: u32) -> Vec<(bool, Case)> {
    let (m, n, k) = (tile + 2 * align, 3 * align, 5 * align);
    let base = cases(align, tile)[2].1;
    let of = |m: u32, n: u32, k: u32| Case {
        size: [m, n, k],
        pitch: [m.max(k) + align, n.max(k) + 2 * align, n + 3],
        batch: [(m.max(k) + align) * m.max(k), 0, m * (n + 3)],
        count: 2,
        scales: true,
        ..base
    };
    vec![
        (true, of(m, n, k)),
        (
            true,
            Case { order: gemm::SHARED_L2, beta: 2.0, count: 1, ..of(2 * align, tile + align, 9 * align) },
        ),
        (false, Case { pitch: [k + 21, k + 19, 41], batch: [1000, 1200, 1500], ..of(21, 19, k + 3) }),
    ]
}

macro_rules! tests {
    ($($name:ident: $kernel:ident $least:literal $radeon:literal $tile:literal, $of:ty, $sum:ty, $to:ty, $encode:expr, $value:expr, $result:expr;)*) => {$(
        mod $name {
            use super::*;

            fn run<A: Contiguous, B: Contiguous>(device: &Device, built: &BuiltKernel, whole: bool, case: Case) -> Result<(), LaunchError> {
                let encode: fn(f64) -> $of = $encode;
                let value: fn(Target, $of) -> f64 = $value;
                let result: fn(f64) -> $to = $result;
                let [left, right, out] = case.lengths::<A, B>();
                let a: Vec<$of> = numbers(left, 1).into_iter().map(encode).collect();
                let b: Vec<$of> = numbers(right, 3).into_iter().map(encode).collect();
                let bias = numbers(if case.bias { case.size[1] as usize } else { 0 }, 2);
                let old = numbers(out, 4);
                let mut c: Vec<$to> = old.iter().map(|x| result(*x)).collect();
                let mut want = old;
                let of = |x: &[$of]| x.iter().map(|x| value(device.target(), *x)).collect::<Vec<f64>>();
                let by_row = numbers(if case.scales { case.size[0] as usize } else { 0 }, 0);
                let by_column = numbers(if case.scales { case.size[1] as usize } else { 0 }, 1);
                case.reference::<A, B>(&of(&a), &of(&b), [&bias, &by_row, &by_column], &mut want);
                let want: Vec<$to> = want.into_iter().map(result).collect();
                let sums = |x: Vec<f64>| x.into_iter().map(|x| x as $sum).collect::<Vec<$sum>>();
                let (bias, by_row, by_column) = (sums(bias), sums(by_row), sums(by_column));
                let grid = gemm::grid(case.size[0], case.size[1], case.count, $tile);
                let (alpha, beta) = (case.alpha as $sum, case.beta as $sum);
                let arguments = (
                    case.size, case.pitch, case.batch, case.order, alpha, beta, &a[..], &b[..], &bias[..], &by_row[..],
                    &by_column[..], &mut c[..],
                );
                match whole {
                    true => device.launch(&gemm::$kernel::<A, B, Relu, true>, built, grid, arguments)?,
                    false => device.launch(&gemm::$kernel::<A, B, Relu, false>, built, grid, arguments)?,
                };
                let first = c.iter().zip(&want).position(|(c, want)| c != want);
                assert_eq!(first, None, "{case:?} on {}: {:?}", device.target(), first.map(|i| (c[i], want[i])));
                Ok(())
            }

            /// Runs those of the cases that apply to a kernel, in one mode of the simulator.
            fn cases_of<A: Contiguous, B: Contiguous>(built: &BuiltKernel, whole: bool, options: Options) {
                let device = Device::simulator_with(built.target(), options);
                let checks = options.sanitize != Sanitize::empty();
                let all = if A::COLUMNS || B::COLUMNS { turned } else { cases };
                let all = all(16 / size_of::<$of>() as u32, $tile).into_iter().filter(|(w, _)| *w == whole);
                // Sanitizers are slow, so only one case is run with them.
                for (_, case) in all.take(if checks { 1 } else { usize::MAX }) {
                    run::<A, B>(&device, built, whole, case)
                        .unwrap_or_else(|e| panic!("{case:?} on {} {:?}: {e}", device.target(), options.mode));
                }
            }

            /// Runs the cases on these targets, and in the other modes on one of them. Returns the number of targets
            /// that have the instructions.
            fn on<A: Contiguous, B: Contiguous>(targets: impl Iterator<Item = Target>) -> usize {
                let strict = Options { mode: Mode::Strict, ..Options::default() };
                let mut ran = 0;
                for target in targets {
                    match gemm::$kernel::<A, B, Relu, true>.build(target) {
                        Err(e) if matches!(e.cause, BuildCause::Target { .. }) => continue,
                        built => cases_of::<A, B>(&built.unwrap(), true, strict),
                    }
                    ran += 1;
                }
                let single = gemm::$kernel::<A, B, Relu, false>.build(Target::GFX942).unwrap();
                cases_of::<A, B>(&single, false, strict);
                cases_of::<A, B>(&single, false, Options { mode: Mode::Faithful, ..Options::default() });
                cases_of::<A, B>(&single, false, Options { sanitize: Sanitize::all(), ..Options::default() });
                ran
            }

            #[test]
            fn agrees_with_the_reference() {
                // An ordinary run tests only number 2, gfx942, which has the instructions of every type.
                let ran = on::<Rows, Rows>(some_of(&TARGETS, 2).iter().copied());
                assert!(ran >= if is_thorough() { $least } else { 1 }, "{ran} targets");
            }

            #[test]
            fn agrees_on_radeon() {
                let strict = Options { mode: Mode::Strict, ..Options::default() };
                let run = daily_sample(RADEON, 4);
                let mut built = 0;
                for target in RADEON {
                    match gemm::$kernel::<Rows, Rows, Relu, true>.build(target) {
                        Err(e) => assert!(matches!(e.cause, BuildCause::Target { .. }), "{e}"),
                        Ok(kernel) => {
                            if run.contains(&target) {
                                cases_of::<Rows, Rows>(&kernel, true, strict);
                            }
                            built += 1;
                        }
                    }
                }
                assert_eq!(built, $radeon, "targets");
            }

            /// In a thorough run, each target is tested with one of the storage orders; in a full run, with all of
            /// them.
            #[test]
            fn takes_factors_stored_the_other_way() {
                let targets = |first: usize| {
                    let step = fuzz_step(3);
                    // In a full run, each storage order is tested on all targets.
                    TARGETS.into_iter().skip(first.min(step - 1)).step_by(step)
                };
                let ran = on::<Rows, Columns>(targets(0)) + on::<Columns, Rows>(targets(1)) + on::<Columns, Columns>(targets(2));
                assert!(ran >= if is_thorough() { $least } else { 1 }, "{ran} targets");
            }

            /// The depth is divided into three parts, the last of which is shorter or empty.
            #[test]
            fn adds_parts_of_the_depth() {
                let device = Device::simulator_with(Target::GFX942, Options { mode: Mode::Strict, ..Options::default() });
                let encode: fn(f64) -> $of = $encode;
                let value: fn(Target, $of) -> f64 = $value;
                let result: fn(f64) -> $to = $result;
                let align = 16 / size_of::<$of>() as u32;
                let base = cases(align, $tile)[2].1;
                for depth in [128 + 4 * align, 64] {
                    let size = [21, 3 * align, depth];
                    let case = Case { size, pitch: [depth, size[1], size[1]], beta: 2.0, bias: true, scales: true, ..base };
                    let [left, right, out] = case.lengths::<Rows, Columns>();
                    let a: Vec<$of> = numbers(left, 1).into_iter().map(encode).collect();
                    let b: Vec<$of> = numbers(right, 3).into_iter().map(encode).collect();
                    let of = |x: &[$of]| x.iter().map(|x| value(device.target(), *x)).collect::<Vec<f64>>();
                    let (bias, by_row) = (numbers(size[1] as usize, 2), numbers(size[0] as usize, 0));
                    let by_column = numbers(size[1] as usize, 1);
                    let mut want = numbers(out, 4);
                    let mut c: Vec<$to> = want.iter().map(|x| result(*x)).collect();
                    case.reference::<Rows, Columns>(&of(&a), &of(&b), [&bias, &by_row, &by_column], &mut want);
                    let sums = |x: &[f64]| x.iter().map(|x| *x as $sum).collect::<Vec<$sum>>();
                    let mut parts = vec![7 as $sum; 3 * out];
                    let kernel = gemm::split::$kernel::<Rows, Columns, true>;
                    let grid = gemm::grid(size[0], size[1], 3, $tile);
                    let arguments = (
                        size, [case.pitch[0], case.pitch[1]], [0; 2], gemm::ORDER, 3, gemm::part(depth, 3), &a[..], &b[..],
                        &mut parts[..],
                    );
                    device.launch(&kernel, &kernel.build(Target::GFX942).unwrap(), grid, arguments).unwrap();
                    let kernel = gemm::reduce::<$sum, $to, Relu>;
                    let arguments = (
                        [size[0], size[1]], size[1], 0, 3, 1 as $sum, 2 as $sum, &sums(&bias)[..], &sums(&by_row)[..],
                        &sums(&by_column)[..], &parts[..], &mut c[..],
                    );
                    let grid = gemm::reduce_grid(size[0], size[1], 1);
                    device.launch(&kernel, &kernel.build(Target::GFX942).unwrap(), grid, arguments).unwrap();
                    let want: Vec<$to> = want.into_iter().map(result).collect();
                    let first = c.iter().zip(&want).position(|(c, want)| c != want);
                    assert_eq!(first, None, "{depth}: {:?}", first.map(|i| (c[i], want[i])));
                }
            }
        }
    )*};
}

/// 0, 1, -1, 2 and -2 as OCP 8-bit floats. On gfx942, whose format is FNUZ, the same bits mean half of that.
fn to_fp8(x: f64) -> u8 {
    let size = [0x00, 0x38, 0x40][x.abs() as usize];
    if x < 0.0 { size | 0x80 } else { size }
}

fn of_fp8(target: Target, bits: u8) -> f64 {
    let size = [(0x00, 0.0), (0x38, 1.0), (0x40, 2.0)].iter().find(|(b, _)| *b == bits & 0x7f).unwrap().1;
    let sign = if bits & 0x80 != 0 { -1.0 } else { 1.0 };
    if target == Target::GFX942 { sign * size / 2.0 } else { sign * size }
}

tests! {
    half: f16s 4 6 256, f16, f32, f16, f16::from_f64, |_, x| x.to_f64(), f16::from_f64;
    brain: bf16s 4 6 256, bf16, f32, bf16, bf16::from_f64, |_, x| x.to_f64(), bf16::from_f64;
    single: f32s 4 6 256, f32, f32, f32, |x| x as f32, |_, x| x.into(), |x| x as f32;
    rounded: xf32s 1 0 256, f32, f32, f32, |x| x as f32, |_, x| x.into(), |x| x as f32;
    bytes: i8s 4 6 256, i8, i32, i32, |x| x as i8, |_, x| x.into(), |x| x as i32;
    small: fp8s 2 2 256, u8, f32, f32, to_fp8, of_fp8, |x| x as f32;
    double: f64s 3 0 128, f64, f64, f64, |x| x, |_, x| x, |x| x;
}

/// Tests an activation, which is applied to the product of the numbers with the identity matrix.
fn activated<E: Activation<f32>>(exact: fn(f64) -> f64, bound: f64) {
    let n = 64;
    let identity: Vec<f32> = (0..n * n).map(|i| f32::from(u8::from(i / n == i % n))).collect();
    let x: Vec<f32> = (0..n * n).map(|i| (i as f32 - 2048.0) / 200.0).collect();
    let mut y = vec![0f32; n * n];
    let sides = [n as u32; 3];
    let arguments = (
        sides,
        sides,
        [0; 3],
        gemm::ORDER,
        1.0,
        0.0,
        &identity[..],
        &x[..],
        &[][..],
        &[][..],
        &[][..],
        &mut y[..],
    );
    let kernel = gemm::f32s::<Rows, Columns, E, true>;
    kernel.launch(&Device::simulator(Target::GFX942), gemm::grid(64, 64, 1, 256), arguments).unwrap();
    for (x, y) in x.iter().zip(&y) {
        let want = exact(f64::from(*x));
        assert!((f64::from(*y) - want).abs() <= bound, "{x}: {y}, {want}");
    }
}

/// The probability that a normally distributed variable is less than `x`, by Simpson's rule.
fn probability(x: f64) -> f64 {
    let density = |t: f64| (-t * t / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let (steps, from) = (2000, -12.0);
    let h = (x - from) / f64::from(steps);
    let weight = |i: i32| if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
    (0..=steps).map(|i| weight(i) * density(from + f64::from(i) * h)).sum::<f64>() * h / 3.0
}

#[test]
fn activations_are_near_their_functions() {
    activated::<Identity>(|x| x, 0.0);
    activated::<Relu>(|x| x.max(0.0), 0.0);
    activated::<Silu>(|x| x / (1.0 + (-x).exp()), 1e-5);
    activated::<Gelu>(|x| x * probability(x), 5e-4);
}
