//! Selects with known conditions, and selects that bitwise operations compute in fewer instructions.

use gcn_isa::program::SourceLoc;

use super::super::build::Builder;
use super::super::{Bin, Call, Inst, Place, Pred, Type, Un, Value};
use super::{Folded, is_int32};
use crate::scalar::Elem;

/// Folds `c ? x : y`.
pub(super) fn select(
    b: &mut Builder,
    c: Value,
    [x, y]: [Value; 2],
    ty: Type,
    loc: Option<SourceLoc>,
) -> Folded {
    match b.as_const(c) {
        Some(bits) => Folded::Value(if bits != 0 { x } else { y }),
        None if x == y || b.is_undefined(y) => Folded::Value(x),
        None if b.is_undefined(x) => Folded::Value(y),
        None => complements(b, c, [x, y], ty, loc)
            .or_else(|| by_bit(b, c, [x, y], ty, loc))
            .unwrap_or(Folded::Inst(Inst::Select(c, x, y))),
    }
}

/// An instruction that takes the bits of one value where a mask has ones, and the bits of another value elsewhere.
const BY_MASK: &str = "v_bfi_b32";

/// True for a select, and for the bitwise instruction into which a select was folded.
pub(crate) fn is_choice(inst: &Inst) -> bool {
    matches!(inst, Inst::Select(..)) || matches!(inst, Inst::Machine(call) if call.mnemonic == BY_MASK)
}

/// Folds a select whose condition tests one bit of a word. The bit becomes a mask of all bits, by which `v_bfi_b32`
/// selects: two instructions instead of `v_and_b32`, `v_cmp_*` and `v_cndmask_b32`.
fn by_bit(b: &mut Builder, c: Value, [x, y]: [Value; 2], ty: Type, loc: Option<SourceLoc>) -> Option<Folded> {
    let constants = [x, y].map(|v| b.as_const(v));
    if ty.place != Place::Varying || !is_int32(ty) || constants.iter().all(Option::is_some) {
        return None;
    }
    let Inst::Cmp(pred @ (Pred::Eq | Pred::Ne), masked, to) = b.kernel().def(c).inst else { return None };
    let Inst::Bin(Bin::And, word, mask) = b.kernel().def(masked).inst else { return None };
    let (bit, to) = (b.as_const(mask)? as u32, b.as_const(to)? as u32);
    let is_word =
        b.kernel().ty(word).is_varying_word() && !matches!(b.kernel().def(word).inst, Inst::Splat(_));
    if !is_word || !bit.is_power_of_two() || to != 0 && to != bit {
        return None;
    }
    let [set, clear] = if (pred == Pred::Ne) == (to == 0) { [x, y] } else { [y, x] };
    let word_ty = Type { elem: Elem::U32, ..ty };
    let [from, one] = [bit.trailing_zeros(), 1].map(|n| b.constant(n.into(), word_ty));
    let mask = Call::plain("v_bfe_i32", [word, from, one], word_ty);
    let mask = b.value(Inst::Machine(Box::new(mask)), word_ty, loc);
    Some(Folded::Inst(Inst::Machine(Box::new(Call::plain(BY_MASK, [mask, set, clear], ty)))))
}

/// Folds `c ? x : !x`, which is `x` with its bits flipped where `c` is false: an exclusive or with a mask.
fn complements(
    b: &mut Builder,
    c: Value,
    [x, y]: [Value; 2],
    ty: Type,
    loc: Option<SourceLoc>,
) -> Option<Folded> {
    if ty.place != Place::Varying || ty.count != 1 || !matches!(ty.elem, Elem::U32 | Elem::U64) {
        return None;
    }
    let inner = |v: Value| match b.kernel().def(v).inst {
        Inst::Splat(inner) => inner,
        _ => v,
    };
    let (a, z) = (inner(x), inner(y));
    // `x` may have been converted to varying before or after its bits were flipped.
    let not = |v: Value, of: Value| matches!(b.kernel().def(v).inst, Inst::Un(Un::Not, x) if inner(x) == of);
    let (kept, flips) = match (not(z, a), not(a, z)) {
        (true, _) => (a, [0, u32::MAX]),
        (_, true) => (z, [u32::MAX, 0]),
        _ => return None,
    };
    let word = Type { elem: Elem::U32, ..ty };
    let [holds, fails] = flips.map(|bits| b.constant(u64::from(bits), word));
    let mask = b.value(Inst::Select(c, holds, fails), word, loc);
    let from = Type { elem: Elem::U32, ..b.kernel().ty(kept) };
    let flipped = (0..ty.dwords()).map(|dword| {
        let part = b.value(Inst::Extract { from: kept, dword }, from, loc);
        let part = b.value(Inst::Splat(part), word, loc);
        b.value(Inst::Bin(Bin::Xor, part, mask), word, loc)
    });
    let flipped: Vec<Value> = flipped.collect();
    Some(match flipped[..] {
        [word] => Folded::Value(word),
        _ => Folded::Inst(Inst::Concat(flipped.into_iter().collect())),
    })
}
