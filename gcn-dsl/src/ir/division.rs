//! Division of 32-bit integers, and of 64-bit integers by constants.
//!
//! A division by a constant becomes a multiplication by the reciprocal, rounded up to enough bits that every quotient
//! is exact (Granlund and Montgomery, *Division by Invariant Integers using Multiplication*, PLDI 1994). Any other
//! division multiplies by a reciprocal that is slightly too small, and corrects the quotient. Quotient and remainder of
//! the same operands share instructions, and so do divisions by the same divisor.

use gcn_isa::program::SourceLoc;

use super::build::Builder;
use super::{Bin, Inst, Pred, Type, Un, Value};
use crate::scalar::Elem;

/// A multiplier and the shift that follows the upper half of the product: `n * multiplier >> 32 >> shift`.
struct Reciprocal {
    /// The multiplier, below 2^33.
    multiplier: u64,
    shift: u32,
}

/// The reciprocal of `d` (not 0) for dividends of `bits` bits: the smallest multiplier that is exact for all
/// of them.
fn reciprocal(d: u32, bits: u32) -> Reciprocal {
    let (multiplier, shift) = reciprocal_of(d.into(), bits, 32);
    Reciprocal { multiplier: multiplier as u64, shift }
}

/// As `reciprocal`, for words of `width` bits; the multiplier has up to `width + 1` bits. For 64 bits, `d` must be at
/// most half the range.
fn reciprocal_of(d: u64, bits: u32, width: u32) -> (u128, u32) {
    let log = u64::BITS - (d - 1).leading_zeros();
    let power = 1u128 << (width + log);
    let (mut low, mut high) = (power / u128::from(d), (power + (power >> bits)) / u128::from(d));
    let mut shift = log;
    // Every multiplier in `low + 1..=high` is exact. Halving both bounds as long as an integer remains
    // between them gives the shortest one (Granlund and Montgomery, figure 6.2).
    while shift > 0 && low / 2 < high / 2 {
        (low, high, shift) = (low / 2, high / 2, shift - 1);
    }
    (high, shift)
}

/// `x / d` or `x % d` of type `ty`, which is u64 or i64. `d` is the divisor's bits, and is not 0.
pub fn by_constant_64(b: &mut Builder, op: Bin, x: Value, d: u64, ty: Type, loc: Option<SourceLoc>) -> Value {
    let mut expansion = Expansion { b, ty: Type { elem: Elem::U64, ..ty }, loc };
    let quotient = match ty.elem {
        Elem::I64 => expansion.signed_64(x, d as i64, ty),
        _ => expansion.unsigned_64(x, d),
    };
    if op == Bin::Div {
        return quotient;
    }
    expansion.ty = ty;
    let divisor = expansion.b.constant(d, ty);
    let product = expansion.op(Bin::Mul, quotient, divisor);
    expansion.op(Bin::Sub, x, product)
}

/// If `x * multiplier >> 32 >> shift` is a division of `x` for all `x` up to `max`: a factor and a shift that compute
/// the same with a 32-bit product. The factor and `max` are below 2^24. `None` otherwise.
pub fn in_24_bits(max: u32, multiplier: u32, shift: u32) -> Option<(u32, u32)> {
    let power = 32u32.checked_add(shift).and_then(|bits| 1u128.checked_shl(bits))?;
    let d = u32::try_from((power + u128::from(multiplier) / 2) / u128::from(multiplier.max(1))).ok()?;
    let whole = (d > 1).then(|| reciprocal(d, 32))?;
    if (whole.multiplier, whole.shift) != (u64::from(multiplier), shift) || max >= 1 << 24 {
        return None;
    }
    // The factor is `power / d` rounded up, so it is too large by `more / d`. The quotient `x / d` then grows by less
    // than `1 / d` as long as `more * x` is below `power`.
    (d.ilog2()..32).find_map(|shift| {
        let power = 1u64 << shift;
        let factor = power.div_ceil(u64::from(d));
        let more = factor * u64::from(d) - power;
        let exact = more * u64::from(max) < power && factor * u64::from(max) < 1 << 32;
        (exact && factor < 1 << 24).then_some((factor as u32, shift))
    })
}

/// `x / d` of type `ty`, which is u32 or i32. `d` is not 0 and, as a u32, not a power of two.
pub(super) fn by_constant(b: &mut Builder, x: Value, d: u32, ty: Type, loc: Option<SourceLoc>) -> Value {
    let mut expansion = Expansion { b, ty, loc };
    if ty.elem == Elem::I32 { expansion.signed(x, d as i32) } else { expansion.unsigned(x, d) }
}

/// `x / y` or `x % y` of type `ty`, which is u32 or i32.
pub(super) fn by_value(
    b: &mut Builder,
    op: Bin,
    [x, y]: [Value; 2],
    ty: Type,
    loc: Option<SourceLoc>,
) -> Value {
    let mut expansion = Expansion { b, ty: Type { elem: Elem::U32, ..ty }, loc };
    if ty.elem == Elem::U32 { expansion.natural(op, x, y) } else { expansion.of_magnitudes(op, [x, y], ty) }
}

