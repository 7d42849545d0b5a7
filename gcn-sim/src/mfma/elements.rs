//! Element types of matrix operands: widening inputs to the type of the accumulator.

use gcn_isa::Target;
use gcn_isa::layout::ElemType;

use crate::fp::small::{Small, Table, table};
use crate::fp::{NAN32, NAN64, bf16_to_f32, f16_to_f32, flush16, flush32, fma32_any_nan, fma32_each};

/// The accumulator's type.
pub(super) trait Acc: Copy + Default + Send + Sync + 'static {
    /// Registers of an element.
    const WORDS: u8;
    fn from_words(low: u32, high: u32) -> Self;
    fn into_words(self) -> (u32, u32);
    /// self + a * b.
    fn step(self, a: Self, b: Self, exact_product: bool) -> Self;
    /// acc[j] + a * b[j] for a row of the accumulator.
    #[inline(always)]
    fn steps(acc: &mut [Self], a: Self, b: &[Self], exact_product: bool) {
        for (acc, b) in acc.iter_mut().zip(b) {
            *acc = acc.step(a, *b, exact_product);
        }
    }
    fn negated(self) -> Self;
    /// The result as it is written: default NaN, denormals flushed if asked.
    fn finished(self, flush: bool) -> Self;
    /// Widens `bits` (shifted down to bit 0) of an input element.
    fn widen(decoder: &Decoder, low: u32, high: u32) -> Self;
}

/// How input elements are read.
#[derive(Clone, Copy)]
pub(super) struct Decoder {
    pub ty: ElemType,
    /// Denormal inputs count as zero.
    pub flush: bool,
    /// The values of formats of at most eight bits.
    table: Option<&'static Table>,
}

impl Decoder {
    pub(super) fn new(ty: ElemType, target: Target) -> Decoder {
        Decoder { ty, flush: flushes_denormals(ty, target), table: small(ty, target).map(table) }
    }

    /// Bits of an element.
    pub(super) fn bits(&self) -> u32 {
        self.ty.bits().map_or(32, u32::from)
    }

    fn as_f32(&self, bits: u32) -> f32 {
        match self.ty {
            ElemType::F16 => f16_to_f32(if self.flush { flush16(bits & 0xffff) as u16 } else { bits as u16 }),
            ElemType::Bf16 => {
                let x = bf16_to_f32(bits as u16);
                if self.flush { f32::from_bits(flush32(x.to_bits())) } else { x }
            }
            ElemType::Xf32 => round_xf32(bits),
            _ => self.table.map_or(f32::from_bits(bits), |table| table.value(bits)),
        }
    }
}

/// The format of floats of at most eight bits.
fn small(ty: ElemType, target: Target) -> Option<Small> {
    match ty {
        ElemType::Fp8 => Some(Small::fp8(target)),
        ElemType::Bf8 => Some(Small::bf8(target)),
        ElemType::Fp6 => Some(Small::E2M3),
        ElemType::Bf6 => Some(Small::E3M2),
        ElemType::Fp4 => Some(Small::E2M1),
        _ => None,
    }
}

/// f16 and bf16 matrix instructions before gfx942 treat denormals as zero.
pub(super) fn flushes_denormals(ty: ElemType, target: Target) -> bool {
    matches!(ty, ElemType::F16 | ElemType::Bf16) && !target.is_gfx940_family()
}

/// True if the product of two elements is exact in f32.
pub(super) fn product_is_exact(ty: ElemType) -> bool {
    // bf16 products have few enough bits, but not the range.
    ty == ElemType::F16 || small(ty, Target::GFX950).is_some()
}

/// f32 rounded to 10 fraction bits, to nearest even.
fn round_xf32(bits: u32) -> f32 {
    if bits & 0x7f80_0000 == 0x7f80_0000 {
        return f32::from_bits(bits);
    }
    f32::from_bits(bits.wrapping_add(0xfff + (bits >> 13 & 1)) & !0x1fff)
}

impl Acc for f32 {
    const WORDS: u8 = 1;

    fn from_words(low: u32, _: u32) -> f32 {
        f32::from_bits(low)
    }

    fn into_words(self) -> (u32, u32) {
        (self.to_bits(), 0)
    }

    #[inline(always)]
    fn step(self, a: f32, b: f32, exact_product: bool) -> f32 {
        if exact_product { self + a * b } else { fma32_any_nan(a, b, self) }
    }

    #[inline(always)]
    fn steps(acc: &mut [f32], a: f32, b: &[f32], exact_product: bool) {
        if exact_product {
            acc.iter_mut().zip(b).for_each(|(acc, b)| *acc += a * b);
        } else {
            fma32_each(acc, |j| (a, b[j]));
        }
    }

    fn negated(self) -> f32 {
        -self
    }

    fn finished(self, flush: bool) -> f32 {
        let bits = if self.is_nan() { NAN32 } else { self.to_bits() };
        f32::from_bits(if flush { flush32(bits) } else { bits })
    }

    fn widen(decoder: &Decoder, low: u32, _: u32) -> f32 {
        decoder.as_f32(low)
    }
}

impl Acc for f64 {
    const WORDS: u8 = 2;

    fn from_words(low: u32, high: u32) -> f64 {
        f64::from_bits(u64::from(low) | u64::from(high) << 32)
    }

    fn into_words(self) -> (u32, u32) {
        (self.to_bits() as u32, (self.to_bits() >> 32) as u32)
    }

    #[inline(always)]
    fn step(self, a: f64, b: f64, _: bool) -> f64 {
        a.mul_add(b, self)
    }

    fn negated(self) -> f64 {
        -self
    }

    fn finished(self, _: bool) -> f64 {
        if self.is_nan() { f64::from_bits(NAN64) } else { self }
    }

    fn widen(_: &Decoder, low: u32, high: u32) -> f64 {
        f64::from_words(low, high)
    }
}

impl Acc for i32 {
    const WORDS: u8 = 1;

    fn from_words(low: u32, _: u32) -> i32 {
        low as i32
    }

    fn into_words(self) -> (u32, u32) {
        (self as u32, 0)
    }

    #[inline(always)]
    fn step(self, a: i32, b: i32, _: bool) -> i32 {
        self.wrapping_add(a.wrapping_mul(b))
    }

    fn negated(self) -> i32 {
        self.wrapping_neg()
    }

    fn finished(self, _: bool) -> i32 {
        self
    }

    fn widen(_: &Decoder, low: u32, _: u32) -> i32 {
        i32::from(low as i8)
    }
}
