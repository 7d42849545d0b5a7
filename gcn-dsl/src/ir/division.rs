//! Division of 32-bit integers: by constants a multiplication by the reciprocal, rounded up to as many bits as make every quotient
//! exact (Granlund and Montgomery, *Division by Invariant Integers using Multiplication*, PLDI 1994); by other values one by a
//! reciprocal that is too small, and corrections. Quotient and remainder share what they can, and so do divisions by one
//! divisor.

use gcn_isa::program::SourceLoc;

use super::build::Builder;
use super::{Bin, Inst, Pred, Type, Un, Value};
use crate::scalar::Elem;

/// A multiplier and the shift after the upper half of the product: `n * multiplier >> 32 >> shift`.
struct Reciprocal {
    /// Below 2^33.
    multiplier: u64,
    shift: u32,
}

/// The reciprocal of `d`, not 0, for dividends of so many bits: the smallest multiplier that is enough.
fn reciprocal(d: u32, bits: u32) -> Reciprocal {
    let log = 32 - (d - 1).leading_zeros();
    let power = 1u128 << (32 + log);
    let (mut low, mut high) = (power / u128::from(d), (power + (power >> bits)) / u128::from(d));
    let mut shift = log;
    while shift > 0 && low / 2 < high / 2 {
        (low, high, shift) = (low / 2, high / 2, shift - 1);
    }
    Reciprocal { multiplier: high as u64, shift }
}

/// `x / d` of type `ty`, which is u32 or i32; `d` is not 0, and as a u32 no power of two.
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

    /// The shift that fills with zeros, of a signed value.
    fn logical_right(&mut self, x: Value, by: u32) -> Value {
        let unsigned = Type { elem: Elem::U32, ..self.ty };
        let x = self.b.value(Inst::Bitcast(x), unsigned, self.loc);
        let by = self.b.constant(by.into(), unsigned);
        let shifted = self.b.value(Inst::Bin(Bin::Shr, x, by), unsigned, self.loc);
        self.b.value(Inst::Bitcast(shifted), self.ty, self.loc)
    }

    /// The quotient by the reciprocal is at most two too small, which two steps that compare and correct repair.
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

    /// Signed division: of magnitudes, then the sign; the remainder has the dividend's sign, as in Rust.
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

    /// `v`, or `-v` where `sign` is all ones.
    fn signed_by(&mut self, v: Value, sign: Value) -> Value {
        let flipped = self.op(Bin::Xor, v, sign);
        self.op(Bin::Sub, flipped, sign)
    }

    fn unsigned(&mut self, x: Value, d: u32) -> Value {
        let whole = reciprocal(d, 32);
        if let Ok(multiplier) = u32::try_from(whole.multiplier) {
            let product = self.with(Bin::MulHi, x, multiplier);
            return self.with(Bin::Shr, product, whole.shift);
        }
        // An even divisor's factor of two goes first, so that the dividend has fewer bits, and 32 are enough.
        let twos = d.trailing_zeros();
        if twos > 0 {
            let Reciprocal { multiplier, shift } = reciprocal(d >> twos, 32 - twos);
            let half = self.with(Bin::Shr, x, twos);
            let product = self.with(Bin::MulHi, half, multiplier as u32);
            return self.with(Bin::Shr, product, shift);
        }
        // The multiplier has 33 bits: x + product has, too, so that half of it is computed without the carry.
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
            // Rounding goes down; negative dividends need d - 1 more to round towards 0.
            let log = size.trailing_zeros();
            let sign = self.with(Bin::Shr, x, log - 1);
            let more = self.logical_right(sign, 32 - log);
            let sum = self.op(Bin::Add, x, more);
            self.with(Bin::Shr, sum, log)
        } else {
            let Reciprocal { multiplier, shift } = reciprocal(size, 31);
            // From 2^31 on it is negative as a signed number, by 2^32 too small.
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
