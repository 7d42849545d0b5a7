//! Accesses that are more than plain ones.

use super::{Memory, Value};

/// How caches treat what an access moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cache {
    /// The data is used once: keep other data rather than it (LLVM's `nontemporal`; `slc`, on gfx942 and later `nt`).
    Streaming,
    /// Pass by caches that another compute unit or device may not see (LLVM's `volatile` without its waits; `glc`, on gfx942
    /// and later `sc0 sc1`).
    Bypass,
}

/// What an access does besides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Manner {
    /// A hint to caches.
    Cached(Cache),
    /// Every 16 lanes exchange what they load from LDS, elements of so many bits, rows for columns (gfx950).
    Transposed(u8),
}

/// A load, or a store of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Hinted {
    /// Where.
    pub memory: Memory,
    /// Byte offset, varying.
    pub offset: Value,
    /// What is stored; a load has none.
    pub value: Option<Value>,
    /// What else.
    pub manner: Manner,
}
