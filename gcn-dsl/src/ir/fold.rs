//! Folding while the IR is built: constants, identities, and reassociations that simplify addresses.
//!
//! Integer arithmetic wraps, as in Rust's release builds, so integer sums may be reassociated. Constant parts are moved
//! to the outside of sums, so that accesses whose offsets differ by constants have a common base; `merge` and the
//! offset fields of instructions need that. Operations on floats are folded only if they merely move bits: any other
//! result would have to be exact and independent of the rounding mode.

mod select;

use gcn_isa::program::SourceLoc;

use super::build::Builder;
use super::evaluate::{eval, holds};
use super::{Bin, Inst, Manner, Memory, Place, Pred, Type, Un, Value, division, patterns};
use crate::scalar::Elem;

pub(crate) use select::is_choice;

/// The result of folding.
pub(super) enum Folded {
    /// The result is an existing value.
    Value(Value),
    /// The result is this instruction, which must still be appended.
    Inst(Inst),
}

impl Builder {
    /// Folds an instruction with a result, then appends it, or returns an equal value that is already available.
    pub fn value(&mut self, inst: Inst, ty: Type, loc: Option<SourceLoc>) -> Value {
        match fold(self, inst, ty, loc) {
            Folded::Value(v) => v,
            Folded::Inst(inst) => self.share(inst, ty, loc),
        }
    }
}

/// Simplifies `inst`, whose result has type `ty`.
fn fold(b: &mut Builder, inst: Inst, ty: Type, loc: Option<SourceLoc>) -> Folded {
    match inst {
        Inst::Splat(v) => splat(b, v, ty),
        Inst::ReadFirstLane(v) => read_first_lane(b, v, ty),
        Inst::Bin(op, x, y) if is_int32(ty) => match bin(b, op, x, y, ty, loc) {
            Folded::Inst(inst) => Folded::Inst(patterns::of_bits(b, inst, ty)),
            folded => folded,
        },
        Inst::Bin(op, x, y) if ty.count == 1 && matches!(ty.elem, Elem::I64 | Elem::U64) => {
            bin_64(b, op, x, y, ty)
        }
        Inst::Bin(op @ (Bin::Div | Bin::Rem), x, y) if ty.is_narrow_integer() => {
            narrow_division(b, op, [x, y], ty, loc)
        }
        Inst::Bin(op @ (Bin::And | Bin::Or), x, y) if is_condition(ty) => logic(b, op, x, y),
        Inst::Bin(Bin::Sub, x, y) => Folded::Inst(match negative(b, y) {
            Some(bits) => Inst::Bin(Bin::Add, x, b.constant(bits, ty)),
            None => inst,
        }),
        Inst::Un(Un::Not, x) if is_condition(ty) => match b.as_const(x) {
            Some(bits) => Folded::Inst(Inst::Const(u64::from(bits == 0))),
            None => Folded::Inst(inst),
        },
        Inst::Cmp(pred, x, y) => cmp(b, pred, x, y),
        Inst::Select(c, x, y) => select::select(b, c, [x, y], ty, loc),
        Inst::Cast(v) | Inst::Bitcast(v) if b.kernel().ty(v) == ty => Folded::Value(v),
        Inst::Cast(v) if is_int32(ty) && is_int32(b.kernel().ty(v)) => Folded::Inst(match b.as_const(v) {
            Some(bits) => Inst::Const(bits),
            None => Inst::Bitcast(v),
        }),
        Inst::Cast(v) => cast(b, v, ty),
        Inst::Bitcast(v) => match b.as_const(v) {
            // The IR has mask constants only for all lanes and for no lane, so a bitcast to a mask is not folded.
            _ if ty.elem == Elem::Bool => Folded::Inst(inst),
            Some(bits) => Folded::Inst(Inst::Const(bits)),
            None => Folded::Inst(inst),
        },
        Inst::Extract { from, dword } => extract(b, from, dword, ty),
        inst => Folded::Inst(inst),
    }
}

fn is_int32(ty: Type) -> bool {
    ty.count == 1 && matches!(ty.elem, Elem::I32 | Elem::U32)
}

fn is_condition(ty: Type) -> bool {
    ty.count == 1 && ty.elem == Elem::Bool
}

