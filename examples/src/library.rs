//! The kernels of `gcn-kernels`, each with data and a reference like a lesson: products of every element type, with
//! whole and with split depth, and attention for many queries and for one.
//!
//! The numbers in products are small multiples of powers of two, so sums are exact in any order, and results equal the
//! reference bit for bit.

use gcn_dsl::lang::HalfFloat;
use gcn_dsl::lang::matrix::Rows;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildOptions, BuiltKernel, LaunchStats};
use gcn_kernels::activation::Relu;
use gcn_kernels::{attention, gemm};

use crate::lessons::flash_attention::attend;
use crate::{Comparison, Lesson, Outcome, Size};

/// The kernels.
pub const ALL: &[Lesson] = &[
    f16s::WHOLE,
    f16s::SPLIT,
    bf16s::WHOLE,
    bf16s::SPLIT,
    f32s::WHOLE,
    f32s::SPLIT,
    xf32s::WHOLE,
    xf32s::SPLIT,
    i8s::WHOLE,
    i8s::SPLIT,
    fp8s::WHOLE,
    fp8s::SPLIT,
    f64s::WHOLE,
    f64s::SPLIT,
    attention_of::<f16, 64, false>("attention::forward f16 64"),
    attention_of::<f16, 128, true>("attention::forward f16 128 causal"),
    attention_of::<bf16, 128, false>("attention::forward bf16 128"),
    attention_of::<bf16, 256, true>("attention::forward bf16 256 causal"),
    decode_of::<f16, 128>("attention::decode f16 128"),
    decode_of::<bf16, 64>("attention::decode bf16 64"),
];

/// Rows, columns and depth: tiny, ragged, and more than a tile in each direction.
const PRODUCTS: &[Size] = &[Size(&[1, 2, 16]), Size(&[19, 37, 80]), Size(&[261, 264, 272])];
/// The number of parts of the depth.
const SPLITS: u32 = 3;
/// The factors of the product and of the previous content of the result.
const ALPHA: f64 = 2.0;
const BETA: f64 = -1.0;

/// Whole numbers from -2 to 2. Each seed gives another sequence.
fn numbers(n: u32, seed: u32) -> Vec<f64> {
    (0..n).map(|i| f64::from((i * 7 + i / 13 + seed) % 5) - 2.0).collect()
}

/// The arguments of a product, as f64 numbers.
struct Product {
    size: [u32; 3],
    a: Vec<f64>,
    b: Vec<f64>,
    bias: Vec<f64>,
    by_row: Vec<f64>,
    by_column: Vec<f64>,
    before: Vec<f64>,
}

impl Product {
    fn of(size: Size) -> Product {
        let [m, n, k] = [size.0[0], size.0[1], size.0[2]];
        Product {
            size: [m, n, k],
            a: numbers(m * k, 1),
            b: numbers(n * k, 3),
            bias: numbers(n, 2),
            by_row: numbers(m, 0),
            by_column: numbers(n, 1),
            before: numbers(m * n, 4),
        }
    }

    /// The result. `value` is what the target takes an element of `a` or `b` for.
    fn result(&self, value: impl Fn(f64) -> f64) -> Vec<f64> {
        let [_, n, k] = self.size.map(|extent| extent as usize);
        let [a, b] = [&self.a, &self.b].map(|x| x.iter().map(|x| value(*x)).collect::<Vec<f64>>());
        let element = |(at, before): (usize, &f64)| {
            let (row, column) = (at / n, at % n);
            let (left, right) = (&a[row * k..][..k], &b[column * k..][..k]);
            let sum: f64 = left.iter().zip(right).map(|(a, b)| a * b).sum();
            let sum = ALPHA * sum * self.by_row[row] * self.by_column[column];
            (sum + BETA * before + self.bias[column]).max(0.0)
        };
        self.before.iter().enumerate().map(element).collect()
    }
}

fn sum_of(stats: &mut LaunchStats, launched: &LaunchStats) {
    stats.workgroups += launched.workgroups;
    stats.wave_instructions += launched.wave_instructions;
}

