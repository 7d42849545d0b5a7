//! Atomic accesses.

pub use gcn_isa::memory_model::{Operation, Ordering, Scope};

use super::{Memory, Type, Value};

/// The operation of an atomic on its element.
#[allow(missing_docs, reason = "the names are LLVM's of `atomicrmw`")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    Load,
    Store,
    /// New value, whatever the old one is.
    Swap,
    /// New value if the old one is as expected.
    CompareExchange,
    Add,
    Sub,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// One more, or 0 past a limit.
    IncWrap,
    /// One less, or the limit below 0 and where the old value is above it.
    DecWrap,
}

impl AtomicOp {
    /// The memory model's view.
    pub const fn operation(self) -> Operation {
        match self {
            AtomicOp::Load => Operation::Load,
            AtomicOp::Store => Operation::Store,
            _ => Operation::Rmw,
        }
    }
}

/// An atomic access.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Atomic {
    /// The operation.
    pub op: AtomicOp,
    /// Type of the element, varying.
    pub ty: Type,
    /// Where.
    pub memory: Memory,
    /// Byte offset, varying.
    pub offset: Value,
    /// The operand; a load has none.
    pub value: Option<Value>,
    /// The expected value of a compare-exchange.
    pub expected: Option<Value>,
    /// Scope.
    pub scope: Scope,
    /// Ordering.
    pub ordering: Ordering,
}

/// The type of the value of an atomic on elements of `ty`; a store has none.
pub(crate) const fn value_type(op: AtomicOp, ty: Type) -> Option<Type> {
    match op {
        AtomicOp::Store => None,
        _ => Some(ty),
    }
}