/// Folds `&&` or `||` if one side is known.
fn logic(b: &Builder, op: Bin, x: Value, y: Value) -> Folded {
    let (known, other) = match (b.as_const(x), b.as_const(y)) {
        (Some(bits), _) => (bits != 0, y),
        (None, Some(bits)) => (bits != 0, x),
        (None, None) => return Folded::Inst(Inst::Bin(op, x, y)),
    };
    // `true && x` and `false || x` are `x`; any other constant decides the result.
    if known == (op == Bin::And) { Folded::Value(other) } else { Folded::Inst(Inst::Const(known.into())) }
}

/// Replaces a division of integers of fewer than 32 bits by one of 32-bit integers.
fn narrow_division(b: &mut Builder, op: Bin, [x, y]: [Value; 2], ty: Type, loc: Option<SourceLoc>) -> Folded {
    let wide = Type { elem: if ty.elem.is_signed() { Elem::I32 } else { Elem::U32 }, ..ty };
    let divisor = match b.as_const(y) {
        Some(bits) => {
            // Extend the constant from its width to 32 bits.
            let above = 32 - 8 * ty.elem.bytes();
            let shifted = (bits as u32) << above;
            let value = if ty.elem.is_signed() {
                (shifted.cast_signed() >> above).cast_unsigned()
            } else {
                shifted >> above
            };
            b.constant(u64::from(value), wide)
        }
        None => b.value(Inst::Cast(y), wide, loc),
    };
    let x = b.value(Inst::Cast(x), wide, loc);
    let result = b.value(Inst::Bin(op, x, divisor), wide, loc);
    Folded::Inst(Inst::Cast(result))
}

fn splat(b: &mut Builder, v: Value, ty: Type) -> Folded {
    let from = b.kernel().ty(v);
    if from.place == ty.place {
        return Folded::Value(v);
    }
    match b.kernel().def(v).inst {
        _ if b.is_undefined(v) => Folded::Value(b.undefined(ty)),
        Inst::Const(bits) => Folded::Inst(Inst::Const(bits)),
        // The loaded value is the same in all lanes, and already uniform.
        Inst::ReadFirstLane(of) if b.kernel().ty(of) == ty && is_uniform_load(b, of) => Folded::Value(of),
        _ => Folded::Inst(Inst::Splat(v)),
    }
}

/// The first lane's part of a uniform value that was converted to a varying one is that value.
fn read_first_lane(b: &Builder, v: Value, ty: Type) -> Folded {
    match b.kernel().def(v).inst {
        Inst::Splat(of) if b.kernel().ty(of) == ty => Folded::Value(of),
        Inst::Const(bits) => Folded::Inst(Inst::Const(bits)),
        _ => Folded::Inst(Inst::ReadFirstLane(v)),
    }
}

fn extract(b: &mut Builder, from: Value, dword: u8, ty: Type) -> Folded {
    let source = b.kernel().ty(from);
    if dword == 0 && source.dwords() == ty.dwords() && source.place == ty.place {
        return if source == ty { Folded::Value(from) } else { Folded::Inst(Inst::Bitcast(from)) };
    }
    if let Inst::Concat(parts) = &b.kernel().def(from).inst {
        let mut at = 0;
        for &part in parts {
            let part_ty = b.kernel().ty(part);
            if at == dword && part_ty.dwords() == ty.dwords() {
                return if part_ty == ty { Folded::Value(part) } else { Folded::Inst(Inst::Bitcast(part)) };
            }
            at += part_ty.dwords();
        }
    }
    Folded::Inst(Inst::Extract { from, dword })
}

