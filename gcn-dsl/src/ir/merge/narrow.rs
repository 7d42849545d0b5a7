//! Merging of 8- and 16-bit elements into dwords.
//!
//! Narrow elements are merged only where they fill dwords, so that a merged store writes no byte that the kernel does
//! not store. If a slice may end within a dword, [`tails`](super::super::tails) adds accesses for the elements that a
//! wide access would lose; in a loop, this costs as much as merging one dword saves.

use gcn_isa::program::SourceLoc;
use smallvec::SmallVec;

use super::super::{Bin, Inst, Kernel, Memory, Stmt, Type, Value};
use super::group::Access;
use crate::scalar::Elem;

const WORD: Type = Type::varying(Elem::U32);

/// True if narrow elements of this memory may be merged. Raw pointers are excluded, because they need not be aligned to
/// dwords.
pub(super) fn merge_in(memory: Memory) -> bool {
    matches!(memory, Memory::Buffer(_) | Memory::Lds(_))
}

/// True if a slice of narrow elements may end within a dword.
pub(super) fn has_tail(kernel: &Kernel, memory: Memory) -> bool {
    matches!(memory, Memory::Buffer(resource) if !kernel.whole_dwords.contains(&resource))
}

/// Removes the accesses that do not fill a dword of the block at `start`. If handling the slice's tail is expensive
/// (`dear`), also removes those of a single filled dword.
pub(super) fn keep_whole_dwords(start: u32, accesses: &mut SmallVec<[Access; 4]>, dear: bool) {
    if accesses.iter().all(|a| a.bytes >= 4) {
        return;
    }
    let mut filled = [0; 4];
    for a in accesses.iter().filter(|a| a.bytes < 4) {
        let first = a.constant - start;
        let bytes = ((1 << a.bytes) - 1) << (first % 4);
        filled[(first / 4) as usize] |= bytes;
    }
    let whole = filled.map(|bytes| bytes == 0b1111);
    let few = dear && whole.iter().filter(|whole| **whole).count() < 2;
    accesses.retain(|a| a.bytes >= 4 || !few && whole[((a.constant - start) / 4) as usize]);
}

/// The element that starts at byte `byte` of a wide value.
pub(super) fn element(
    kernel: &mut Kernel,
    wide: Value,
    byte: u32,
    access: &Access,
    out: &mut Vec<Stmt>,
) -> Inst {
    let loc = kernel.def(access.inst).loc;
    let (elem, first) = (access.elem, 8 * (byte % 4));
    let word_ty =
        Type::varying(if elem.is_signed() && elem.is_narrow_integer() { Elem::I32 } else { Elem::U32 });
    let mut word = kernel.append(Inst::Extract { from: wide, dword: (byte / 4) as u8 }, word_ty, loc, out);
    if first > 0 {
        let count = kernel.append(Inst::Const(first.into()), word_ty, loc, out);
        word = kernel.append(Inst::Bin(Bin::Shr, word, count), word_ty, loc, out);
    }
    if elem.is_narrow_integer() {
        return Inst::Cast(word);
    }
    let bits = 8 * elem.bytes();
    if first + bits < 32 {
        let mask = kernel.append(Inst::Const((1 << bits) - 1), word_ty, loc, out);
        word = kernel.append(Inst::Bin(Bin::And, word, mask), word_ty, loc, out);
    }
    Inst::Bitcast(word)
}

/// Packs values into values of whole dwords. Returns each packed value with its size in bytes.
pub(super) fn words(
    kernel: &mut Kernel,
    values: &[(Value, u32)],
    loc: Option<SourceLoc>,
    out: &mut Vec<Stmt>,
) -> SmallVec<[Value; 4]> {
    let (mut words, mut word, mut first) = (SmallVec::new(), None, 0);
    for &(value, bytes) in values {
        if bytes >= 4 {
            words.push(value);
            continue;
        }
        let mut constant =
            |bits: u32, out: &mut Vec<Stmt>| kernel.append(Inst::Const(bits.into()), WORD, loc, out);
        let (mask, count) = (constant((1 << (8 * bytes)) - 1, out), constant(first, out));
        let raw = kernel.append(Inst::Bitcast(value), WORD, loc, out);
        let mut part = kernel.append(Inst::Bin(Bin::And, raw, mask), WORD, loc, out);
        if first > 0 {
            part = kernel.append(Inst::Bin(Bin::Shl, part, count), WORD, loc, out);
        }
        word = Some(match word {
            None => part,
            Some(before) => kernel.append(Inst::Bin(Bin::Or, before, part), WORD, loc, out),
        });
        first = (first + 8 * bytes) % 32;
        if first == 0 {
            words.extend(word.take());
        }
    }
    words
}
