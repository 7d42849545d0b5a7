//! Replaces bitwise expressions of several instructions by a single instruction.
//!
//! - `v_bfi_b32`: `(m & a) | (!m & b)`, also with constant masks or with an exclusive or, and `b ^ (m & (a ^ b))`. The
//!   bitwise majority of three words, `(a & b) ^ (a & c) ^ (b & c)`, is `a` where `a` and `b` agree, and `c` elsewhere.
//! - `v_perm_b32`: an `or` of masked and shifted words in which every byte is a byte of one of two words, 0 or 255. The
//!   origin of each byte is followed through the expression, also through operands that are such permutations already.
//! - `v_bcnt_u32_b32`: the number of set bits of a word, plus another word.

use smallvec::SmallVec;

use super::build::Builder;
use super::{Arg, Bin, Call, Inst, Kernel, Place, Type, Un, Value};
use crate::scalar::Elem;

/// An instruction that computes the same as `inst`, of type `ty`, in fewer operations; `inst` itself if there is none.
pub(super) fn of_bits(b: &mut Builder, inst: Inst, ty: Type) -> Inst {
    let Inst::Bin(op @ (Bin::Or | Bin::Xor | Bin::Add), x, y) = inst else { return inst };
    if ty.place != Place::Varying {
        return inst;
    }
    // The order matters if several patterns match: a permutation covers an `or` of more than two parts, of which a bit
    // select would cover only the last.
    let found = match op {
        Bin::Add => counted(b, [x, y], ty),
        Bin::Or => permutation(b, [x, y], ty).or_else(|| masked_or(b, [x, y], ty)),
        _ => masked_xor(b.kernel(), [x, y], ty)
            .or_else(|| masked_or(b, [x, y], ty))
            .or_else(|| majority(b, [x, y], ty)),
    };
    found.map_or(inst, |call| Inst::Machine(Box::new(call)))
}

fn select_bits(args: [Value; 3], ty: Type) -> Call {
    Call::plain("v_bfi_b32", args, ty)
}

/// The operands of `v` if it is the operation `of`; `None` otherwise.
fn bin(kernel: &Kernel, v: Value, of: Bin) -> Option<[Value; 2]> {
    match kernel.def(v).inst {
        Inst::Bin(op, x, y) if op == of => Some([x, y]),
        _ => None,
    }
}

/// Both orders of two operands.
fn orders([x, y]: [Value; 2]) -> [[Value; 2]; 2] {
    [[x, y], [y, x]]
}

/// Matches `(m & a) | (!m & b)`.
fn masked_or(b: &Builder, sides: [Value; 2], ty: Type) -> Option<Call> {
    let kernel = b.kernel();
    for [x, y] in orders(sides) {
        let (first, second) = (bin(kernel, x, Bin::And)?, bin(kernel, y, Bin::And)?);
        for [mask, a] in orders(first) {
            for [other, c] in orders(second) {
                // Complements of constant masks have been folded, so compare constant masks by value.
                let opposite = match (b.as_const(mask), b.as_const(other)) {
                    (Some(m), Some(o)) => m as u32 == !(o as u32),
                    _ => kernel.def(other).inst == Inst::Un(Un::Not, mask),
                };
                if opposite {
                    return Some(select_bits([mask, a, c], ty));
                }
            }
        }
    }
    None
}

/// Matches `b ^ (m & (a ^ b))`.
fn masked_xor(kernel: &Kernel, sides: [Value; 2], ty: Type) -> Option<Call> {
    for [c, masked] in orders(sides) {
        for [mask, difference] in bin(kernel, masked, Bin::And).into_iter().flat_map(orders) {
            for [a, other] in bin(kernel, difference, Bin::Xor).into_iter().flat_map(orders) {
                if other == c {
                    return Some(select_bits([mask, a, c], ty));
                }
            }
        }
    }
    None
}

/// Matches `(a & b) ^ (a & c) ^ (b & c)`, in any order.
fn majority(b: &mut Builder, sides: [Value; 2], ty: Type) -> Option<Call> {
    let kernel = b.kernel();
    for [sum, last] in orders(sides) {
        let Some([first, second]) = bin(kernel, sum, Bin::Xor) else { continue };
        let [first, second, last] = [first, second, last].map(|v| bin(kernel, v, Bin::And));
        let (Some(first), Some(second), Some(last)) = (first, second, last) else { continue };
        for [a, x] in orders(first) {
            for [other, c] in orders(second) {
                if a == other && orders(last).contains(&[x, c]) {
                    // The result takes two instructions instead of five. Where `differ` is 0, the two words agree, and
                    // either of them is the majority.
                    let differ = b.value(Inst::Bin(Bin::Xor, a, x), ty, None);
                    return Some(select_bits([differ, c, a], ty));
                }
            }
        }
    }
    None
}

