//! Conversions between f32/f64 and the 16-bit and 8-bit formats, branch-free where they run per lane.

/// f16 to f32, exact.
#[inline(always)]
pub(crate) fn f16_to_f32(h: u16) -> f32 {
    let h = u32::from(h);
    let sign = (h & 0x8000) << 16;
    // Placing the bits 13 up leaves the exponent 112 short; a multiplication mends it for denormals, too.
    let magnitude = f32::from_bits((h & 0x7fff) << 13) * f32::from_bits(0x7780_0000);
    let bits = if h & 0x7c00 == 0x7c00 { 0x7f80_0000 | (h & 0x03ff) << 13 } else { magnitude.to_bits() };
    f32::from_bits(bits | sign)
}

/// f32 to f16, round to nearest even. NaNs keep the upper bits of their payload and become quiet.
#[inline(always)]
pub(crate) fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Normal range: add half a unit in the last place (less one if the last bit is even), cut 13 bits.
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + ((magnitude >> 13) & 1)) >> 13;
    // Denormal range: adding 0.5 lets the f32 adder round at bit 2^-24.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let finite = if magnitude < 113 << 23 { denormal } else { normal };
    let finite = if magnitude >= 143 << 23 { 0x7c00 } else { finite };
    let nan = 0x7e00 | (magnitude >> 13) & 0x01ff;
    let result = if magnitude > 0x7f80_0000 { nan } else { finite };
    (result | sign) as u16
}

/// f64 to f16, round to nearest even, rounding once.
#[inline(always)]
pub(crate) fn f64_to_f16(x: f64) -> u16 {
    f32_to_f16(f64_to_f32_odd(x))
}

/// f64 to f32, rounded to odd.
#[inline(always)]
fn f64_to_f32_odd(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    let towards_zero = if back.abs() > x.abs() { bits.wrapping_sub(1) } else { bits };
    let inexact = back != x && !x.is_nan();
    f32::from_bits(if inexact { towards_zero | 1 } else { bits })
}

/// bf16 to f32, exact.
#[inline(always)]
pub(crate) fn bf16_to_f32(h: u16) -> f32 {
    f32::from_bits(u32::from(h) << 16)
}

/// f32 to bf16, round to nearest even; NaNs become quiet.
#[inline(always)]
pub(crate) fn f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
    (if x.is_nan() { bits | 0x0040_0000 } else { rounded } >> 16) as u16
}

/// An 8-bit float format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fp8 {
    /// Bits of the fraction: 3 for fp8, 2 for bf8.
    pub fraction: u32,
    /// Exponent bias.
    pub bias: i32,
    /// True for the `fnuz` encodings of gfx942: no infinities, no negative zero, 0x80 is the only NaN.
    pub fnuz: bool,
}

impl Fp8 {
    /// `e4m3fnuz`.
    pub(crate) const E4M3_FNUZ: Fp8 = Fp8 { fraction: 3, bias: 8, fnuz: true };
    /// `e5m2fnuz`.
    pub(crate) const E5M2_FNUZ: Fp8 = Fp8 { fraction: 2, bias: 16, fnuz: true };
    /// OCP `e4m3fn`: no infinities, NaN is all ones below the sign.
    pub(crate) const E4M3: Fp8 = Fp8 { fraction: 3, bias: 7, fnuz: false };
    /// OCP `e5m2`: infinities and NaNs as in IEEE 754.
    pub(crate) const E5M2: Fp8 = Fp8 { fraction: 2, bias: 15, fnuz: false };

    /// Value of an 8-bit float, exact.
    pub(crate) fn to_f32(self, byte: u8) -> f32 {
        let magnitude = u32::from(byte & 0x7f);
        let exponent = (magnitude >> self.fraction) as i32;
        let fraction = magnitude & ((1 << self.fraction) - 1);
        let special = match (self.fnuz, self.fraction) {
            (true, _) => (byte == 0x80).then_some(f32::NAN),
            (false, 3) => (magnitude == 0x7f).then_some(f32::NAN),
            (false, _) if exponent == 31 => Some(if fraction == 0 { f32::INFINITY } else { f32::NAN }),
            _ => None,
        };
        let value = special.unwrap_or_else(|| {
            let (mantissa, exponent) =
                if exponent == 0 { (fraction, 1) } else { (fraction | 1 << self.fraction, exponent) };
            mantissa as f32 * 2f32.powi(exponent - self.bias - self.fraction as i32)
        });
        if byte & 0x80 != 0 { -value } else { value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every f16, and every f32 near the rounding boundaries of every f16, against the `half` crate.
    #[test]
    fn half_precision_agrees_with_the_half_crate() {
        for h in 0..=u16::MAX {
            let ours = f16_to_f32(h);
            let theirs = half::f16::from_bits(h).to_f32_const();
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{h:#x}");
            for near in -2i32..=2 {
                for half_unit in [0i32, 0x1000] {
                    let x = f32::from_bits(ours.to_bits().wrapping_add_signed(near + half_unit));
                    let (a, b) = (f32_to_f16(x), half::f16::from_f32_const(x).to_bits());
                    assert!(a == b || x.is_nan() && a & 0x7e00 == 0x7e00, "{x:e} {a:#x} {b:#x}");
                    let (a, b) = (f32_to_bf16(x), half::bf16::from_f32(x).to_bits());
                    assert_eq!(a, b, "{x:e}");
                }
            }
        }
    }

    #[test]
    fn f64_narrows_to_f16_with_one_rounding() {
        // Just above the tie between 1 and 1 + 2^-10: rounding to f32 first would lose the excess.
        let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(f64_to_f16(x), 0x3c01);
        assert_eq!(f64_to_f16(1.0 + 2f64.powi(-11)), 0x3c00);
    }

    #[test]
    fn eight_bit_floats_have_their_documented_extremes() {
        assert_eq!(Fp8::E4M3_FNUZ.to_f32(0x7f), 240.0);
        assert_eq!(Fp8::E5M2_FNUZ.to_f32(0x7f), 57_344.0);
        assert_eq!(Fp8::E4M3.to_f32(0x7e), 448.0);
        assert_eq!(Fp8::E5M2.to_f32(0x7b), 57_344.0);
        assert_eq!(Fp8::E4M3_FNUZ.to_f32(0x01), 2f32.powi(-10));
        assert_eq!(Fp8::E5M2.to_f32(0xfc), f32::NEG_INFINITY);
        assert!(Fp8::E4M3_FNUZ.to_f32(0x80).is_nan() && Fp8::E4M3.to_f32(0xff).is_nan());
    }
}
