//! Special properties of memory accesses (cache hints and transposition), and helpers for all kinds of accesses.

use super::{Inst, Memory, Value};

/// How caches treat the accessed data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cache {
    /// The data is used once, so other data should be kept in the cache instead (LLVM's `nontemporal`; `slc`, on gfx942
    /// and later `nt`).
    Streaming,
    /// Bypass caches that are not coherent with other compute units or devices (LLVM's `volatile` without its waits;
    /// `glc`, on gfx942 and later `sc0 sc1`).
    Bypass,
}

/// A special property of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Manner {
    /// None: passes may merge the access with others, reuse the result of an equal one, or replace it by a known value.
    Plain,
    /// The access has a cache hint.
    Cached(Cache),
    /// A load from LDS in which each group of 16 lanes transposes the elements, which have this number of bits
    /// (gfx950).
    Transposed(u8),
}

impl Inst {
    /// The memory that a load, store or atomic accesses, and its byte offset. `None` for scalar loads, which access a
    /// buffer resource.
    pub fn place(&self) -> Option<(Memory, Value)> {
        match self {
            Inst::Load { memory, offset, .. } | Inst::Store { memory, offset, .. } => {
                Some((*memory, *offset))
            }
            Inst::Atomic(atomic) => Some((atomic.memory, atomic.offset)),
            _ => None,
        }
    }

    /// As `place`, to modify it.
    pub(super) fn place_mut(&mut self) -> Option<(&mut Memory, &mut Value)> {
        match self {
            Inst::Load { memory, offset, .. } | Inst::Store { memory, offset, .. } => Some((memory, offset)),
            Inst::Atomic(atomic) => Some((&mut atomic.memory, &mut atomic.offset)),
            _ => None,
        }
    }
}
