//! Packs of 4-, 6- and 8-bit floats, compared with a search through the values of the format.

use gcn_dsl::lang::PackedFormat;
use gcn_dsl::lang::matrix::{Bf6, Bf8, Fp4, Fp6, Fp8, MxA, MxB, Scales};
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{bf16_of, bits, f16_of, samples};

/// The numbers of exponent and fraction bits, the bias, and the number of codes without sign that are finite numbers.
#[derive(Clone, Copy)]
struct Format {
    exponent: u32,
    fraction: u32,
    bias: i32,
    finite: usize,
}

const FP4: Format = Format { exponent: 2, fraction: 1, bias: 1, finite: 8 };
const FP6: Format = Format { exponent: 2, fraction: 3, bias: 1, finite: 32 };
const BF6: Format = Format { exponent: 3, fraction: 2, bias: 3, finite: 32 };
const FP8: Format = Format { exponent: 4, fraction: 3, bias: 7, finite: 127 };
const BF8: Format = Format { exponent: 5, fraction: 2, bias: 15, finite: 124 };

impl Format {
    fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// The non-negative numbers of the format, in ascending order.
    fn values(self) -> Vec<f64> {
        let value = |code: i32| {
            let (field, low) = (code >> self.fraction, code & ((1 << self.fraction) - 1));
            let digits = if field == 0 { low } else { low | 1 << self.fraction };
            f64::from(digits) * 2f64.powi(field.max(1) - self.bias - self.fraction as i32)
        };
        (0..self.finite as i32).map(value).collect()
    }

    fn decode(self, code: u32) -> f64 {
        let sign = 1 << (self.bits() - 1);
        let value = self.values()[(code & (sign - 1)) as usize];
        if code & sign == 0 { value } else { -value }
    }

    /// The code of the number that is nearest to `x`; of two equally near ones, the even code. `None` if it also
    /// depends on something else: for NaN, and for 8-bit formats out of range.
    fn encode(self, x: f64) -> Option<u32> {
        let values = self.values();
        let largest = *values.last()?;
        if x.is_nan() || self.bits() == 8 && x.abs() > largest {
            return None;
        }
        let distance = |code: &usize| (values[*code] - x.abs().min(largest)).abs();
        let odd = |code: &usize| code % 2;
        let nearest =
            (0..values.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)).then(odd(a).cmp(&odd(b))))?;
        Some(nearest as u32 | if x.is_sign_negative() { 1 << (self.bits() - 1) } else { 0 })
    }
}

