//! Multiply-add and conversions in software, for any binary format up to f64 and any rounding mode.
//!
//! Used for directed rounding, which the host's arithmetic does not offer. Values are unpacked to a sign, a 128-bit significand and an
//! exponent. Bits that are shifted out are combined into the lowest bit ("sticky bit"). This suffices for every rounding decision, because
//! at least twenty spare bits lie below the result.

/// A rounding mode, with the numbering of the MODE register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Round {
    /// To nearest, ties to even.
    #[default]
    NearestEven,
    /// Towards positive infinity.
    Up,
    /// Towards negative infinity.
    Down,
    /// Towards zero.
    Zero,
}

impl Round {
    /// The rounding mode of a two-bit field of MODE.
    pub(crate) fn from_field(field: u32) -> Round {
        [Round::NearestEven, Round::Up, Round::Down, Round::Zero][(field & 3) as usize]
    }
}

/// A binary interchange format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Format {
    /// The number of fraction bits.
    pub fraction: u32,
    /// The number of exponent bits.
    pub exponent: u32,
}

impl Format {
    pub(crate) const F16: Format = Format { fraction: 10, exponent: 5 };
    pub(crate) const BF16: Format = Format { fraction: 7, exponent: 8 };
    pub(crate) const F32: Format = Format { fraction: 23, exponent: 8 };
    pub(crate) const F64: Format = Format { fraction: 52, exponent: 11 };

    /// The number of bits of an encoding.
    pub(crate) const fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// The quiet NaN that an invalid operation gives.
    pub(crate) fn nan(self) -> u64 {
        self.quiet(self.infinity())
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn max_exponent(self) -> u64 {
        (1 << self.exponent) - 1
    }

    fn sign_bit(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    fn infinity(self) -> u64 {
        self.max_exponent() << self.fraction
    }

    fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign_bit() - 1) > self.infinity()
    }

    fn is_infinite(self, bits: u64) -> bool {
        bits & (self.sign_bit() - 1) == self.infinity()
    }

    fn quiet(self, bits: u64) -> u64 {
        bits | 1 << (self.fraction - 1)
    }

    /// A finite value as an exact number.
    fn unpack(self, bits: u64) -> Exact {
        let field = (bits >> self.fraction) & self.max_exponent();
        let fraction = bits & ((1 << self.fraction) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << self.fraction };
        let exponent = field.max(1) as i32 - self.bias() - self.fraction as i32;
        Exact { negative: bits & self.sign_bit() != 0, significand: u128::from(significand), exponent }
    }
}

/// ±significand * 2^exponent. If the lowest bit of the significand is set, it may represent any nonzero remainder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact {
    pub negative: bool,
    pub significand: u128,
    pub exponent: i32,
}

impl Exact {
    /// The same value with the top bit of the significand at bit 126.
    fn normalized(self) -> Exact {
        if self.significand == 0 {
            return self;
        }
        let shift = self.significand.leading_zeros() as i32 - 1;
        let significand =
            if shift >= 0 { self.significand << shift } else { shift_right(self.significand, 1) };
        Exact { significand, exponent: self.exponent - shift, ..self }
    }

    fn plus(self, other: Exact, round: Round) -> Exact {
        let (a, b) = (self.normalized(), other.normalized());
        if a.significand == 0 || b.significand == 0 {
            let value = if a.significand == 0 { b } else { a };
            let both_zero = a.significand == 0 && b.significand == 0;
            let negative =
                if both_zero { sum_of_zeros(a.negative, b.negative, round) } else { value.negative };
            return Exact { negative, ..value };
        }
        let (high, low) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
        // Leaves one bit for the carry.
        let high_sig = shift_right(high.significand, 1);
        let low_sig = shift_right(low.significand, (high.exponent - low.exponent) as u32 + 1);
        let exponent = high.exponent + 1;
        if high.negative == low.negative {
            return Exact { negative: high.negative, significand: high_sig + low_sig, exponent };
        }
        let (negative, significand) = if high_sig >= low_sig {
            (high.negative, high_sig - low_sig)
        } else {
            (low.negative, low_sig - high_sig)
        };
        // The sum of opposite values is a positive zero, except when rounding down.
        let negative = if significand == 0 { round == Round::Down } else { negative };
        Exact { negative, significand, exponent }
    }

