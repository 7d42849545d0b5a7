//! Atomic accesses.

pub use gcn_isa::memory_model::{Operation, Ordering, Scope};

use super::{Memory, Type, Value};
use crate::scalar::Elem;

/// The operation of an atomic on its element.
#[allow(missing_docs, reason = "the names are LLVM's of `atomicrmw`")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    Load,
    Store,
    /// Stores the operand unconditionally.
    Swap,
    /// Stores the operand if the old value equals the expected one.
    CompareExchange,
    Add,
    Sub,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// Adds one; wraps to 0 above a limit.
    IncWrap,
    /// Subtracts one; wraps to the limit if the old value is 0 or above the limit.
    DecWrap,
}

impl AtomicOp {
    /// The kind of operation for the memory model.
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
    /// The type of the element; varying.
    pub ty: Type,
    /// The memory.
    pub memory: Memory,
    /// The byte offset; varying.
    pub offset: Value,
    /// The operand; `None` for a load.
    pub value: Option<Value>,
    /// The expected value, for a compare-exchange only.
    pub expected: Option<Value>,
    /// The scope.
    pub scope: Scope,
    /// The memory ordering.
    pub ordering: Ordering,
}

/// The type of the result of an atomic on elements of type `ty`; `None` for a store.
pub(crate) const fn value_type(op: AtomicOp, ty: Type) -> Option<Type> {
    match op {
        AtomicOp::Store => None,
        _ => Some(ty),
    }
}

/// The parts of the mnemonics of one operation on elements of certain types, for vector memory and for LDS.
///
/// Mnemonics for 64-bit integers have the suffix `_x2` (vector memory) or `64` (LDS): `global_atomic_smin_x2`,
/// `ds_min_i64`.
pub(crate) struct Name {
    op: AtomicOp,
    elems: &'static [Elem],
    vector: &'static str,
    lds: &'static str,
    /// For integers, the letter of the type in the LDS mnemonic; empty for float operations, whose names already
    /// contain it.
    letter: &'static str,
}

const fn name(
    op: AtomicOp,
    elems: &'static [Elem],
    vector: &'static str,
    lds: &'static str,
    letter: &'static str,
) -> Name {
    Name { op, elems, vector, lds, letter }
}

const UNSIGNED: &[Elem] = &[Elem::U32, Elem::U64];
const SIGNED: &[Elem] = &[Elem::I32, Elem::I64];
const INTEGERS: &[Elem] = &[Elem::U32, Elem::I32, Elem::U64, Elem::I64];
/// The types whose values atomics can exchange without interpreting them.
const WORDS: &[Elem] = &[Elem::U32, Elem::I32, Elem::F32, Elem::U64, Elem::I64, Elem::F64];

#[rustfmt::skip]
const NAMES: &[Name] = &[
    name(AtomicOp::Swap,            WORDS,         "swap",        "wrxchg",     "b"),
    name(AtomicOp::CompareExchange, WORDS,         "cmpswap",     "cmpst",      "b"),
    name(AtomicOp::Add,             INTEGERS,      "add",         "add",        "u"),
    name(AtomicOp::Add,             &[Elem::F32],  "add_f32",     "add",        "f"),
    name(AtomicOp::Add,             &[Elem::F64],  "add_f64",     "add",        "f"),
    name(AtomicOp::Add,             &[Elem::F16],  "pk_add_f16",  "pk_add",     "f16"),
    name(AtomicOp::Add,             &[Elem::Bf16], "pk_add_bf16", "pk_add",     "bf16"),
    name(AtomicOp::Sub,             INTEGERS,      "sub",         "sub",        "u"),
    name(AtomicOp::Min,             SIGNED,        "smin",        "min",        "i"),
    name(AtomicOp::Min,             UNSIGNED,      "umin",        "min",        "u"),
    name(AtomicOp::Min,             &[Elem::F32],  "min_f32",     "min",        "f"),
    name(AtomicOp::Min,             &[Elem::F64],  "min_f64",     "min",        "f"),
    name(AtomicOp::Max,             &[Elem::F32],  "max_f32",     "max",        "f"),
    name(AtomicOp::Max,             &[Elem::F64],  "max_f64",     "max",        "f"),
    name(AtomicOp::Max,             SIGNED,        "smax",        "max",        "i"),
    name(AtomicOp::Max,             UNSIGNED,      "umax",        "max",        "u"),
    name(AtomicOp::And,             INTEGERS,      "and",         "and",        "b"),
    name(AtomicOp::Or,              INTEGERS,      "or",          "or",         "b"),
    name(AtomicOp::Xor,             INTEGERS,      "xor",         "xor",        "b"),
    name(AtomicOp::IncWrap,         UNSIGNED,      "inc",         "inc",        "u"),
    name(AtomicOp::DecWrap,         UNSIGNED,      "dec",         "dec",        "u"),
];

impl AtomicOp {
    /// The name of the operation on elements of this type; `None` if no target has it.
    pub(crate) fn name(self, elem: Elem) -> Option<&'static Name> {
        NAMES.iter().find(|name| name.op == self && name.elems.contains(&elem))
    }
}

impl Name {
    /// The complete mnemonic for `family`, which is `buffer`, `global` or `ds`.
    pub fn mnemonic(&self, family: &str, elem: Elem, returns: bool) -> String {
        let wide = elem.bytes() == 8;
        if family != "ds" {
            let suffix = if wide && !elem.is_float() | self.moves_bits() { "_x2" } else { "" };
            return format!("{family}_atomic_{}{suffix}", self.vector);
        }
        let width = match elem {
            Elem::F16 | Elem::Bf16 => "",
            _ if wide => "64",
            _ => "32",
        };
        // Every LDS exchange returns the old value, even if nothing uses it.
        let rtn = if returns || self.op == AtomicOp::Swap { "_rtn" } else { "" };
        format!("ds_{}{rtn}_{}{width}", self.lds, self.letter)
    }

    /// True if the operation does not interpret the element's bits.
    fn moves_bits(&self) -> bool {
        matches!(self.op, AtomicOp::Swap | AtomicOp::CompareExchange)
    }
}