struct Expansion<'b> {
    b: &'b mut Builder,
    ty: Type,
    loc: Option<SourceLoc>,
}

impl Expansion<'_> {
    fn op(&mut self, op: Bin, x: Value, y: Value) -> Value {
        self.b.value(Inst::Bin(op, x, y), self.ty, self.loc)
    }

    fn with(&mut self, op: Bin, x: Value, constant: u32) -> Value {
        let constant = self.b.constant(constant.into(), self.ty);
        self.op(op, x, constant)
    }

    /// A right shift of a signed value that shifts in zeros.
    fn logical_right(&mut self, x: Value, by: u32) -> Value {
        let unsigned = Type { elem: Elem::U32, ..self.ty };
        let x = self.b.value(Inst::Bitcast(x), unsigned, self.loc);
        let by = self.b.constant(by.into(), unsigned);
        let shifted = self.b.value(Inst::Bin(Bin::Shr, x, by), unsigned, self.loc);
        self.b.value(Inst::Bitcast(shifted), self.ty, self.loc)
    }

    /// Unsigned division. The estimate of the quotient is too small by at most two, so two corrections by comparison
    /// are enough.
    fn natural(&mut self, op: Bin, x: Value, y: Value) -> Value {
        let reciprocal = self.b.value(Inst::Un(Un::Reciprocal, y), self.ty, self.loc);
        let mut quotient = self.op(Bin::MulHi, x, reciprocal);
        let product = self.op(Bin::Mul, quotient, y);
        let mut rest = self.op(Bin::Sub, x, product);
        let condition = Type { elem: Elem::Bool, ..self.ty };
        for _ in 0..2 {
            let over = self.b.value(Inst::Cmp(Pred::Ge, rest, y), condition, self.loc);
            let (more, less) = (self.with(Bin::Add, quotient, 1), self.op(Bin::Sub, rest, y));
            quotient = self.b.value(Inst::Select(over, more, quotient), self.ty, self.loc);
            rest = self.b.value(Inst::Select(over, less, rest), self.ty, self.loc);
        }
        if op == Bin::Div { quotient } else { rest }
    }

    /// Signed division: divides the magnitudes, then applies the sign. The remainder has the dividend's sign,
    /// as in Rust.
    fn of_magnitudes(&mut self, op: Bin, operands: [Value; 2], ty: Type) -> Value {
        let [(x, x_sign), (y, y_sign)] = operands.map(|v| {
            let places = self.b.constant(31, ty);
            let sign = self.b.value(Inst::Bin(Bin::Shr, v, places), ty, self.loc);
            let [v, sign] = [v, sign].map(|v| self.b.value(Inst::Bitcast(v), self.ty, self.loc));
            (self.signed_by(v, sign), sign)
        });
        let result = self.natural(op, x, y);
        let sign = if op == Bin::Div { self.op(Bin::Xor, x_sign, y_sign) } else { x_sign };
        let result = self.signed_by(result, sign);
        self.b.value(Inst::Bitcast(result), ty, self.loc)
    }

    /// `-v` if `sign` is all ones, `v` if it is 0.
    fn signed_by(&mut self, v: Value, sign: Value) -> Value {
        let flipped = self.op(Bin::Xor, v, sign);
        self.op(Bin::Sub, flipped, sign)
    }

    /// The upper half of the 128-bit product of `x` and a constant.
    fn upper_64(&mut self, x: Value, factor: u64) -> Value {
        let factor = self.b.constant(factor, self.ty);
        self.op(Bin::MulHi, x, factor)
    }

    fn right_64(&mut self, x: Value, by: u32) -> Value {
        let by = self.b.constant(by.into(), Type { elem: Elem::U32, ..self.ty });
        self.op(Bin::Shr, x, by)
    }

    /// As [`Expansion::unsigned`], for 64-bit dividends.
    fn unsigned_64(&mut self, x: Value, d: u64) -> Value {
        if d.is_power_of_two() {
            return self.right_64(x, d.trailing_zeros());
        }
        if d > 1 << 63 {
            // The divisor is so large that the quotient is 0 or 1.
            let divisor = self.b.constant(d, self.ty);
            let condition = Type { elem: Elem::Bool, ..self.ty };
            let reaches = self.b.value(Inst::Cmp(Pred::Ge, x, divisor), condition, self.loc);
            let [one, none] = [1, 0].map(|n| self.b.constant(n, self.ty));
            return self.b.value(Inst::Select(reaches, one, none), self.ty, self.loc);
        }
        let (multiplier, shift) = reciprocal_of(d, 64, 64);
        if let Ok(multiplier) = u64::try_from(multiplier) {
            let product = self.upper_64(x, multiplier);
            return self.right_64(product, shift);
        }
        let twos = d.trailing_zeros();
        if twos > 0 {
            let (multiplier, shift) = reciprocal_of(d >> twos, 64 - twos, 64);
            let half = self.right_64(x, twos);
            let product = self.upper_64(half, multiplier as u64);
            return self.right_64(product, shift);
        }
        let product = self.upper_64(x, multiplier as u64);
        let rest = self.op(Bin::Sub, x, product);
        let half = self.right_64(rest, 1);
        let sum = self.op(Bin::Add, half, product);
        self.right_64(sum, shift - 1)
    }

    /// Divides the magnitudes, then applies the sign.
    fn signed_64(&mut self, x: Value, d: i64, ty: Type) -> Value {
        let places = self.b.constant(63, Type { elem: Elem::U32, ..ty });
        let sign = self.b.value(Inst::Bin(Bin::Shr, x, places), ty, self.loc);
        let [x, sign] = [x, sign].map(|v| self.b.value(Inst::Bitcast(v), self.ty, self.loc));
        let magnitude = self.signed_by(x, sign);
        let quotient = self.unsigned_64(magnitude, d.unsigned_abs());
        let quotient = self.signed_by(quotient, sign);
        let quotient = match d < 0 {
            true => {
                let zero = self.b.constant(0, self.ty);
                self.op(Bin::Sub, zero, quotient)
            }
            false => quotient,
        };
        self.b.value(Inst::Bitcast(quotient), ty, self.loc)
    }

    fn unsigned(&mut self, x: Value, d: u32) -> Value {
        let whole = reciprocal(d, 32);
        if let Ok(multiplier) = u32::try_from(whole.multiplier) {
            let product = self.with(Bin::MulHi, x, multiplier);
            return self.with(Bin::Shr, product, whole.shift);
        }
        // The multiplier would have 33 bits. If the divisor is even, shift its powers of two out of the dividend first:
        // the dividend then has fewer bits, and a multiplier of 32 bits is enough.
        let twos = d.trailing_zeros();
        if twos > 0 {
            let Reciprocal { multiplier, shift } = reciprocal(d >> twos, 32 - twos);
            let half = self.with(Bin::Shr, x, twos);
            let product = self.with(Bin::MulHi, half, multiplier as u32);
            return self.with(Bin::Shr, product, shift);
        }
        // The multiplier has 33 bits, and `x + product` may carry out. Half of the sum,
        // `(x - product) / 2 + product`, does not.
        let product = self.with(Bin::MulHi, x, whole.multiplier as u32);
        let rest = self.op(Bin::Sub, x, product);
        let half = self.with(Bin::Shr, rest, 1);
        let sum = self.op(Bin::Add, half, product);
        self.with(Bin::Shr, sum, whole.shift - 1)
    }

    fn signed(&mut self, x: Value, d: i32) -> Value {
        let size = d.unsigned_abs();
        let quotient = if size == 1 {
            x
        } else if size.is_power_of_two() {
            // A right shift rounds down. Adding `d - 1` to negative dividends makes it round towards 0.
            let log = size.trailing_zeros();
            let sign = self.with(Bin::Shr, x, log - 1);
            let more = self.logical_right(sign, 32 - log);
            let sum = self.op(Bin::Add, x, more);
            self.with(Bin::Shr, sum, log)
        } else {
            let Reciprocal { multiplier, shift } = reciprocal(size, 31);
            // A multiplier of 2^31 or more is negative as a signed number, that is, too small by 2^32. Adding `x` to
            // the upper half corrects that.
            let product = self.with(Bin::MulHi, x, multiplier as u32);
            let product = if multiplier < 1 << 31 { product } else { self.op(Bin::Add, product, x) };
            let down = self.with(Bin::Shr, product, shift);
            let sign = self.with(Bin::Shr, x, 31);
            self.op(Bin::Sub, down, sign)
        };
        if d > 0 {
            return quotient;
        }
        let zero = self.b.constant(0, self.ty);
        self.op(Bin::Sub, zero, quotient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_in_24_bits_are_exact() {
        let mut found = 0;
        for d in (2..600u32).filter(|d| !d.is_power_of_two()) {
            let Reciprocal { multiplier, shift } = reciprocal(d, 32);
            let Ok(multiplier) = u32::try_from(multiplier) else { continue };
            for max in [0, 1, d - 1, d, 255, 1023, 4095, 65535] {
                if let Some((factor, shift)) = in_24_bits(max, multiplier, shift) {
                    found += 1;
                    assert!((0..=max).all(|x| (x * factor) >> shift == x / d), "{max} / {d}");
                }
            }
        }
        // A multiplication by any other constant is not a division, so the result is `None`.
        assert!(
            found > 2000
                && in_24_bits(255, 0x1234_5678, 0).is_none()
                && in_24_bits(1 << 24, 0xaaaa_aaab, 1).is_none()
        );
    }
}
