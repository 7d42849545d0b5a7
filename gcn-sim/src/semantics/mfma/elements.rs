//! Element types of matrix operands, and the widening of inputs to the accumulator's type.

use gcn_isa::Target;
use gcn_isa::layout::ElemType;

use crate::fp::small::{Small, Widening};
use crate::fp::{NAN32, NAN64, bf16_to_f32, f16_to_f32, flush32, fma32_each};

/// A type of accumulator elements (C and D).
pub(super) trait Acc: Copy + Default + Send + Sync + 'static {
    /// The number of registers of an element.
    const WORDS: u8;
    /// The type in which products are summed.
    type Sum: Sum;
    fn from_words(low: u32, high: u32) -> Self;
    fn into_words(self) -> (u32, u32);
    fn negated(self) -> Self;
    /// The initial value of the sum for this element of C.
    fn begin(self) -> Self::Sum;
    /// The element of D, where `self` is the element of C and `sum` is the sum that started from it.
    fn end(self, sum: Self::Sum) -> Self;
    /// The result to write: a NaN becomes the default NaN, and denormals are flushed if `flush` is set.
    fn finished(self, flush: bool) -> Self;
}

/// A type of widened inputs and of sums of their products.
pub(super) trait Sum: Copy + Default {
    /// `sum[j] += a * b[j]` for a row, with one rounding per element. `FUSED`: the host has a fused multiply-add.
    fn steps<const FUSED: bool>(sum: &mut [Self], a: Self, b: &[Self], exact_product: bool);
    fn negated(self) -> Self;
    /// The bits of an input element before [`Sum::widen`]: in the lowest bits of `low` and, for an element of two dwords, also in `high`.
    fn raw(low: u32, high: u32) -> Self;
    /// Converts the bits of input elements to values, in place.
    fn widen(decoder: &Decoder, elements: &mut [Self]);
}

/// How to decode input elements.
#[derive(Clone, Copy)]
pub(super) struct Decoder {
    pub ty: ElemType,
    /// True if denormal inputs count as +0.
    pub flush: bool,
    /// The decoder for floats of at most eight bits; `None` for other types.
    small: Option<Widening>,
}

impl Decoder {
    pub(super) fn new(ty: ElemType, target: Target) -> Decoder {
        Decoder { ty, flush: flushes_denormals(ty, target), small: Small::of(ty, target).map(Widening::of) }
    }

    /// The size of an element in bits.
    pub(super) fn bits(&self) -> u32 {
        self.ty.bits().map_or(32, u32::from)
    }

    /// Widens elements to f32, in place. A single loop over many elements, which the compiler vectorises better than several short loops.
    #[inline(always)]
    fn widen(&self, elements: &mut [f32]) {
        match self.ty {
            ElemType::F16 if self.flush => {
                each(elements, |bits| if bits & 0x7c00 == 0 { 0.0 } else { f16_to_f32(bits as u16) });
            }
            ElemType::F16 => each(elements, |bits| f16_to_f32(bits as u16)),
            ElemType::Bf16 if self.flush => {
                each(elements, |bits| if bits & 0x7f80 == 0 { 0.0 } else { bf16_to_f32(bits as u16) });
            }
            ElemType::Bf16 => each(elements, |bits| bf16_to_f32(bits as u16)),
            ElemType::Xf32 => each(elements, cut_xf32),
            ElemType::I8 => each(elements, |bits| f32::from(bits as i8)),
            _ => {
                if let Some(small) = self.small {
                    each(elements, |bits| small.value(bits));
                }
            }
        }
    }
}

#[inline(always)]
fn each(elements: &mut [f32], widen: impl Fn(u32) -> f32) {
    elements.iter_mut().for_each(|x| *x = widen(x.to_bits()));
}

/// True if f16 and bf16 matrix instructions of the target treat denormals as +0.
pub(super) fn flushes_denormals(ty: ElemType, target: Target) -> bool {
    matches!(ty, ElemType::F16 | ElemType::Bf16) && target.flushes_half_products()
}

/// True if the product of two elements is exact in f32.
pub(super) fn product_is_exact(ty: ElemType) -> bool {
    // Products of bf16 have few enough bits, but their exponents may exceed the range of f32.
    matches!(ty, ElemType::F16 | ElemType::I8) || Small::of(ty, Target::GFX950).is_some()
}

/// f32 truncated to 10 fraction bits, as the hardware does (hipBLASLt rounds its inputs beforehand for this reason: ROCm/rocm-libraries
/// pull request 9176). A NaN remains a NaN.
#[inline(always)]
fn cut_xf32(bits: u32) -> f32 {
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { bits } else { bits & !0x1fff })
}

impl Acc for f32 {
    const WORDS: u8 = 1;
    type Sum = f32;

    #[inline(always)]
    fn from_words(low: u32, _: u32) -> f32 {
        f32::from_bits(low)
    }

    #[inline(always)]
    fn into_words(self) -> (u32, u32) {
        (self.to_bits(), 0)
    }

    #[inline(always)]
    fn negated(self) -> f32 {
        -self
    }

    #[inline(always)]
    fn begin(self) -> f32 {
        self
    }

    #[inline(always)]
    fn end(self, sum: f32) -> f32 {
        sum
    }

    #[inline(always)]
    fn finished(self, flush: bool) -> f32 {
        let bits = if self.is_nan() { NAN32 } else { self.to_bits() };
        f32::from_bits(if flush { flush32(bits) } else { bits })
    }
}

