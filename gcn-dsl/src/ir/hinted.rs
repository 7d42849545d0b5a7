//! Accesses that are more than plain ones.

use super::{Memory, Value};

/// How caches treat what an access moves.
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
    /// A hint to caches.
    Cached(Cache),
    /// Every 16 lanes transpose the elements (of this many bits) that they load from LDS (gfx950).
    Transposed(u8),
}

/// A load, or a store of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Hinted {
    /// Where.
    pub memory: Memory,
    /// Byte offset, varying.
    pub offset: Value,
    /// The stored value; `None` for a load.
    pub value: Option<Value>,
    /// Its special property.
    pub manner: Manner,
}
