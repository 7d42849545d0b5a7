//! The formats of at most eight bits (fp8, bf8, fp6, bf6, fp4) and conversions from and to them.
//!
//! Widening is exact. Narrowing rounds once, to nearest even or stochastically: random bits are added below the last kept bit, and the sum
//! is truncated. If MODE.FP16_OVFL is set, a value that overflows becomes the largest number; otherwise it becomes infinity, or NaN if the
//! format has no infinity. Formats without infinity and NaN always saturate. Evidence: AMD's public pseudo-code for the choice of random
//! bits; the host reference of the gfx950 conversions in HIP (`amd_hip_ocp_host.hpp`); and public kernels that clamp the operands of both
//! kinds of conversion, scaled and unscaled, which is necessary only if overflow gives NaN. It is an assumption that FP16_OVFL also makes
//! infinite operands finite (the saturating mode of the OFP8 specification does that).

use gcn_isa::Target;
use gcn_isa::layout::ElemType;

use super::NAN32;
use super::narrow::rebias;
use super::soft::{Exact, Format, Round};

/// A float format to which values can be narrowed; all but two have at most eight bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Small {
    /// The number of exponent bits.
    pub exponent: u32,
    /// The number of fraction bits.
    pub fraction: u32,
    /// The exponent bias.
    pub bias: i32,
    /// The meaning of the largest encodings, which may be special values.
    pub top: Top,
}

/// The special values of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Top {
    /// None: every encoding is a finite number.
    Finite,
    /// NaN is all ones below the sign; there is no infinity (OCP `e4m3fn`).
    NanOnly,
    /// Infinities and NaNs as in IEEE 754 (OCP `e5m2`).
    Ieee,
    /// No infinity and no negative zero: the encoding with only the sign bit set is NaN (the `fnuz` formats of gfx942).
    Fnuz,
}

/// How narrowing rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rounding {
    /// To nearest, ties to even.
    NearestEven,
    /// Stochastic, with these random bits; only the upper ones are used.
    Stochastic(u32),
}

impl Small {
    /// `e4m3fnuz`, fp8 of gfx942.
    pub(crate) const E4M3_FNUZ: Small = Small { exponent: 4, fraction: 3, bias: 8, top: Top::Fnuz };
    /// `e5m2fnuz`, bf8 of gfx942.
    pub(crate) const E5M2_FNUZ: Small = Small { exponent: 5, fraction: 2, bias: 16, top: Top::Fnuz };
    /// OCP `e4m3fn`, fp8 of gfx950.
    pub(crate) const E4M3: Small = Small { exponent: 4, fraction: 3, bias: 7, top: Top::NanOnly };
    /// OCP `e5m2`, bf8 of gfx950.
    pub(crate) const E5M2: Small = Small { exponent: 5, fraction: 2, bias: 15, top: Top::Ieee };
    /// OCP `e2m3`, fp6.
    pub(crate) const E2M3: Small = Small { exponent: 2, fraction: 3, bias: 1, top: Top::Finite };
    /// OCP `e3m2`, bf6.
    pub(crate) const E3M2: Small = Small { exponent: 3, fraction: 2, bias: 3, top: Top::Finite };
    /// OCP `e2m1`, fp4.
    pub(crate) const E2M1: Small = Small { exponent: 2, fraction: 1, bias: 1, top: Top::Finite };
    /// f16, as a narrow format.
    pub(crate) const E5M10: Small = Small { exponent: 5, fraction: 10, bias: 15, top: Top::Ieee };
    /// bfloat16, as a narrow format.
    pub(crate) const E8M7: Small = Small { exponent: 8, fraction: 7, bias: 127, top: Top::Ieee };

    /// The fp8 format of a target: `fnuz` or OCP.
    pub(crate) fn fp8(target: Target) -> Small {
        if target.has_fnuz_floats() { Small::E4M3_FNUZ } else { Small::E4M3 }
    }

    /// The bf8 format of a target: `fnuz` or OCP.
    pub(crate) fn bf8(target: Target) -> Small {
        if target.has_fnuz_floats() { Small::E5M2_FNUZ } else { Small::E5M2 }
    }

    /// The format of an element type on a target, if it is a float of at most eight bits.
    pub(crate) fn of(ty: ElemType, target: Target) -> Option<Small> {
        match ty {
            ElemType::Fp8 => Some(Small::fp8(target)),
            ElemType::Bf8 => Some(Small::bf8(target)),
            ElemType::Fp6 => Some(Small::E2M3),
            ElemType::Bf6 => Some(Small::E3M2),
            ElemType::Fp4 => Some(Small::E2M1),
            _ => None,
        }
    }

    /// The number of bits of an encoding.
    pub(crate) const fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    const fn sign_bit(self) -> u32 {
        1 << (self.exponent + self.fraction)
    }