#[test]
fn values_are_the_specifications() {
    assert_eq!(FP4.values(), [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
    for (format, least, largest) in
        [(FP6, 0.125, 7.5), (BF6, 0.0625, 28.0), (FP8, 2f64.powi(-9), 448.0), (BF8, 2f64.powi(-16), 57344.0)]
    {
        assert_eq!((format.values()[1], format.values()[format.finite - 1]), (least, largest));
    }
}

/// Element `i` in an array of elements of `bits` bits without gaps.
fn code(words: &[u32], i: usize, bits: u32) -> u32 {
    let bit = i * bits as usize;
    let next = u64::from(*words.get(bit / 32 + 1).unwrap_or(&0));
    let both = u64::from(words[bit / 32]) | next << 32;
    (both >> (bit % 32)) as u32 & ((1 << bits) - 1)
}

fn fields<F: PackedFormat, const N: usize>(_: Packed<F, N>) -> u32 {
    Packed::<F, N>::WORDS as u32
}

macro_rules! kernels {
    ($($name:ident: $t:ident $format:ident $n:literal $reference:ident |$x:ident| $of:expr;)*) => {$(
        #[test]
        fn $name() {
            gcn_kernel! {
                #[workgroup(64)]
                #[targets(HasMfmaMx)]
                fn there_and_back(x: &[$t], scales: &[u8], out: &mut [u32], back: &mut [$t]) {
                    let i = global_id().x;
                    let scale = scales[i];
                    let values = Vector::<$t, $n>::from_fn(|k| x[i * $n + k]);
                    let pack = Packed::<$format, $n>::scaled_from(values, scale);
                    let words = fields(pack);
                    pack.store(&out, i * words);
                    let read = Packed::<$format, $n>::load(&out, i * words);
                    let wide = Vector::<$t, $n>::scaled_from(read, scale);
                    #[unroll] for k in 0..$n as usize { back[i * $n + k as u32] = wide.get(k); }
                }
            }
            let of = |$x: f64| -> $t { $of };
            let mut rng = Random::new($n + stringify!($name).len() as u64);
            let lanes = samples(4096) / $n * 4;
            let lanes = lanes.next_multiple_of(64);
            let scales: Vec<u8> = (0..lanes).map(|i| match i % 4 { 0 => 127, 1 => 120, _ => 117 + rng.below(20) as u8 }).collect();
            let values = $reference.values();
            let largest = values[values.len() - 1];
            let x: Vec<$t> = (0..lanes * $n).map(|i| {
                let scale = 2f64.powi(i32::from(scales[i / $n]) - 127);
                let at = rng.below(values.len() - 1);
                // Numbers of the format, midpoints between them, numbers near these, and arbitrary ones.
                let near = match rng.below(6) {
                    0 => values[at],
                    1 => (values[at] + values[at + 1]) / 2.0,
                    2 => (values[at] + values[at + 1]) / 2.0 * (1.0 + 2f64.powi(-9)),
                    3 => bits(&mut rng) as f64 / u64::MAX as f64 * largest * 1.2,
                    4 => largest * (1.0 + rng.below(3) as f64 / 32.0),
                    _ => 2f64.powi(rng.below(20) as i32 - 14),
                };
                of(if rng.one_in(2) { near } else { -near } * scale)
            }).collect();
            let words = lanes * $n * $reference.bits() as usize / 32;
            let (mut out, mut back) = (vec![0u32; words], vec![$t::default(); x.len()]);
            let args = (&x[..], &scales[..], &mut out[..], &mut back[..]);
            there_and_back.launch(&Device::simulator(Target::GFX950), Grid::x(lanes as u32 / 64), args).unwrap();
            for (i, x) in x.iter().enumerate() {
                let scale = 2f64.powi(i32::from(scales[i / $n]) - 127);
                let got = code(&out, i, $reference.bits());
                let Some(wanted) = $reference.encode(f64::from(*x) / scale) else { continue };
                assert_eq!(got, wanted, "{x:e} / {scale}");
                let wide = $reference.decode(wanted) * scale;
                assert_eq!(back[i].to_bits(), of(wide).to_bits(), "{got} * {scale}");
            }
        }
    )*};
}

kernels! {
    fp4_and_f32: f32 Fp4 8 FP4 |x| x as f32;
    fp4_and_f16: f16 Fp4 16 FP4 |x| f16_of(x);
    fp4_and_bf16: bf16 Fp4 32 FP4 |x| bf16_of(x);
    fp6_and_f32: f32 Fp6 32 FP6 |x| x as f32;
    fp6_and_f16: f16 Fp6 32 FP6 |x| f16_of(x);
    fp6_and_bf16: bf16 Fp6 32 FP6 |x| bf16_of(x);
    bf6_and_f32: f32 Bf6 32 BF6 |x| x as f32;
    bf6_and_f16: f16 Bf6 32 BF6 |x| f16_of(x);
    bf6_and_bf16: bf16 Bf6 32 BF6 |x| bf16_of(x);
    fp8_and_f32: f32 Fp8 4 FP8 |x| x as f32;
    fp8_and_f16: f16 Fp8 8 FP8 |x| f16_of(x);
    fp8_and_bf16: bf16 Fp8 16 FP8 |x| bf16_of(x);
    bf8_and_f32: f32 Bf8 32 BF8 |x| x as f32;
    bf8_and_bf16: bf16 Bf8 8 BF8 |x| bf16_of(x);
}

gcn_kernel! {
    /// Converts a block of 32 elements of `x`, with a scale of its own.
    #[device]
    fn quantised<F: PackedFormat>(x: Vector<f32, 32>) -> (V<u8>, Vector<f32, 32>) {
        let mut largest: V<f32> = 0.0;
        #[unroll]
        for k in 0..32 {
            largest = largest.max(x.get(k).abs());
        }
        let scale = Packed::<F, 32>::scale_of(largest);
        (scale, x)
    }

    /// c = a * b, 32 x 64 by 64 x 32, in small floats. `b` is stored column by column.
    #[workgroup(64)]
    #[targets(HasMfmaMx)]
    fn product(a: &[f32], b: &[f32], c: &mut [f32], scales: &mut [u8]) {
        let (row, col) = (MxA::<Fp4, 32, 64>::row(), MxB::<Fp6, 64, 32>::col());
        let (scale_a, x) = quantised::<Fp4>(Vector::from_fn(|j| a[row * 64 + MxA::<Fp4, 32, 64>::k_of(j as usize)]));
        let (scale_b, y) = quantised::<Fp6>(Vector::from_fn(|j| b[col * 64 + MxB::<Fp6, 64, 32>::k_of(j as usize)]));
        scales[lane_id()] = scale_a;
        scales[lane_id() + 64] = scale_b;
        let left = MxA::<Fp4, 32, 64>::from_packed(Packed::<Fp4, 32>::scaled_from(x, scale_a));
        let right = MxB::<Fp6, 64, 32>::from_packed(Packed::<Fp6, 32>::scaled_from(y, scale_b));
        let sum = mfma_scale(
            left,
            Scales::new(scale_a as u32),
            right,
            Scales::new(scale_b as u32),
            Acc::<f32, 32, 32>::zero(),
        );
        sum.store_to(row_major(c, 32), 0, 0);
    }
}

/// Each block of 32 elements rounded to the format, with the scale that the specification defines.
fn rounded(x: &[f32], format: Format) -> Vec<f64> {
    let last = format.values()[format.finite - 1].log2().floor();
    let block = |block: &[f32]| -> Vec<f64> {
        let largest = block.iter().fold(0f32, |m, x| m.max(x.abs()));
        let scale = 2f64.powf(f64::from(largest).log2().floor() - last);
        block.iter().map(|x| format.decode(format.encode(f64::from(*x) / scale).unwrap()) * scale).collect()
    };
    x.chunks(32).flat_map(block).collect()
}

#[test]
fn packs_are_multiplied() {
    let mut rng = Random::new(3);
    let mut make = |i: usize| (rng.below(2001) as f32 - 1000.0) / [1.0, 8.0, 3.0][i / 32 % 3];
    let a: Vec<f32> = (0..32 * 64).map(&mut make).collect();
    let b: Vec<f32> = (0..32 * 64).map(&mut make).collect();
    let (mut c, mut scales) = (vec![0f32; 32 * 32], vec![0u8; 128]);
    let device = Device::simulator(Target::GFX950);
    product.launch(&device, Grid::x(1), (&a, &b, &mut c, &mut scales)).unwrap();
    let (a, b) = (rounded(&a, FP4), rounded(&b, FP6));
    for i in 0..32 {
        for j in 0..32 {
            let wanted: f64 = (0..64).map(|k| a[i * 64 + k] * b[j * 64 + k]).sum();
            assert_eq!(f64::from(c[i * 32 + j]), wanted, "row {i}, column {j}");
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn scales_of(x: &[f32], out: &mut [u8]) {
        let i = global_id().x;
        out[i] = Packed::<Bf6, 32>::scale_of(x[i]);
    }

    /// Builds for any target; what the target lacks is an error when the kernel is built.
    #[workgroup(64)]
    fn anywhere(x: &mut [u32]) {
        let i = global_id().x;
        let pack = Packed::<Fp8, 4>::load(&x, i);
        x[i] = Vector::<f32, 4>::scaled_from(pack, 127).get(3).to_bits_as::<u32>();
    }
}

#[test]
fn scales_have_the_exponent_of_the_largest() {
    let mut x = vec![0.0, 1.0, 28.0, 31.9, 32.0, 1e-40, f32::MAX, f32::INFINITY, f32::NAN, 2f32.powi(-126)];
    x.resize(64, 16.0);
    let mut out = vec![0u8; 64];
    scales_of.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (&x, &mut out)).unwrap();
    assert_eq!(out[..11], [0, 123, 127, 127, 128, 0, 250, 255, 255, 0, 127]);
}

#[test]
fn other_targets_say_what_they_lack() {
    assert!(anywhere.build(Target::GFX950).is_ok());
    let error = anywhere.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("v_cvt_scalef32_pk_f32_fp8") && error.contains("narrow_float.rs"), "{error}");
}