fn bin(b: &mut Builder, op: Bin, x: Value, y: Value, ty: Type, loc: Option<SourceLoc>) -> Folded {
    let (cx, cy) = (b.as_const(x).map(|c| c as u32), b.as_const(y).map(|c| c as u32));
    if let (Some(cx), Some(cy)) = (cx, cy)
        && let Some(c) = eval(op, cx, cy, ty.elem)
    {
        return Folded::Inst(Inst::Const(u64::from(c)));
    }
    // Put constants on the right, where the rules below expect them.
    if cx.is_some() && cy.is_none() && matches!(op, Bin::Add | Bin::Mul | Bin::And | Bin::Or | Bin::Xor) {
        return bin(b, op, y, x, ty, loc);
    }
    // If both operands are uniform values that were converted to varying, compute the result once for the wave on the
    // scalar unit.
    if let Some(scalar) = uniform_operands(b, op, x, y, ty) {
        let result = b.value(Inst::Bin(op, scalar[0], scalar[1]), Type { place: Place::Uniform, ..ty }, loc);
        return splat(b, result, ty);
    }
    let Some(c) = cy else {
        return match op {
            Bin::Mul => product_of_sum(b, x, y, ty, loc),
            Bin::Div | Bin::Rem => Folded::Value(division::by_value(b, op, [x, y], ty, loc)),
            _ => sum_with_constant(b, op, x, y, ty, loc),
        };
    };
    if keeps_left(b, op, x, c, ty) {
        return Folded::Value(x);
    }
    let mut constant = |c: u32| b.constant(u64::from(c), ty);
    match (op, c) {
        (Bin::Add | Bin::Sub | Bin::Or | Bin::Xor | Bin::Shl | Bin::Shr, 0)
        | (Bin::Mul | Bin::Div, 1)
        | (Bin::And, u32::MAX) => Folded::Value(x),
        (Bin::Mul | Bin::And, 0) => Folded::Inst(Inst::Const(0)),
        (Bin::Rem, 1) => Folded::Inst(Inst::Const(0)),
        // Turn a subtraction of a constant into an addition, so that constants can be combined.
        (Bin::Sub, _) => {
            let minus = constant(c.wrapping_neg());
            bin(b, Bin::Add, x, minus, ty, loc)
        }
        (Bin::Mul, _) if c.is_power_of_two() => {
            let k = constant(c.trailing_zeros());
            shift_left(b, x, k, c.trailing_zeros(), ty, loc)
        }
        (Bin::Mul, _) => match (plus_constant(b, x), negated(b, x)) {
            // -x * c = x * -c.
            (_, Some(inner)) => {
                let minus = b.constant(u64::from(c.wrapping_neg()), ty);
                bin(b, Bin::Mul, inner, minus, ty, loc)
            }
            // (x + c1) * c2 = x * c2 + c1 * c2 in wrapping arithmetic. Multiplying first moves the constant to the
            // outside.
            (Some((inner, c1)), None) => {
                let product = b.value(Inst::Bin(Bin::Mul, inner, y), ty, loc);
                let c = b.constant(u64::from(c.wrapping_mul(c1)), ty);
                bin(b, Bin::Add, product, c, ty, loc)
            }
            (None, None) => Folded::Inst(Inst::Bin(op, x, y)),
        },
        (Bin::Shl, _) => shift_left(b, x, y, c, ty, loc),
        (Bin::Div, _) if ty.elem == Elem::U32 && c.is_power_of_two() => {
            let k = constant(c.trailing_zeros());
            Folded::Inst(Inst::Bin(Bin::Shr, x, k))
        }
        (Bin::Rem, _) if ty.elem == Elem::U32 && c.is_power_of_two() => {
            let mask = constant(c - 1);
            Folded::Inst(Inst::Bin(Bin::And, x, mask))
        }
        (Bin::Div, 1..) => Folded::Value(division::by_constant(b, x, c, ty, loc)),
        // x % c = x - x / c * c. The quotient is shared with a division by the same constant.
        (Bin::Rem, 1..) => {
            let quotient = b.value(Inst::Bin(Bin::Div, x, y), ty, loc);
            let product = b.value(Inst::Bin(Bin::Mul, quotient, y), ty, loc);
            Folded::Value(b.value(Inst::Bin(Bin::Sub, x, product), ty, loc))
        }
        (Bin::Div | Bin::Rem, 0) => Folded::Value(division::by_value(b, op, [x, y], ty, loc)),
        // (x + c1) + c2 = x + (c1 + c2).
        (Bin::Add, _) => match plus_constant(b, x) {
            Some((inner, c1)) => {
                let sum = b.constant(u64::from(c.wrapping_add(c1)), ty);
                bin(b, Bin::Add, inner, sum, ty, loc)
            }
            None => Folded::Inst(Inst::Bin(op, x, y)),
        },
        _ => Folded::Inst(Inst::Bin(op, x, y)),
    }
}

/// True if the known bounds of `x` show that `x op c` is `x`.
fn keeps_left(b: &Builder, op: Bin, x: Value, c: u32, ty: Type) -> bool {
    let alike = |high: u32| ty.elem == Elem::U32 || high.max(c) <= i32::MAX.cast_unsigned();
    match op {
        Bin::Min | Bin::Max => {
            let known = b.bounds(x);
            alike(known.high) && if op == Bin::Min { known.high <= c } else { known.low >= c }
        }
        // A mask of the low bits.
        Bin::And => c & c.wrapping_add(1) == 0 && b.bounds(x).high <= c,
        _ => false,
    }
}

/// The mask of the lower half of 64 bits.
const LOWER: u64 = 0xffff_ffff;