    /// The encoding of the largest finite number.
    const fn largest(self) -> u32 {
        let all = self.sign_bit() - 1;
        match self.top {
            Top::Finite | Top::Fnuz => all,
            Top::NanOnly => all - 1,
            Top::Ieee => all - (1 << self.fraction),
        }
    }

    const fn nan(self, negative: bool) -> u32 {
        let sign = if negative { self.sign_bit() } else { 0 };
        match self.top {
            Top::Fnuz => self.sign_bit(),
            // As in the host reference: in formats without NaN, NaN becomes the largest number; in e5m2, NaN has only the upper fraction
            // bit set.
            Top::Finite | Top::NanOnly => sign | (self.sign_bit() - 1),
            Top::Ieee => sign | (self.largest() + 1) | 1 << (self.fraction - 1),
        }
    }

    /// The result of converting a value greater than the largest number.
    const fn overflow(self, negative: bool, saturate: bool) -> u32 {
        let sign = if negative { self.sign_bit() } else { 0 };
        match self.top {
            _ if saturate => sign | self.largest(),
            Top::Finite => sign | self.largest(),
            Top::Ieee => sign | (self.largest() + 1),
            Top::NanOnly | Top::Fnuz => self.nan(negative),
        }
    }

    /// The exact value of an encoding.
    pub(crate) fn decode(self, code: u32) -> f32 {
        let code = code & (2 * self.sign_bit() - 1);
        let magnitude = code & (self.sign_bit() - 1);
        let negative = code & self.sign_bit() != 0;
        let infinite = self.top == Top::Ieee && magnitude == self.largest() + 1;
        let nan = match self.top {
            Top::Finite => false,
            Top::Fnuz => code == self.sign_bit(),
            Top::NanOnly | Top::Ieee => magnitude > self.largest() && !infinite,
        };
        let value = if nan {
            f32::NAN
        } else if infinite {
            f32::INFINITY
        } else {
            let exact = self.unpack(magnitude);
            f32::from_bits(exact.round(Format::F32, Round::NearestEven) as u32)
        };
        if negative { -value } else { value }
    }

    /// A finite magnitude as an exact number.
    fn unpack(self, magnitude: u32) -> Exact {
        let field = magnitude >> self.fraction;
        let fraction = magnitude & ((1 << self.fraction) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << self.fraction };
        let exponent = field.max(1) as i32 - self.bias - self.fraction as i32;
        Exact { negative: false, significand: u128::from(significand), exponent }
    }

    /// The value of an encoding times 2^`scale`, rounded once to `to`; an overflow gives infinity.
    pub(crate) fn widen(self, code: u32, scale: i32, to: Format) -> u64 {
        let value = self.decode(code);
        if !value.is_finite() {
            return super::soft::convert(Format::F32, to, Round::NearestEven, u64::from(value.to_bits()));
        }
        let exact = self.unpack(code & (self.sign_bit() - 1));
        let negative = value.is_sign_negative();
        Exact { negative, exponent: exact.exponent + scale, ..exact }.round(to, Round::NearestEven)
    }

    /// The value `bits` of format `from`, divided by 2^`scale` and converted to this format.
    pub(crate) fn narrow(self, from: Format, bits: u32, scale: i32, round: Rounding, saturate: bool) -> u32 {
        let negative = bits >> (from.exponent + from.fraction) & 1 == 1;
        let field = bits >> from.fraction & ((1 << from.exponent) - 1);
        let fraction = bits & ((1 << from.fraction) - 1);
        if field == (1 << from.exponent) - 1 {
            return if fraction != 0 { self.nan(negative) } else { self.overflow(negative, saturate) };
        }
        // The significand with its leading bit at position `from.fraction`, and the exponent of that bit.
        let significand = if field == 0 { fraction } else { fraction | 1 << from.fraction };
        if significand == 0 {
            return self.signed(negative, 0);
        }
        let shift = significand.leading_zeros() as i32 - (31 - from.fraction as i32);
        let significand = significand << shift;
        let bias = (1 << (from.exponent - 1)) - 1;
        let leading = field.max(1) as i32 - bias - shift - scale;
        let magnitude = self.round(from, significand, leading, round);
        if magnitude > self.largest() {
            self.overflow(negative, saturate)
        } else {
            self.signed(negative, magnitude)
        }
    }

    fn signed(self, negative: bool, magnitude: u32) -> u32 {
        let keeps_sign = self.top != Top::Fnuz || magnitude != 0;
        if negative && keeps_sign { self.sign_bit() | magnitude } else { magnitude }
    }

    /// The encoding, without sign, of `significand` (leading bit at `from.fraction`) times 2^(`leading` - `from.fraction`). The result may
    /// exceed [`Small::largest`].
    fn round(self, from: Format, significand: u32, leading: i32, round: Rounding) -> u32 {
        let smallest = 1 - self.bias;
        if leading > smallest + (1 << self.exponent) {
            return u32::MAX;
        }
        // A number below the normal range keeps this many bits fewer.
        let below = (smallest - leading).max(0) as u32;
        let field = (leading.max(smallest) + self.bias - 1) as u32;
        let cut = from.fraction - self.fraction;
        let kept = match round {
            Rounding::NearestEven => round_shift(significand, cut + below),
            Rounding::Stochastic(random) => {
                let shifted = significand.checked_shr(below).unwrap_or(0);
                (shifted + (random >> (32 - cut))) >> cut
            }
        };
        (field << self.fraction) + kept
    }
}