    /// Rounds to a format.
    pub(crate) fn round(self, format: Format, round: Round) -> u64 {
        let sign = if self.negative { format.sign_bit() } else { 0 };
        if self.significand == 0 {
            return sign;
        }
        let value = self.normalized();
        // The exponents of the leading bit and of the last kept bit (denormals keep fewer bits).
        let leading = value.exponent + 126;
        if leading > format.bias() {
            return sign | overflow(format, self.negative, round);
        }
        let last = (leading - format.fraction as i32).max(1 - format.bias() - format.fraction as i32);
        let cut = (last - value.exponent) as u32;
        let (kept, rest_is) = split(value.significand, cut);
        let up = match round {
            Round::NearestEven => rest_is > Rest::Half || rest_is == Rest::Half && kept & 1 == 1,
            Round::Up => !self.negative && rest_is > Rest::Zero,
            Round::Down => self.negative && rest_is > Rest::Zero,
            Round::Zero => false,
        };
        let kept = kept + u64::from(up);
        // The significand is added to the exponent field, so that a carry increments the exponent, also from denormal to normal.
        let field = (last + format.fraction as i32 + format.bias() - 1).max(0) as u64;
        let magnitude = (field << format.fraction) + kept;
        if magnitude >= format.infinity() {
            sign | overflow(format, self.negative, round)
        } else {
            sign | magnitude
        }
    }
}

fn overflow(format: Format, negative: bool, round: Round) -> u64 {
    let away = match round {
        Round::NearestEven => true,
        Round::Up => !negative,
        Round::Down => negative,
        Round::Zero => false,
    };
    format.infinity() - u64::from(!away)
}

