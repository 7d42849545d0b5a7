//! The manner of an access to memory, and what all accesses have in common.

use super::{Inst, Memory, Value};

/// How caches treat the accessed data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cache {
    /// The data is used once: keep other data rather than it (LLVM's `nontemporal`; `slc`, on gfx942 and
    /// later `nt`).
    Streaming,
    /// Pass by caches that another compute unit or device may not see (LLVM's `volatile` without its waits;
    /// `glc`, on gfx942 and later `sc0 sc1`).
    Bypass,
}

/// The special property of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Manner {
    /// No particular manner: passes may merge the access with others, share it, or replace it by a known value.
    Plain,
    /// A hint to caches.
    Cached(Cache),
    /// Every 16 lanes transpose the elements (of this many bits) that they load from LDS (gfx950).
    Transposed(u8),
}

impl Inst {
    /// The memory that a load, store or atomic goes to, and its byte offset. Scalar loads have none: they go to a resource.
    pub fn place(&self) -> Option<(Memory, Value)> {
        match self {
            Inst::Load { memory, offset, .. } | Inst::Store { memory, offset, .. } => {
                Some((*memory, *offset))
            }
            Inst::Atomic(atomic) => Some((atomic.memory, atomic.offset)),
            _ => None,
        }
    }

    /// The same, to change it.
    pub(super) fn place_mut(&mut self) -> Option<(&mut Memory, &mut Value)> {
        match self {
            Inst::Load { memory, offset, .. } | Inst::Store { memory, offset, .. } => Some((memory, offset)),
            Inst::Atomic(atomic) => Some((&mut atomic.memory, &mut atomic.offset)),
            _ => None,
        }
    }
}