/// `x >> by`, rounded to nearest even.
fn round_shift(x: u32, by: u32) -> u32 {
    if by > 31 {
        return 0;
    }
    if by == 0 {
        return x;
    }
    let (kept, rest, half) = (x >> by, x & ((1 << by) - 1), 1 << (by - 1));
    kept + u32::from(rest > half || rest == half && kept & 1 == 1)
}

/// [`Small::decode`] for a format of at most eight bits, without branches and with few operations, so that the host can vectorise it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widening {
    sign_bit: u32,
    /// The left shifts that move the sign and the fraction to their positions in f32.
    sign_up: u32,
    fraction_up: u32,
    /// The difference of the exponent biases, at the position of f32's exponent.
    rebias: u32,
    /// An encoding whose magnitude exceeds this one is infinity or NaN, with its fraction as in f32.
    largest: u32,
    /// An encoding that is NaN although it does not exceed `largest`.
    nan: u32,
}

impl Widening {
    pub(crate) fn of(format: Small) -> Widening {
        Widening {
            sign_bit: format.sign_bit(),
            sign_up: 32 - format.bits(),
            fraction_up: 23 - format.fraction,
            rebias: ((127 - format.bias) as u32) << 23,
            largest: format.largest(),
            nan: if format.top == Top::Fnuz { format.sign_bit() } else { u32::MAX },
        }
    }

    /// The value of an encoding; higher bits of `code` are ignored.
    #[inline(always)]
    pub(crate) fn value(&self, code: u32) -> f32 {
        let magnitude = code & (self.sign_bit - 1);
        let sign = code & self.sign_bit;
        let finite = rebias(magnitude << self.fraction_up, self.rebias);
        // A bitwise or gives the same result here as a selection, and is cheaper. The comparison is signed, because more hosts have a
        // vector instruction for signed comparisons.
        let special = if magnitude as i32 > self.largest as i32 { f32::INFINITY.to_bits() } else { 0 };
        let nan = if sign | magnitude == self.nan { NAN32 } else { 0 };
        let bits = finite | special | nan;
        f32::from_bits(bits | sign << self.sign_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Small; 7] =
        [Small::E4M3_FNUZ, Small::E5M2_FNUZ, Small::E4M3, Small::E5M2, Small::E2M3, Small::E3M2, Small::E2M1];

    /// The extreme values that the OCP specifications (OFP8, MX) and AMD's CDNA3 documents state.
    #[test]
    fn documented_extremes() {
        assert_eq!(Small::E4M3_FNUZ.decode(0x7f), 240.0);
        assert_eq!(Small::E5M2_FNUZ.decode(0x7f), 57_344.0);
        assert_eq!(Small::E4M3.decode(0x7e), 448.0);
        assert_eq!(Small::E5M2.decode(0x7b), 57_344.0);
        assert_eq!(Small::E4M3_FNUZ.decode(0x01), 2f32.powi(-10));
        assert_eq!(Small::E4M3.decode(0x01), 2f32.powi(-9));
        assert_eq!(Small::E5M2.decode(0x01), 2f32.powi(-16));
        assert_eq!(Small::E5M2.decode(0xfc), f32::NEG_INFINITY);
        assert!(Small::E4M3_FNUZ.decode(0x80).is_nan() && Small::E4M3.decode(0xff).is_nan());
        assert_eq!((Small::E2M3.decode(0x1f), Small::E2M3.decode(0x01)), (7.5, 0.125));
        assert_eq!((Small::E3M2.decode(0x1f), Small::E3M2.decode(0x01)), (28.0, 0.0625));
        let fp4: Vec<f32> = (0..8).map(|c| Small::E2M1.decode(c)).collect();
        assert_eq!(fp4, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
    }

    #[test]
    fn widening_without_branches_gives_the_same() {
        for format in ALL {
            let widening = Widening::of(format);
            for code in 0..1 << format.bits() {
                let (value, expected) = (widening.value(code | !0 << format.bits()), format.decode(code));
                let same = value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan();
                assert!(same, "{format:?} {code:#x}: {value} {expected}");
            }
        }
    }

    #[test]
    fn every_encoding_comes_back() {
        for format in ALL {
            for code in 0..1 << format.bits() {
                let value = format.decode(code);
                if !value.is_nan() {
                    let back = format.narrow(Format::F32, value.to_bits(), 0, Rounding::NearestEven, false);
                    assert_eq!(back, code, "{format:?}");
                }
            }
        }
    }
}