fn sum_of_zeros(a: bool, b: bool, round: Round) -> bool {
    if a == b { a } else { round == Round::Down }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rest {
    Zero,
    BelowHalf,
    Half,
    AboveHalf,
}

fn split(significand: u128, cut: u32) -> (u64, Rest) {
    if cut > 127 {
        return (0, if significand == 0 { Rest::Zero } else { Rest::BelowHalf });
    }
    let rest = significand & ((1u128 << cut) - 1);
    let half = if cut == 0 { 0 } else { 1u128 << (cut - 1) };
    let class = match rest {
        0 => Rest::Zero,
        r if r < half => Rest::BelowHalf,
        r if r == half => Rest::Half,
        _ => Rest::AboveHalf,
    };
    ((significand >> cut) as u64, class)
}

fn shift_right(significand: u128, by: u32) -> u128 {
    if by == 0 {
        return significand;
    }
    if by > 127 {
        return u128::from(significand != 0);
    }
    let lost = significand & ((1u128 << by) - 1);
    significand >> by | u128::from(lost != 0)
}

/// a * b + c, rounded once.
pub(crate) fn fma(format: Format, round: Round, a: u64, b: u64, c: u64) -> u64 {
    fma_scaled(format, round, [a, b, c], 0)
}

/// (a * b + c) * 2^scale, rounded once.
pub(crate) fn fma_scaled(format: Format, round: Round, [a, b, c]: [u64; 3], scale: i32) -> u64 {
    for x in [a, b, c] {
        if format.is_nan(x) {
            return format.quiet(x);
        }
    }
    let sign = (a ^ b) & format.sign_bit();
    let zero = |x: u64| x & (format.sign_bit() - 1) == 0;
    let product_infinite = format.is_infinite(a) || format.is_infinite(b);
    let invalid = product_infinite && (zero(a) || zero(b))
        || product_infinite && format.is_infinite(c) && sign != c & format.sign_bit();
    if invalid {
        return format.quiet(format.infinity());
    }
    if product_infinite {
        return sign | format.infinity();
    }
    if format.is_infinite(c) {
        return c;
    }
    let (x, y) = (format.unpack(a), format.unpack(b));
    let product = Exact {
        negative: x.negative != y.negative,
        significand: x.significand * y.significand,
        exponent: x.exponent + y.exponent,
    };
    let sum = product.plus(format.unpack(c), round);
    Exact { exponent: sum.exponent + scale, ..sum }.round(format, round)
}

/// a + b.
pub(crate) fn add(format: Format, round: Round, a: u64, b: u64) -> u64 {
    let one = (format.bias() as u64) << format.fraction;
    fma(format, round, a, one, b)
}

/// a * b. The added zero has the sign of the product, so that it does not change a product that is zero.
pub(crate) fn mul(format: Format, round: Round, a: u64, b: u64) -> u64 {
    fma(format, round, a, b, (a ^ b) & format.sign_bit())
}

/// Converts a float to another format.
pub(crate) fn convert(from: Format, to: Format, round: Round, bits: u64) -> u64 {
    let sign = if bits & from.sign_bit() != 0 { to.sign_bit() } else { 0 };
    if from.is_nan(bits) {
        let fraction = bits & ((1 << from.fraction) - 1);
        let shift = i64::from(from.fraction) - i64::from(to.fraction);
        let fraction = if shift >= 0 { fraction >> shift } else { fraction << -shift };
        return to.quiet(sign | to.infinity() | fraction);
    }
    if from.is_infinite(bits) {
        return sign | to.infinity();
    }
    from.unpack(bits).round(to, round)
}

/// Converts an integer to a float.
pub(crate) fn from_int(to: Format, round: Round, negative: bool, magnitude: u64) -> u64 {
    Exact { negative, significand: u128::from(magnitude), exponent: 0 }.round(to, round)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small pseudorandom number generator, so that the test cases are the same on every machine.
    struct Bits(u64);

    impl Bits {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let x = self.0;
            (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ x >> 32
        }
    }

    fn same32(a: u32, b: f32) -> bool {
        a == b.to_bits() || f32::from_bits(a).is_nan() && b.is_nan()
    }

    #[test]
    fn nearest_even_agrees_with_the_host() {
        let mut bits = Bits(1);
        for _ in 0..200_000 {
            let (a, b) = (bits.next(), bits.next());
            // Close exponents make cancellation likely.
            let c = if a & 1 == 0 { bits.next() } else { (a as i64).wrapping_neg() as u64 ^ (b & 0xff) };
            let [x, y, z] = [a, b, c].map(|v| f32::from_bits(v as u32));
            let ours =
                fma(Format::F32, Round::NearestEven, a & 0xffff_ffff, b & 0xffff_ffff, c & 0xffff_ffff);
            assert!(same32(ours as u32, x.mul_add(y, z)), "{x:e} * {y:e} + {z:e}");
            assert!(same32(super::super::fma32(x, y, z).to_bits(), x.mul_add(y, z)), "{x:e} * {y:e} + {z:e}");
            let [x, y, z] = [a, b, c].map(f64::from_bits);
            let (ours, host) = (fma(Format::F64, Round::NearestEven, a, b, c), x.mul_add(y, z));
            assert!(ours == host.to_bits() || host.is_nan(), "{x:e} * {y:e} + {z:e}");
            let narrowed = convert(Format::F64, Format::F32, Round::NearestEven, a);
            assert!(same32(narrowed as u32, x as f32), "{x:e}");
        }
    }

    #[test]
    fn directed_modes_bracket_the_exact_value() {
        let mut bits = Bits(7);
        for _ in 0..50_000 {
            let [a, b] = [bits.next(), bits.next()].map(|v| f32::from_bits(v as u32));
            let exact = f64::from(a) * f64::from(b);
            if !exact.is_finite() {
                continue;
            }
            let [down, up, zero] = [Round::Down, Round::Up, Round::Zero].map(|r| {
                let bits = mul(Format::F32, r, u64::from(a.to_bits()), u64::from(b.to_bits()));
                f64::from(f32::from_bits(bits as u32))
            });
            assert!(down <= exact && exact <= up && zero.abs() <= exact.abs(), "{a:e} * {b:e}");
            let gap =
                f32::from_bits((down as f32).to_bits().wrapping_add(if down < 0.0 { u32::MAX } else { 1 }));
            assert!(down == up || up == f64::from(gap) || down == 0.0, "{a:e} * {b:e}: {down:e} {up:e}");
        }
    }

    #[test]
    fn half_precision_multiply_add_rounds_once() {
        let mut bits = Bits(3);
        for _ in 0..200_000 {
            let [a, b, c] = [(); 3].map(|()| bits.next() & 0xffff);
            let ours = super::super::fma16(
                super::super::f16_to_f32(a as u16),
                super::super::f16_to_f32(b as u16),
                super::super::f16_to_f32(c as u16),
            );
            let soft = fma(Format::F16, Round::NearestEven, a, b, c);
            assert!(u64::from(ours) == soft || soft & 0x7fff > 0x7c00, "{a:#x} {b:#x} {c:#x}");
        }
    }
}