/// Defines a module for each element type. The arguments say how a number is encoded as an element, what the target
/// takes the element for, and how a result is encoded.
macro_rules! products {
    ($($name:ident: $of:ty, $sum:ty, $to:ty, $tile:literal, $encode:expr, $value:expr, $result:expr;)*) => {$(
        mod $name {
            use super::*;

            pub(super) const WHOLE: Lesson = Lesson {
                name: concat!("gemm::", stringify!($name)),
                build_with: |target, options| {
                    gemm::$name::<Rows, Rows, Relu, true>.build_with(target, options).map(BuiltKernel::into_any)
                },
                sizes: PRODUCTS,
                run: |device, kernel, size| {
                    let product = Product::of(size);
                    let (sums, [m, n, k]) = (Sums::of(&product), product.size);
                    let mut c: Vec<$to> = product.before.iter().map(|x| to(*x)).collect();
                    let arguments = (
                        product.size, [k, k, n], [0; 3], gemm::ORDER, ALPHA as $sum, BETA as $sum, &sums.a[..], &sums.b[..],
                        &sums.bias[..], &sums.by_row[..], &sums.by_column[..], &mut c[..],
                    );
                    let grid = gemm::grid(m, n, 1, $tile);
                    let stats = device.launch(&gemm::$name::<Rows, Rows, Relu, true>, kernel, grid, arguments)?;
                    Ok(Outcome { stats, comparison: judged(device, &product, &c) })
                },
                steady: None,
            };

            pub(super) const SPLIT: Lesson = Lesson {
                name: concat!("gemm::split::", stringify!($name)),
                build_with: |target, options| {
                    gemm::split::$name::<Rows, Rows, true>.build_with(target, options).map(BuiltKernel::into_any)
                },
                sizes: PRODUCTS,
                run: |device, kernel, size| {
                    let product = Product::of(size);
                    let (sums, [m, n, k]) = (Sums::of(&product), product.size);
                    let mut parts = vec![7 as $sum; (SPLITS * m * n) as usize];
                    let arguments = (
                        product.size, [k; 2], [0; 2], gemm::ORDER, SPLITS, gemm::part(k, SPLITS), &sums.a[..], &sums.b[..],
                        &mut parts[..],
                    );
                    let grid = gemm::grid(m, n, SPLITS, $tile);
                    let mut stats = device.launch(&gemm::split::$name::<Rows, Rows, true>, kernel, grid, arguments)?;
                    let mut c: Vec<$to> = product.before.iter().map(|x| to(*x)).collect();
                    let arguments = (
                        [m, n], n, 0, SPLITS, ALPHA as $sum, BETA as $sum, &sums.bias[..], &sums.by_row[..], &sums.by_column[..],
                        &parts[..], &mut c[..],
                    );
                    let second = gemm::reduce::<$sum, $to, Relu>;
                    sum_of(&mut stats, &second.launch(device, gemm::reduce_grid(m, n, 1), arguments)?);
                    Ok(Outcome { stats, comparison: judged(device, &product, &c) })
                },
                steady: None,
            };

            /// The arguments, encoded as elements.
            struct Sums {
                a: Vec<$of>,
                b: Vec<$of>,
                bias: Vec<$sum>,
                by_row: Vec<$sum>,
                by_column: Vec<$sum>,
            }

            impl Sums {
                fn of(product: &Product) -> Sums {
                    let encode: fn(f64) -> $of = $encode;
                    let sums = |x: &[f64]| x.iter().map(|x| *x as $sum).collect();
                    Sums {
                        a: product.a.iter().map(|x| encode(*x)).collect(),
                        b: product.b.iter().map(|x| encode(*x)).collect(),
                        bias: sums(&product.bias),
                        by_row: sums(&product.by_row),
                        by_column: sums(&product.by_column),
                    }
                }
            }

            fn to(x: f64) -> $to {
                let result: fn(f64) -> $to = $result;
                result(x)
            }

            fn judged(device: &Device, product: &Product, c: &[$to]) -> Comparison {
                let value: fn(Target, f64) -> f64 = $value;
                let want = product.result(|x| value(device.target(), x));
                let [got, want] = [c.to_vec(), want.into_iter().map(to).collect()]
                    .map(|c: Vec<$to>| c.into_iter().map(f64::from).collect::<Vec<f64>>());
                Comparison::of(&got, &want)
            }
        }
    )*};
}

/// 0, 1, -1, 2 and -2 as OCP 8-bit floats. On targets with another format, the same bits mean half of that.
fn to_fp8(x: f64) -> u8 {
    let size = [0x00, 0x38, 0x40][x.abs() as usize];
    if x < 0.0 { size | 0x80 } else { size }
}

fn fp8(target: Target, x: f64) -> f64 {
    if target.has_fnuz_floats() { x / 2.0 } else { x }
}

products! {
    f16s: f16, f32, f16, 256, f16::from_f64, |_, x| x, f16::from_f64;
    bf16s: bf16, f32, bf16, 256, bf16::from_f64, |_, x| x, bf16::from_f64;
    f32s: f32, f32, f32, 256, |x| x as f32, |_, x| x, |x| x as f32;
    xf32s: f32, f32, f32, 256, |x| x as f32, |_, x| x, |x| x as f32;
    i8s: i8, i32, i32, 256, |x| x as i8, |_, x| x, |x| x as i32;
    fp8s: u8, f32, f32, 256, to_fp8, fp8, |x| x as f32;
    f64s: f64, f64, f64, 128, |x| x, |_, x| x, |x| x;
}

