//! The entry type of the table of instruction functions.

use std::collections::HashMap;
use std::sync::Arc;

use crate::core::machine::Exec;
use crate::core::value::Ty;

/// The functions of a resolved instruction: for rounding to nearest even and, if supported, for directed rounding.
pub(crate) type Functions = (Arc<dyn Exec>, Option<Arc<dyn Exec>>);

/// The semantics of an instruction.
#[derive(Clone)]
pub(crate) struct Op {
    /// The function for rounding to nearest even.
    pub exec: Arc<dyn Exec>,
    /// The behaviour in directed rounding modes.
    pub directed: Directed,
    /// The function to use if the `clamp` bit is set, for integer results. (Float results are clamped when they are written.)
    pub(super) saturating: Option<Arc<dyn Exec>>,
    /// The type of the result, if the common write-back code applies the output modifiers; `None` if the function applies them itself.
    pub(super) result: Option<Ty>,
    /// True if the instruction computes with halves of registers, for which VOP3P has modifiers and other encodings do not.
    pub(super) packed: bool,
}

/// What an instruction does if MODE selects directed rounding.
#[derive(Clone)]
pub(crate) enum Directed {
    /// The same as otherwise, because its result is never rounded.
    Same,
    /// It executes this function instead.
    Own(Arc<dyn Exec>),
    /// Unknown: executing the instruction is then an error.
    Unknown,
}

impl Op {
    pub(crate) fn new(exec: impl Exec + 'static) -> Op {
        Op::of(Arc::new(exec))
    }

    pub(crate) fn of(exec: Arc<dyn Exec>) -> Op {
        Op { exec, directed: Directed::Same, saturating: None, result: None, packed: false }
    }

    /// Sets the function for `clamp` to that of `op`, whose integer result saturates.
    pub(crate) fn saturating(self, op: Op) -> Op {
        Op { saturating: Some(op.exec), ..self }
    }

    /// Declares that the result has type `ty` and that the common code writes it.
    pub(crate) fn result(self, ty: Ty) -> Op {
        Op { result: Some(ty), ..self }
    }

    /// Declares that the operands are packed.
    pub(crate) fn packed(self) -> Op {
        Op { packed: true, ..self }
    }

    /// Sets the function for directed rounding modes to that of `op`.
    pub(crate) fn directed(self, op: Op) -> Op {
        Op { directed: Directed::Own(op.exec), ..self }
    }

    /// Declares that the result is rounded, and that only the function for rounding to nearest even is known.
    pub(crate) fn rounds(self) -> Op {
        Op { directed: Directed::Unknown, ..self }
    }
}

/// The table under construction.
#[derive(Default)]
pub(crate) struct Ops(HashMap<&'static str, Op>);

impl Ops {
    /// Adds the function of an instruction.
    ///
    /// # Panics
    /// If the mnemonic has a function already. That cannot happen at run time, because the table is built from constants.
    pub(crate) fn add(&mut self, mnemonic: &'static str, op: Op) {
        let before = self.0.insert(mnemonic, op);
        assert!(before.is_none(), "{mnemonic} is defined twice");
    }

    /// The function of an instruction; `None` if the table has none.
    pub(super) fn get(&self, mnemonic: &str) -> Option<&Op> {
        self.0.get(mnemonic)
    }
}