/// Counts the set bits of its first source and adds its second source.
const COUNT: &str = "v_bcnt_u32_b32";

/// `x.count_ones() + y`: the counting instruction also adds `y`. Constants are excluded, because one might need a
/// register.
fn counted(b: &Builder, sides: [Value; 2], ty: Type) -> Option<Call> {
    let kernel = b.kernel();
    orders(sides).into_iter().find_map(|[count, other]| {
        let Inst::Machine(call) = &kernel.def(count).inst else { return None };
        let [Arg::Value(x), Arg::Value(start)] = call.args[..] else { return None };
        // Compare the whole call: a call with modifiers, pins or another type is not a plain count.
        let from_zero = **call == Call::plain(COUNT, [x, start], ty) && b.as_const(start) == Some(0);
        (from_zero && b.as_const(other).is_none()).then(|| Call::plain(COUNT, [x, other], ty))
    })
}

/// The origin of a byte.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Byte {
    /// A known value.
    Is(u8),
    /// Byte number `.1` of a word.
    Of(Value, u8),
}

/// The permutation instruction, and its selectors for a byte of zeros and for a byte of ones. Selectors 0 to 3 select
/// bytes of its second source, 4 to 7 bytes of the first.
const PERM: &str = "v_perm_b32";
const SELECT_ZEROS: u8 = 0x0c;
const SELECT_ONES: u8 = 0x0d;

/// The largest depth to which an expression is followed.
const DEPTH: u32 = 8;
/// The smallest number of operations that a permutation must replace to be shorter, since its selectors need a
/// register.
const OPERATIONS: u32 = 4;

/// Matches an `or` that permutes the bytes of two words.
fn permutation(b: &mut Builder, [x, y]: [Value; 2], ty: Type) -> Option<Call> {
    let mut operations = 1;
    let left = bytes(b.kernel(), x, DEPTH, &mut operations);
    let right = bytes(b.kernel(), y, DEPTH, &mut operations);
    let bytes = merged(left, right)?;
    // VOP3 instructions of these targets take no literal, so the selectors cost a register and a move.
    if operations < OPERATIONS {
        return None;
    }
    let mut words: SmallVec<[Value; 2]> = SmallVec::new();
    let mut selectors = [0; 4];
    for (byte, selector) in bytes.into_iter().zip(&mut selectors) {
        *selector = match byte {
            Byte::Is(0) => SELECT_ZEROS,
            Byte::Is(u8::MAX) => SELECT_ONES,
            Byte::Is(_) => return None,
            Byte::Of(word, k) => {
                let at = words.iter().position(|w| *w == word).unwrap_or_else(|| {
                    words.push(word);
                    words.len() - 1
                });
                // The first of the two words becomes the second source, so its bytes have the selectors 0 to 3.
                k + 4 * u8::try_from(at).ok()?
            }
        };
    }
    let (low, high) = match words[..] {
        [low] => (low, low),
        [low, high] => (low, high),
        _ => return None,
    };
    let selector = b.constant(u32::from_le_bytes(selectors).into(), Type { elem: Elem::U32, ..ty });
    Some(Call::plain(PERM, [high, low, selector], ty))
}

/// The bytes of an `or`; `None` if the origin of one of them is not known.
fn merged(left: [Byte; 4], right: [Byte; 4]) -> Option<[Byte; 4]> {
    let mut bytes = left;
    for (byte, other) in bytes.iter_mut().zip(right) {
        *byte = match (*byte, other) {
            // A byte of 255 makes the result 255, whatever the other byte is.
            (Byte::Is(u8::MAX), _) | (_, Byte::Is(u8::MAX)) => Byte::Is(u8::MAX),
            (Byte::Is(0), other) => other,
            (byte, other) if other == Byte::Is(0) || other == byte => byte,
            (Byte::Is(x), Byte::Is(y)) => Byte::Is(x | y),
            _ => return None,
        };
    }
    Some(bytes)
}