impl Sum for f32 {
    #[inline(always)]
    fn steps<const FUSED: bool>(sum: &mut [f32], a: f32, b: &[f32], exact_product: bool) {
        if FUSED {
            sum.iter_mut().zip(b).for_each(|(sum, b)| *sum = a.mul_add(*b, *sum));
        } else if exact_product {
            sum.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        } else {
            fma32_each(sum, |j| (a, b[j]));
        }
    }

    #[inline(always)]
    fn negated(self) -> f32 {
        -self
    }

    #[inline(always)]
    fn raw(low: u32, _: u32) -> f32 {
        f32::from_bits(low)
    }

    #[inline(always)]
    fn widen(decoder: &Decoder, elements: &mut [f32]) {
        decoder.widen(elements);
    }
}

impl Acc for f64 {
    const WORDS: u8 = 2;
    type Sum = f64;

    #[inline(always)]
    fn from_words(low: u32, high: u32) -> f64 {
        f64::from_bits(u64::from(low) | u64::from(high) << 32)
    }

    #[inline(always)]
    fn into_words(self) -> (u32, u32) {
        (self.to_bits() as u32, (self.to_bits() >> 32) as u32)
    }

    #[inline(always)]
    fn negated(self) -> f64 {
        -self
    }

    #[inline(always)]
    fn begin(self) -> f64 {
        self
    }

    #[inline(always)]
    fn end(self, sum: f64) -> f64 {
        sum
    }

    #[inline(always)]
    fn finished(self, _: bool) -> f64 {
        if self.is_nan() { f64::from_bits(NAN64) } else { self }
    }
}

impl Sum for f64 {
    #[inline(always)]
    fn steps<const FUSED: bool>(sum: &mut [f64], a: f64, b: &[f64], _: bool) {
        sum.iter_mut().zip(b).for_each(|(sum, b)| *sum = a.mul_add(*b, *sum));
    }

    #[inline(always)]
    fn negated(self) -> f64 {
        -self
    }

    #[inline(always)]
    fn raw(low: u32, high: u32) -> f64 {
        f64::from_words(low, high)
    }

    #[inline(always)]
    fn widen(_: &Decoder, _: &mut [f64]) {}
}

/// The start value of integer sums: the middle of the range of f32 values whose last bit has the value 1. The bit patterns of sums are then
/// consecutive integers.
const INTEGERS: f32 = 12_582_912.0;

/// Integer sums are computed in f32, which hosts multiply and add faster than integers. This is exact: products of two bytes have at most
/// 15 bits, and an element is the sum of at most 128 products.
impl Acc for i32 {
    const WORDS: u8 = 1;
    type Sum = f32;

    #[inline(always)]
    fn from_words(low: u32, _: u32) -> i32 {
        low as i32
    }

    #[inline(always)]
    fn into_words(self) -> (u32, u32) {
        (self as u32, 0)
    }

    #[inline(always)]
    fn negated(self) -> i32 {
        self.wrapping_neg()
    }

    #[inline(always)]
    fn begin(self) -> f32 {
        INTEGERS
    }

    #[inline(always)]
    fn end(self, sum: f32) -> i32 {
        self.wrapping_add(sum.to_bits().wrapping_sub(INTEGERS.to_bits()) as i32)
    }

    #[inline(always)]
    fn finished(self, _: bool) -> i32 {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::host::{self, Work};

    /// A test case: a sequence of steps on a row of the accumulator.
    #[derive(Clone)]
    struct Steps<T> {
        acc: Vec<T>,
        rows: Vec<(T, Vec<T>)>,
        exact_product: bool,
    }

    impl<T: Acc<Sum = T> + Sum> Work for Steps<T> {
        type Out = Vec<(u32, u32)>;

        #[inline(always)]
        fn run<const FUSED: bool, const WIDE: bool>(mut self) -> Vec<(u32, u32)> {
            for (a, b) in &self.rows {
                T::steps::<FUSED>(&mut self.acc, *a, b, self.exact_product);
            }
            self.acc.into_iter().map(|x| x.finished(false).into_words()).collect()
        }
    }

    /// Random bits: arbitrary ones, special values, or values close to each other.
    fn bits(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = (*state ^ *state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ *state >> 32;
        let near = |one: u64, mask: u64| one ^ x & mask;
        match *state >> 60 {
            0 => near(0x3ff0_0000_3f80_0000, 0x800f_0000_807f_ffff),
            1 => near(0x0000_0000_0000_0000, 0x8000_0001_8000_ffff),
            2 => near(0x7ff0_0000_7f80_0000, 0x8000_0000_8000_0001),
            3 => near(0x0010_0000_0080_0000, 0x803f_ffff_81ff_ffff),
            _ => x,
        }
    }

    fn same<T: Acc<Sum = T> + Sum>(value: impl Fn(u64) -> T, exact_product: bool) {
        let mut state = 5;
        for _ in 0..2000 {
            let row = |state: &mut u64| -> Vec<T> { (0..32).map(|_| value(bits(state))).collect() };
            let steps = Steps {
                acc: row(&mut state),
                rows: (0..4).map(|_| (value(bits(&mut state)), row(&mut state))).collect(),
                exact_product,
            };
            assert_eq!(host::run(steps.clone()), steps.clone().run::<false, false>());
            assert_eq!(host::portable(steps.clone()), steps.run::<false, false>());
        }
    }

    /// Hosts with wide vectors and fused multiply-add give the same bits as hosts without them.
    #[test]
    fn wide_and_portable_steps_are_the_same() {
        same(|bits| f32::from_bits(bits as u32), false);
        same(|bits| f16_to_f32(bits as u16), true);
        same(f64::from_bits, false);
    }
}