/// The element types of attention, with conversions from and to numbers.
trait Half: attention::Element + Float + HalfFloat + Copy + Into<f64> {
    /// The largest relative error of rounding to nearest.
    const STEP: f64;
    fn of(x: f64) -> Self;
}
impl Half for f16 {
    const STEP: f64 = 1.0 / 2048.0;
    fn of(x: f64) -> f16 {
        f16::from_f64(x)
    }
}
impl Half for bf16 {
    const STEP: f64 = 1.0 / 256.0;
    fn of(x: f64) -> bf16 {
        bf16::from_f64(x)
    }
}

fn halves<T: Half>(n: u32, factor: f64, seed: u64) -> Vec<T> {
    crate::data::Random::new(seed).f64s(n as usize).into_iter().map(|x| T::of(factor * x)).collect()
}

/// Compares results with the reference. The tolerance allows an error of two steps for each weight and of one for the
/// result; values are below 1.
fn near<T: Half>(got: &[T], want: &[f64]) -> Comparison {
    let got: Vec<f64> = got.iter().map(|x| (*x).into()).collect();
    Comparison::of(&got, want).within(3.0 * T::STEP + 1e-5)
}

/// A lesson whose sizes are heads and length.
const fn attention_of<T: Half, const D: usize, const CAUSAL: bool>(name: &'static str) -> Lesson {
    Lesson {
        name,
        build_with: |target, options: &BuildOptions| {
            attention::forward::<T, D, CAUSAL>.build_with(target, options).map(BuiltKernel::into_any)
        },
        sizes: &[Size(&[1, 7]), Size(&[2, 133])],
        run: |device, kernel, size| {
            let [heads, length] = [size.0[0], size.0[1]];
            let (width, each) = (D as u32, length * D as u32);
            let (q, k, v) = (
                halves(heads * each, 4.0, 1),
                halves(heads * each, 1.0, 2),
                halves::<T>(heads * each, 1.0, 3),
            );
            let mut o = vec![T::of(7.0); q.len()];
            let scale = std::f32::consts::LOG2_E / (D as f32).sqrt();
            let (pitch, head, tokens) = ([width; 4], [each; 4], [0, length]);
            let arguments = (
                [heads; 2],
                scale,
                pitch,
                head,
                &tokens[..],
                &tokens[..],
                &q[..],
                &k[..],
                &v[..],
                &mut o[..],
                &mut [][..],
            );
            let grid = attention::grid(D, length, heads, 1);
            let stats = device.launch(&attention::forward::<T, D, CAUSAL>, kernel, grid, arguments)?;
            let row = |at: usize| {
                let (first, query) = (at / length as usize * length as usize, at % length as usize);
                let keys = first * D..(first + if CAUSAL { query + 1 } else { length as usize }) * D;
                attend::<T, D>(&q[at * D..][..D], &k[keys.clone()], &v[keys])
            };
            let want: Vec<f64> = (0..q.len() / D).flat_map(row).collect();
            Ok(Outcome { stats, comparison: near(&o, &want) })
        },
        steady: None,
    }
}

/// A lesson whose sizes are heads and length. The keys are divided into two parts.
const fn decode_of<T: Half, const D: usize>(name: &'static str) -> Lesson {
    Lesson {
        name,
        build_with: |target, options: &BuildOptions| {
            attention::decode::<T, D>.build_with(target, options).map(BuiltKernel::into_any)
        },
        sizes: &[Size(&[1, 3]), Size(&[4, 200])],
        run: |device, kernel, size| {
            let ([heads, length], splits) = ([size.0[0], size.0[1]], 2);
            let each = length * D as u32;
            let (q, k, v) = (
                halves(heads * D as u32, 4.0, 1),
                halves(heads * each, 1.0, 2),
                halves::<T>(heads * each, 1.0, 3),
            );
            let count = attention::parts(splits);
            let mut parts = vec![0f32; q.len() * count as usize];
            let mut states = vec![0f32; (2 * heads * count) as usize];
            let scale = std::f32::consts::LOG2_E / (D as f32).sqrt();
            let arguments = (
                [heads; 2],
                splits,
                scale,
                [D as u32; 2],
                [each; 2],
                &[0, length][..],
                &q[..],
                &k[..],
                &v[..],
                &mut parts[..],
                &mut states[..],
            );
            let grid = attention::decode_grid(splits, [heads; 2], 1);
            let mut stats = device.launch(&attention::decode::<T, D>, kernel, grid, arguments)?;
            let mut o = vec![T::of(7.0); q.len()];
            let arguments = (count, &parts[..], &states[..], &mut o[..]);
            sum_of(&mut stats, &attention::combine::<T, D>.launch(device, Grid::x(heads), arguments)?);
            let row = |head: usize| {
                let keys = head * each as usize..(head + 1) * each as usize;
                attend::<T, D>(&q[head * D..][..D], &k[keys.clone()], &v[keys])
            };
            let want: Vec<f64> = (0..heads as usize).flat_map(row).collect();
            Ok(Outcome { stats, comparison: near(&o, &want) })
        },
        steady: None,
    }
}