/// The origins of the bytes of a word.
pub(super) fn bytes_of(kernel: &Kernel, v: Value) -> [Byte; 4] {
    bytes(kernel, v, DEPTH, &mut 0)
}

/// The origins of the bytes of a word. Adds the number of operations that produce them to `operations`.
fn bytes(kernel: &Kernel, v: Value, depth: u32, operations: &mut u32) -> [Byte; 4] {
    let before = *operations;
    followed(kernel, v, depth, operations).unwrap_or_else(|| {
        *operations = before;
        [0, 1, 2, 3].map(|k| Byte::Of(v, k))
    })
}

fn followed(kernel: &Kernel, v: Value, depth: u32, operations: &mut u32) -> Option<[Byte; 4]> {
    let depth = depth.checked_sub(1)?;
    if let Some(bits) = kernel.constant(v) {
        return Some((bits as u32).to_le_bytes().map(Byte::Is));
    }
    let ty = kernel.ty(v);
    if ty.count != 1 || !matches!(ty.elem, Elem::I32 | Elem::U32) {
        return None;
    }
    match &kernel.def(v).inst {
        Inst::Bitcast(of) if ty.dwords() == kernel.ty(*of).dwords() => {
            followed(kernel, *of, depth, operations)
        }
        Inst::Bin(Bin::Or, x, y) => {
            *operations += 1;
            let (x, y) = (bytes(kernel, *x, depth, operations), bytes(kernel, *y, depth, operations));
            merged(x, y)
        }
        Inst::Bin(Bin::And, x, mask) => {
            let mask = (kernel.constant(*mask)? as u32).to_le_bytes();
            *operations += 1;
            let of = bytes(kernel, *x, depth, operations);
            all([0, 1, 2, 3].map(|k| match (of[k], mask[k]) {
                (_, 0) => Some(Byte::Is(0)),
                (byte, u8::MAX) => Some(byte),
                (Byte::Is(byte), mask) => Some(Byte::Is(byte & mask)),
                _ => None,
            }))
        }
        Inst::Bin(op @ (Bin::Shl | Bin::Shr), x, count) => {
            let count = kernel.shift_count(*count, ty.elem)?;
            // A shift by a number of bits that is not a multiple of 8 mixes the bits of neighbouring bytes.
            if count % 8 != 0 {
                return None;
            }
            *operations += 1;
            let (of, by) = (bytes(kernel, *x, depth, operations), (count / 8) as usize);
            let from = |k: usize| if *op == Bin::Shl { k.checked_sub(by) } else { Some(k + by) };
            // A right shift of a signed word shifts in its sign.
            let signs = *op == Bin::Shr && ty.elem == Elem::I32;
            let new = |k: usize| if signs { Byte::Of(v, k as u8) } else { Byte::Is(0) };
            Some([0, 1, 2, 3].map(|k| from(k).and_then(|from| of.get(from)).copied().unwrap_or(new(k))))
        }
        Inst::Machine(call) if call.mnemonic == PERM && **call == Call::plain(PERM, values(call)?, ty) => {
            let [high, low, selector] = values(call)?;
            let selectors = (kernel.constant(selector)? as u32).to_le_bytes();
            // An existing permutation counts as the operations that it replaced, so that extending it by one operand
            // pays, too.
            *operations += OPERATIONS;
            let (low, high) = (bytes(kernel, low, depth, operations), bytes(kernel, high, depth, operations));
            all(selectors.map(|s| match s {
                0..4 => Some(low[usize::from(s)]),
                4..8 => Some(high[usize::from(s) - 4]),
                SELECT_ZEROS => Some(Byte::Is(0)),
                SELECT_ONES.. => Some(Byte::Is(u8::MAX)),
                // A byte that consists of sign bits cannot be expressed.
                _ => None,
            }))
        }
        _ => None,
    }
}

fn all(bytes: [Option<Byte>; 4]) -> Option<[Byte; 4]> {
    match bytes {
        [Some(a), Some(b), Some(c), Some(d)] => Some([a, b, c, d]),
        _ => None,
    }
}

/// The arguments of a call with exactly three value arguments; `None` for other calls.
fn values(call: &Call) -> Option<[Value; 3]> {
    match call.args[..] {
        [Arg::Value(a), Arg::Value(b), Arg::Value(c)] => Some([a, b, c]),
        _ => None,
    }
}
