//! Conversions between f32 or f64 and the 16-bit formats. Conversions that run for each lane are branch-free.

/// Converts a magnitude in a format with a smaller exponent range to f32, exactly. `shifted` contains the bits of the magnitude, with the
/// fraction at f32's position; `up` is the difference of the exponent biases, at the position of f32's exponent.
///
/// No intermediate f32 is denormal, because operations on denormals take a hundred cycles on many hosts.
#[inline(always)]
pub(crate) fn rebias(shifted: u32, up: u32) -> u32 {
    // A denormal gets an implicit leading one, like a normal number, which is subtracted afterwards. The comparison is signed, because more
    // hosts have a vector instruction for signed comparisons.
    let is_denormal = (shifted as i32) < 1 << 23;
    let (leading, one) = if is_denormal { (1 << 23, up + (1 << 23)) } else { (0, 0) };
    (f32::from_bits(shifted + up + leading) - f32::from_bits(one)).to_bits()
}

/// f16 to f32, exact.
#[inline(always)]
pub(crate) fn f16_to_f32(h: u16) -> f32 {
    let h = u32::from(h);
    let sign = (h & 0x8000) << 16;
    let finite = rebias((h & 0x7fff) << 13, 112 << 23);
    let bits = if h & 0x7c00 == 0x7c00 { 0x7f80_0000 | (h & 0x03ff) << 13 } else { finite };
    f32::from_bits(bits | sign)
}

/// f32 to f16, rounded to nearest even. NaNs keep the upper bits of their payload and become quiet.
#[inline(always)]
pub(crate) fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Normal range: add half a unit in the last place (slightly less if the last bit is even), then drop 13 bits.
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + ((magnitude >> 13) & 1)) >> 13;
    // Denormal range: adding 0.5 makes the f32 adder round at bit 2^-24.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let finite = if magnitude < 113 << 23 { denormal } else { normal };
    let finite = if magnitude >= 143 << 23 { 0x7c00 } else { finite };
    let nan = 0x7e00 | (magnitude >> 13) & 0x01ff;
    let result = if magnitude > 0x7f80_0000 { nan } else { finite };
    (result | sign) as u16
}

/// f64 to f16, rounded once, to nearest even.
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

/// f32 to bf16, rounded to nearest even; NaNs become quiet.
#[inline(always)]
pub(crate) fn f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
    (if x.is_nan() { bits | 0x0040_0000 } else { rounded } >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests every f16, and the f32 values near the rounding boundaries of every f16, against the `half` crate.
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
        // Just above the midpoint of 1 and 1 + 2^-10: rounding to f32 first would lose the excess.
        let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(f64_to_f16(x), 0x3c01);
        assert_eq!(f64_to_f16(1.0 + 2f64.powi(-11)), 0x3c00);
    }
}
