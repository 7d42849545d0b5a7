//! Small integers as elements of each format, and matrices of them in memory.

use gcn_dsl::lang::matrix::{Bf6, Bf8, Fp4, Fp6, Fp8, MatrixElement, Xf32};
use gcn_dsl::prelude::*;

/// Element types that a test can write.
pub trait Stored: MatrixElement {
    /// Bits of one element.
    const BITS: usize;
    /// The bits of a small integer.
    fn bits_of(x: i32, target: Target) -> u64;
    /// An element of memory with these bits.
    fn memory(bits: u64) -> Self::Memory;

    /// The elements packed without gaps, from the lowest bits up.
    fn matrix(xs: impl IntoIterator<Item = i32>, target: Target) -> Vec<Self::Memory> {
        let bits = xs.into_iter().map(|x| Self::bits_of(x, target));
        if Self::BITS >= 8 {
            return bits.map(Self::memory).collect();
        }
        let (mut bytes, mut held, mut have) = (Vec::new(), 0u64, 0);
        for x in bits {
            held |= x << have;
            have += Self::BITS;
            while have >= 8 {
                bytes.push(Self::memory(held & 0xff));
                (held, have) = (held >> 8, have - 8);
            }
        }
        assert_eq!(have, 0, "whole bytes");
        bytes
    }
}

/// A small integer as a float with `fraction` fraction bits.
fn float(x: i32, fraction: u32, bias: i32, sign: u32) -> u64 {
    if x == 0 {
        return 0;
    }
    let exponent = x.unsigned_abs().ilog2();
    let rest = (u64::from(x.unsigned_abs()) - (1 << exponent)) << fraction;
    assert!(rest.is_multiple_of(1 << exponent), "{x} is exact");
    let fields = ((exponent as i32 + bias) as u64) << fraction | rest >> exponent;
    fields | u64::from(x < 0) << sign
}

macro_rules! stored {
    ($($t:ident $bits:literal |$x:ident, $target:ident| $to:expr, |$b:ident| $memory:expr;)*) => {$(
        impl Stored for $t {
            const BITS: usize = $bits;
            fn bits_of($x: i32, $target: Target) -> u64 { $to }
            fn memory($b: u64) -> Self::Memory { $memory }
        }
    )*};
}

stored! {
    f16 16 |x, _t| f16::from_f32(x as f32).to_bits().into(), |b| f16::from_bits(b as u16);
    bf16 16 |x, _t| bf16::from_f32(x as f32).to_bits().into(), |b| bf16::from_bits(b as u16);
    f32 32 |x, _t| (x as f32).to_bits().into(), |b| f32::from_bits(b as u32);
    f64 64 |x, _t| f64::from(x).to_bits(), |b| f64::from_bits(b);
    i32 32 |x, _t| (x as u32).into(), |b| b as u32 as i32;
    i8 8 |x, _t| (x as i8 as u8).into(), |b| b as u8 as i8;
    Xf32 32 |x, _t| (x as f32).to_bits().into(), |b| f32::from_bits(b as u32);
    Fp8 8 |x, t| float(x, 3, if t == Target::GFX950 { 7 } else { 8 }, 7), |b| b as u8;
    Bf8 8 |x, t| float(x, 2, if t == Target::GFX950 { 15 } else { 16 }, 7), |b| b as u8;
    Fp6 6 |x, _t| float(x, 3, 1, 5), |b| b as u8;
    Bf6 6 |x, _t| float(x, 2, 3, 5), |b| b as u8;
    Fp4 4 |x, _t| float(x, 1, 1, 3), |b| b as u8;
}