/// Replaces a shift of 64 bits by 32 or more by a shift of one half: `(t >> 32) as u32` is simply a register of `t`.
fn shift_of_half(b: &mut Builder, op: Bin, x: Value, c: u32, ty: Type) -> Inst {
    let word = Type { elem: Elem::U32, ..ty };
    let from = u8::from(op == Bin::Shr);
    let half = b.value(Inst::Extract { from: x, dword: from }, word, None);
    let (count, zero) = (b.constant((c - 32).into(), word), b.constant(0, word));
    let half = b.value(Inst::Bin(op, half, count), word, None);
    let parts = if op == Bin::Shr { [half, zero] } else { [zero, half] };
    Inst::Concat(parts.into_iter().collect())
}

/// Folds a conversion to an integer of another width if the operand is constant, or if the result is the lower half of
/// the operand.
fn cast(b: &mut Builder, v: Value, ty: Type) -> Folded {
    let from = b.kernel().ty(v);
    let wide = |ty: Type| ty.count == 1 && matches!(ty.elem, Elem::I64 | Elem::U64);
    match b.as_const(v) {
        Some(bits) if is_int32(from) && wide(ty) => {
            let word = bits as u32;
            let signs = from.elem == Elem::I32;
            let bits = if signs { i64::from(word.cast_signed()).cast_unsigned() } else { word.into() };
            Folded::Inst(Inst::Const(bits))
        }
        Some(bits) if wide(from) && is_int32(ty) => Folded::Inst(Inst::Const(bits & LOWER)),
        _ if wide(from) && is_int32(ty) && matches!(b.kernel().def(v).inst, Inst::Concat(_)) => {
            extract(b, v, 0, ty)
        }
        _ => Folded::Inst(Inst::Cast(v)),
    }
}

/// Folds operations on 64-bit integers, which occur in pointer arithmetic.
fn bin_64(b: &mut Builder, op: Bin, x: Value, y: Value, ty: Type) -> Folded {
    let (cx, cy) = (b.as_const(x), b.as_const(y));
    let folded = match (op, cx, cy) {
        (Bin::Add, Some(x), Some(y)) => x.wrapping_add(y),
        (Bin::Sub, Some(x), Some(y)) => x.wrapping_sub(y),
        (Bin::Mul, Some(x), Some(y)) => x.wrapping_mul(y),
        (Bin::Mul, Some(0), _) | (Bin::Mul, _, Some(0)) => 0,
        (Bin::Add | Bin::Sub | Bin::Or | Bin::Xor | Bin::Shl | Bin::Shr, _, Some(0)) => {
            return Folded::Value(x);
        }
        (Bin::Mul, _, Some(1)) => return Folded::Value(x),
        (Bin::Add | Bin::Mul | Bin::And | Bin::Or | Bin::Xor, Some(_), None) => {
            return bin_64(b, op, y, x, ty);
        }
        (Bin::And, _, Some(LOWER)) => {
            let word = Type { elem: Elem::U32, ..ty };
            let (low, zero) = (b.value(Inst::Extract { from: x, dword: 0 }, word, None), b.constant(0, word));
            return Folded::Inst(Inst::Concat([low, zero].into_iter().collect()));
        }
        (Bin::Mul, _, Some(c)) if c.is_power_of_two() => {
            let count = b.constant(c.trailing_zeros().into(), Type { elem: Elem::U32, ..ty });
            return Folded::Inst(Inst::Bin(Bin::Shl, x, count));
        }
        (Bin::Shl | Bin::Shr, _, Some(c))
            if ty.place == Place::Varying && c & 63 >= 32 && (op == Bin::Shl || ty.elem == Elem::U64) =>
        {
            return Folded::Inst(shift_of_half(b, op, x, c as u32 & 63, ty));
        }
        (Bin::Add, None, None) => return Folded::Inst(sum_with_words(b, [x, y], ty)),
        _ => return Folded::Inst(Inst::Bin(op, x, y)),
    };
    Folded::Inst(Inst::Const(folded))
}

