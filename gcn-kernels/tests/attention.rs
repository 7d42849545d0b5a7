//! Compares [`gcn_kernels::attention`] with plain Rust in f64, on full, ragged and tiny sequences.

use gcn_dsl::lang::HalfFloat;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Mode, Options, Sanitize};
use gcn_dsl::{BuildOptions, BuiltKernel, WaveSize};
use gcn_kernels::attention::{self, Element};
use gcn_test_support::env::{daily_sample, some_of};

/// Pseudo-random numbers between -1 and 1, so that no two rows or columns of a matrix are alike.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / f64::from(1 << 23) - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// Attention of one query to the keys that it sees: the result, and the logarithm of the sum of exponentials.
fn query(q: &[f64], keys: &[Vec<f64>], values: &[Vec<f64>], scale: f64) -> (Vec<f64>, f64) {
    let dot = |key: &Vec<f64>| scale * q.iter().zip(key).map(|(a, b)| a * b).sum::<f64>();
    let scores: Vec<f64> = keys.iter().map(dot).collect();
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if keys.is_empty() {
        return (vec![0.0; q.len()], largest);
    }
    let weights: Vec<f64> = scores.iter().map(|s| (s - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let element = |d: usize| weights.iter().zip(values).map(|(w, v)| w * v[d]).sum::<f64>() / sum;
    ((0..q.len()).map(element).collect(), largest + sum.ln())
}

/// An element type, with what the tests need to know about it.
trait Tested: Element + Float + HalfFloat + Copy {
    /// The largest relative error of rounding to nearest.
    const STEP: f64;
    fn of(x: f64) -> Self;
    fn value(self) -> f64;
}
impl Tested for f16 {
    const STEP: f64 = 1.0 / 2048.0;
    fn of(x: f64) -> Self {
        f16::from_f64(x)
    }
    fn value(self) -> f64 {
        self.to_f64()
    }
}
impl Tested for bf16 {
    const STEP: f64 = 1.0 / 256.0;
    fn of(x: f64) -> Self {
        bf16::from_f64(x)
    }
    fn value(self) -> f64 {
        self.to_f64()
    }
}

/// The numbers of queries and keys of each sequence, the numbers of heads, and whether tokens or heads are the outer
/// dimension.
struct Case {
    lengths: &'static [(u32, u32)],
    heads: [u32; 2],
    tokens_outside: bool,
}

const CASES: &[Case] = &[
    Case { lengths: &[(33, 100), (1, 1), (0, 5), (3, 0), (40, 17)], heads: [2, 1], tokens_outside: true },
    Case { lengths: &[(256, 256)], heads: [1, 1], tokens_outside: false },
    Case { lengths: &[(300, 333)], heads: [1, 1], tokens_outside: false },
];

/// The positions where the sequences start, and where the last one ends.
fn starts(lengths: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut ends = vec![0];
    for length in lengths {
        ends.push(ends[ends.len() - 1] + length);
    }
    ends
}

fn rounded<T: Tested>(n: usize, factor: f64, seed: u64) -> Vec<T> {
    // At least 8 elements, also for sequences without any tokens.
    numbers(n.max(8), seed).into_iter().map(|x| T::of(factor * x)).collect()
}

fn values<T: Tested>(x: &[T]) -> Vec<f64> {
    x.iter().map(|x| x.value()).collect()
}

fn run<T: Tested, const D: usize, const CAUSAL: bool>(device: &Device, built: &BuiltKernel, case: &Case) {
    let queries = starts(case.lengths.iter().map(|l| l.0));
    let keys = starts(case.lengths.iter().map(|l| l.1));
    let (of_q, of_k) = (queries[case.lengths.len()], keys[case.lengths.len()]);
    let [heads, key_heads] = case.heads;
    let size = D as u32;
    // (pitch, head) for these numbers of tokens and heads.
    let strides = |tokens: u32, heads: u32| match case.tokens_outside {
        true => (heads * size, size),
        false => (size, tokens * size),
    };
    let (q_strides, k_strides) = (strides(of_q, heads), strides(of_k, key_heads));
    let q: Vec<T> = rounded((of_q * heads * size) as usize, 4.0, 1);
    let k: Vec<T> = rounded((of_k * key_heads * size) as usize, 1.0, 2);
    let v: Vec<T> = rounded((of_k * key_heads * size) as usize, 1.0, 3);
    let mut o = vec![T::of(7.0); q.len()];
    let mut lse = vec![7f32; (of_q * heads) as usize];
    let scale = 1.0 / f64::from(size).sqrt();
    let most = case.lengths.iter().map(|l| l.0).max().unwrap();
    let grid = attention::grid(D, most, heads, case.lengths.len() as u32);
    let arguments = (
        case.heads,
        (scale * std::f64::consts::LOG2_E) as f32,
        [q_strides.0, k_strides.0, k_strides.0, q_strides.0],
        [q_strides.1, k_strides.1, k_strides.1, q_strides.1],
        &queries[..],
        &keys[..],
        &q[..],
        &k[..],
        &v[..],
        &mut o[..],
        &mut lse[..],
    );
    let what = format!("{} {D} {CAUSAL} on {}", std::any::type_name::<T>(), device.target());
    device
        .launch(&attention::forward::<T, D, CAUSAL>, built, grid, arguments)
        .unwrap_or_else(|e| panic!("{what}: {e}"));

    let (q, k, v) = (values(&q), values(&k), values(&v));
    let row = |x: &[f64], (pitch, head): (u32, u32), token: u32, of: u32| {
        let at = (token * pitch + of * head) as usize;
        x[at..at + D].to_vec()
    };
    for (i, &(q_len, k_len)) in case.lengths.iter().enumerate() {
        for head in 0..heads {
            let of_keys = head / (heads / key_heads);
            let all =
                |x: &[f64]| (keys[i]..keys[i + 1]).map(|t| row(x, k_strides, t, of_keys)).collect::<Vec<_>>();
            let (all_k, all_v) = (all(&k), all(&v));
            for at in 0..q_len {
                let seen =
                    if CAUSAL { (at + 1 + k_len).saturating_sub(q_len).min(k_len) } else { k_len } as usize;
                let token = queries[i] + at;
                let (want, log) =
                    query(&row(&q, q_strides, token, head), &all_k[..seen], &all_v[..seen], scale);
                let first = (token * q_strides.0 + head * q_strides.1) as usize;
                // An error of two steps for each weight and of one for the result; values are below 1.
                for (d, want) in want.iter().enumerate() {
                    let got = o[first + d].value();
                    let bound = 3.0 * T::STEP + 1e-5;
                    assert!(
                        (got - want).abs() <= bound,
                        "{what}, query {at} of {i}, head {head}, {d}: {got}, {want}"
                    );
                }
                let got = f64::from(lse[(token * heads + head) as usize]);
                assert!(
                    got == log || (got - log).abs() < 1e-4,
                    "{what}, lse of query {at} of {i}: {got}, {log}"
                );
            }
        }
    }
}

fn strict() -> Options {
    Options { mode: Mode::Strict, ..Options::default() }
}

fn everywhere<T: Tested, const D: usize, const CAUSAL: bool>() {
    let targets = [Target::GFX90A, Target::GFX942, Target::GFX950];
    let radeon = [Target::GFX1100, Target::GFX1151, Target::GFX1201];
    // In an ordinary test run, each target runs some of the kernels.
    let which = D / 64 + usize::from(CAUSAL);
    let of_64 = some_of(&targets, which).iter().map(|target| (*target, WaveSize::W64));
    // Each Radeon runs waves of 32 lanes, and one of them, a different one for each kernel, waves of 64: attention's own code does not
    // depend on the pair of target and wave size.
    let [first, second, third] = radeon.map(|target| (target, WaveSize::W32));
    let of_radeon = [first, second, third, (radeon[which % radeon.len()], WaveSize::W64)];
    let mut pairs: Vec<_> = of_64.chain(some_of(&of_radeon, which).iter().copied()).collect();
    // The kernels of a day differ in the pairs that they run on.
    let first = which % pairs.len();
    pairs.rotate_left(first);
    for (target, wave) in daily_sample(pairs, 4) {
        let options = BuildOptions { wave: Some(wave), ..BuildOptions::default() };
        let built = attention::forward::<T, D, CAUSAL>.build_with(target, &options).unwrap().into_any();
        for case in CASES {
            run::<T, D, CAUSAL>(&Device::simulator_with(target, strict()), &built, case);
        }
        let checked = Options { sanitize: Sanitize::all(), ..Options::default() };
        run::<T, D, CAUSAL>(&Device::simulator_with(target, checked), &built, &CASES[0]);
    }
}

macro_rules! tests {
    ($($name:ident: $of:ident $size:literal $causal:literal;)*) => {$(
        #[test]
        fn $name() {
            everywhere::<$of, $size, $causal>();
        }
    )*};
}

tests! {
    f16_64: f16 64 false;
    f16_64_causal: f16 64 true;
    f16_128: f16 128 false;
    f16_128_causal: f16 128 true;
    f16_256_causal: f16 256 true;
    bf16_64_causal: bf16 64 true;
    bf16_128: bf16 128 false;
    bf16_256: bf16 256 false;
}

/// One query of each sequence, with its keys divided into parts, and with more query heads than a tile has columns.
fn decode<T: Tested, const D: usize>(
    target: Target,
    options: Options,
    heads: [u32; 2],
    lengths: &[u32],
    splits: u32,
) {
    let device = Device::simulator_with(target, options);
    let size = D as u32;
    let most = lengths.iter().copied().max().unwrap();
    // A cache with space for `most` tokens of each sequence.
    let keys: Vec<u32> =
        lengths.iter().enumerate().flat_map(|(i, length)| [i as u32 * most, *length]).collect();
    let (sequences, rows) = (lengths.len() as u32, lengths.len() * heads[0] as usize);
    let q: Vec<T> = rounded(rows * D, 4.0, 1);
    let k: Vec<T> = rounded((sequences * most * heads[1] * size) as usize, 1.0, 2);
    let v: Vec<T> = rounded(k.len(), 1.0, 3);
    let count = attention::parts(splits);
    let mut parts = vec![0f32; rows * count as usize * D];
    let mut states = vec![0f32; rows * count as usize * 2];
    let mut o = vec![T::of(7.0); rows * D];
    let scale = 1.0 / f64::from(size).sqrt();
    let (pitch, head) = ([heads[1] * size; 2], [size; 2]);
    let log2 = (scale * std::f64::consts::LOG2_E) as f32;
    let arguments = (
        heads,
        splits,
        log2,
        pitch,
        head,
        &keys[..],
        &q[..],
        &k[..],
        &v[..],
        &mut parts[..],
        &mut states[..],
    );
    let kernel = attention::decode::<T, D>;
    let built = kernel.build(target).unwrap();
    device.launch(&kernel, &built, attention::decode_grid(splits, heads, sequences), arguments).unwrap();
    let kernel = attention::combine::<T, D>;
    let built = kernel.build(target).unwrap();
    device
        .launch(&kernel, &built, Grid::x(rows as u32), (count, &parts[..], &states[..], &mut o[..]))
        .unwrap();

    let (q, k, v) = (values(&q), values(&k), values(&v));
    for row in 0..rows {
        let (i, of_head) =
            (row / heads[0] as usize, row % heads[0] as usize / (heads[0] / heads[1]) as usize);
        let at = |token: u32| ((i as u32 * most + token) as usize * heads[1] as usize + of_head) * D;
        let of = |x: &'_ [f64]| (0..lengths[i]).map(|t| x[at(t)..at(t) + D].to_vec()).collect::<Vec<_>>();
        let (all_k, all_v) = (of(&k), of(&v));
        let (want, _) = query(&q[row * D..(row + 1) * D], &all_k, &all_v, scale);
        for (d, want) in want.iter().enumerate() {
            let got = o[row * D + d].value();
            assert!((got - want).abs() <= 3.0 * T::STEP + 1e-5, "row {row}, {d} on {target}: {got}, {want}");
        }
    }
}

#[test]
fn decode_of_split_keys() {
    let checked = Options { sanitize: Sanitize::all(), ..Options::default() };
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950, Target::GFX1100, Target::GFX1201] {
        decode::<f16, 128>(target, strict(), [8, 2], &[333, 1, 64, 0], 3);
        decode::<bf16, 64>(target, strict(), [20, 1], &[200], 2);
        decode::<f16, 256>(target, strict(), [2, 2], &[70, 129], 1);
        decode::<f16, 64>(target, checked, [4, 2], &[100, 3], 2);
    }
}