/// `(a * b + x) + y` with 32-bit `x` and `y` becomes `a * b + (x + y)`: the sum of two words is one addition with
/// carry, and the instruction that computes the product also adds the sum.
fn sum_with_words(b: &mut Builder, sides: [Value; 2], ty: Type) -> Inst {
    let is_word = |b: &Builder, v: Value| b.as_const(v).is_none() && b.kernel().has_zero_above(v);
    let [x, y] = sides;
    for (sum, word) in [(x, y), (y, x)] {
        let Inst::Bin(Bin::Add, p, q) = b.kernel().def(sum).inst else { continue };
        for (product, other) in [(p, q), (q, p)] {
            let multiplies = matches!(b.kernel().def(product).inst, Inst::Bin(Bin::Mul, ..));
            if ty.place == Place::Varying && multiplies && is_word(b, other) && is_word(b, word) {
                let words = b.value(Inst::Bin(Bin::Add, other, word), ty, None);
                return Inst::Bin(Bin::Add, product, words);
            }
        }
    }
    Inst::Bin(Bin::Add, x, y)
}

/// True for a load from the same address in all lanes.
fn is_uniform_load(b: &Builder, v: Value) -> bool {
    let Inst::Load { memory, offset, manner: Manner::Plain } = b.kernel().def(v).inst else { return false };
    let one = matches!(b.kernel().def(offset).inst, Inst::Splat(_) | Inst::Const(_));
    one && matches!(memory, Memory::Buffer(_) | Memory::Global(_) | Memory::Lds(_))
}

/// If both operands are uniform values that were converted to varying, and a scalar instruction can do the operation:
/// the uniform values.
fn uniform_operands(b: &mut Builder, op: Bin, x: Value, y: Value, ty: Type) -> Option<[Value; 2]> {
    if ty.place != Place::Varying || matches!(op, Bin::Div | Bin::Rem) {
        return None;
    }
    let inner = |b: &Builder, v: Value| match b.kernel().def(v).inst {
        Inst::Splat(inner) => Some(inner),
        _ => None,
    };
    let scalar = Type { place: Place::Uniform, ..ty };
    match (inner(b, x), inner(b, y), b.as_const(x), b.as_const(y)) {
        (Some(x), Some(y), ..) => Some([x, y]),
        (Some(x), None, _, Some(c)) => Some([x, b.constant(c, scalar)]),
        (None, Some(y), Some(c), _) => Some([b.constant(c, scalar), y]),
        _ => None,
    }
}

/// (x + c) + y = (x + y) + c. This moves constants to the outside even if `x + c` is uniform and `y` is not: accesses
/// whose offsets differ by constants then have one base.
fn sum_with_constant(
    b: &mut Builder,
    op: Bin,
    x: Value,
    y: Value,
    ty: Type,
    loc: Option<SourceLoc>,
) -> Folded {
    let apart = |b: &Builder, v: Value| match b.kernel().def(v).inst {
        Inst::Splat(inner) => plus_constant(b, inner),
        _ => plus_constant(b, v),
    };
    if op == Bin::Add {
        for (with, other) in [(x, y), (y, x)] {
            if let Some((lanes, rest)) = plus_uniform(b, with)
                && moves_past(b, other)
            {
                let sum = b.value(Inst::Bin(Bin::Add, lanes, other), ty, loc);
                return bin(b, Bin::Add, sum, rest, ty, loc);
            }
            if let Some((inner, c)) = apart(b, with) {
                let inner = b.value(Inst::Splat(inner), ty, loc);
                let sum = b.value(Inst::Bin(Bin::Add, inner, other), ty, loc);
                let c = b.constant(u64::from(c), ty);
                return bin(b, Bin::Add, sum, c, ty, loc);
            }
        }
    }
    Folded::Inst(Inst::Bin(op, x, y))
}

/// If `v` is a sum that [`product_of_sum`] made: its operands, a varying product and a uniform part. The uniform part
/// is moved to the outside of sums, as constants are, so that rows at uniform distances share the rest of the address.
fn plus_uniform(b: &Builder, v: Value) -> Option<(Value, Value)> {
    let def = |v: Value| &b.kernel().def(v).inst;
    let Inst::Bin(Bin::Add, product, rest) = *def(v) else { return None };
    let apart = matches!(def(product), Inst::Bin(Bin::Mul, ..)) && matches!(def(rest), Inst::Splat(_));
    apart.then_some((product, rest))
}

/// True if a uniform part may be moved to the outside of a sum whose other operand is `v`. Moving it does not pay if
/// `v` is uniform, constant or read from a variable, because `v` may then be the only part of the sum that a loop
/// changes.
fn moves_past(b: &Builder, v: Value) -> bool {
    let kernel = b.kernel();
    match kernel.def(v).inst {
        Inst::Splat(_) | Inst::Const(_) | Inst::Read(_) => false,
        Inst::Bin(Bin::Add, x, y) => [x, y].into_iter().all(|v| !matches!(kernel.def(v).inst, Inst::Read(_))),
        _ => kernel.ty(v).place == Place::Varying,
    }
}

/// (x + c) * u = x * u + c * u for varying `x` and uniform `u`. Rows at constant distances then share the varying
/// product, and the added part is computed once for the wave.
fn product_of_sum(b: &mut Builder, x: Value, y: Value, ty: Type, loc: Option<SourceLoc>) -> Folded {
    for (sum, factor) in [(x, y), (y, x)] {
        if let (Some((inner, c)), Inst::Splat(uniform)) =
            (plus_constant(b, sum), &b.kernel().def(factor).inst)
        {
            let (uniform, scalar) = (*uniform, Type { place: Place::Uniform, ..ty });
            let lanes = b.value(Inst::Bin(Bin::Mul, inner, factor), ty, loc);
            let c = b.constant(u64::from(c), scalar);
            let rest = b.value(Inst::Bin(Bin::Mul, uniform, c), scalar, loc);
            let rest = b.value(Inst::Splat(rest), ty, loc);
            return Folded::Inst(Inst::Bin(Bin::Add, lanes, rest));
        }
    }
    Folded::Inst(Inst::Bin(Bin::Mul, x, y))
}

/// (x + c) << k = (x << k) + (c << k) in wrapping arithmetic. The byte offsets of neighbouring elements then differ by
/// a constant.
fn shift_left(b: &mut Builder, x: Value, k: Value, shift: u32, ty: Type, loc: Option<SourceLoc>) -> Folded {
    if shift < 32
        && let Some((inner, c)) = plus_constant(b, x)
    {
        let shifted = b.value(Inst::Bin(Bin::Shl, inner, k), ty, loc);
        let c = b.constant(u64::from(c << shift), ty);
        return bin(b, Bin::Add, shifted, c, ty, loc);
    }
    // (x << c) << k = x << (c + k).
    if let Inst::Bin(Bin::Shl, inner, c) = b.kernel().def(x).inst
        && let Some(c) = b.as_const(c)
        && c < 32
        && shift < 32
    {
        // The total count may be 32 or more, for which the result is 0; a single shift by that count would be wrong,
        // because the hardware masks it.
        let both = c as u32 + shift;
        if both >= 32 {
            return Folded::Inst(Inst::Const(0));
        }
        let both = b.constant(u64::from(both), ty);
        return Folded::Inst(Inst::Bin(Bin::Shl, inner, both));
    }
    Folded::Inst(Inst::Bin(Bin::Shl, x, k))
}

/// If `x` is a sum with a constant: the other operand and the constant; `None` otherwise.
fn plus_constant(b: &Builder, x: Value) -> Option<(Value, u32)> {
    match b.kernel().def(x).inst {
        Inst::Bin(Bin::Add, inner, c) if is_int32(b.kernel().ty(x)) => Some((inner, b.as_const(c)? as u32)),
        _ => None,
    }
}

/// The bits of `-x` if `x` is a constant float: adding `-x` rounds as subtracting `x` does, and may have the constant as
/// either operand of an instruction. `None` for NaN, whose sign could be seen in the result.
fn negative(b: &Builder, x: Value) -> Option<u64> {
    let ty = b.kernel().ty(x);
    let bits = b.as_const(x).filter(|_| ty.count == 1)?;
    let (sign, infinity) = match ty.elem {
        Elem::F16 => (1 << 15, 0x7c00),
        Elem::F32 => (1 << 31, 0x7f80_0000),
        Elem::F64 => (1 << 63, 0x7ff0_0000_0000_0000),
        _ => return None,
    };
    (bits & (sign - 1) <= infinity).then_some(bits ^ sign)
}

/// If `x` is a negated integer: that integer.
fn negated(b: &Builder, x: Value) -> Option<Value> {
    match b.kernel().def(x).inst {
        Inst::Un(Un::Neg, inner) if is_int32(b.kernel().ty(x)) => Some(inner),
        _ => None,
    }
}

fn cmp(b: &mut Builder, pred: Pred, x: Value, y: Value) -> Folded {
    let ty = b.kernel().ty(x);
    if ty.count == 1
        && let (Some(cx), Some(cy)) = (b.as_const(x), b.as_const(y))
        && let Some(holds) = holds(pred, ty.elem, cx, cy)
    {
        return Folded::Inst(Inst::Const(holds.into()));
    }
    Folded::Inst(Inst::Cmp(pred, x, y))
}
