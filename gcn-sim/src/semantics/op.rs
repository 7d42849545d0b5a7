//! The entries of the table of instruction functions.

use std::collections::HashMap;
use std::sync::Arc;

use crate::core::machine::Exec;
use crate::core::value::Ty;

/// The function of a resolved instruction: to nearest even, and in directed rounding modes if that is known.
pub(crate) type Functions = (Arc<dyn Exec>, Option<Arc<dyn Exec>>);

/// The semantics of an instruction.
#[derive(Clone)]
pub(crate) struct Op {
    /// Rounding to nearest even.
    pub exec: Arc<dyn Exec>,
    /// Directed rounding modes.
    pub directed: Directed,
    /// With the `clamp` bit, for integer results (floats are clamped when written).
    pub(super) saturating: Option<Arc<dyn Exec>>,
    /// Type of the result, if the function leaves output modifiers to the write.
    pub(super) result: Option<Ty>,
    /// It computes with halves of registers, which VOP3P has modifiers for and other encodings have not.
    pub(super) packed: bool,
}

/// The effect of an instruction when MODE selects directed rounding.
#[derive(Clone)]
pub(crate) enum Directed {
    /// The same: its result is never rounded.
    Same,
    /// This instead.
    Own(Arc<dyn Exec>),
    /// The simulator does not know.
    Unknown,
}

impl Op {
    pub(crate) fn new(exec: impl Exec + 'static) -> Op {
        Op { exec: Arc::new(exec), directed: Directed::Same, saturating: None, result: None, packed: false }
    }

    /// The integer result saturates when `clamp` is set, as `op` does.
    pub(crate) fn saturating(self, op: Op) -> Op {
        Op { saturating: Some(op.exec), ..self }
    }

    /// The result has type `ty` and is written by the common code.
    pub(crate) fn result(self, ty: Ty) -> Op {
        Op { result: Some(ty), ..self }
    }

    /// Its operands are packed.
    pub(crate) fn packed(self) -> Op {
        Op { packed: true, ..self }
    }

    /// Rounds in directed modes as `op` does.
    pub(crate) fn directed(self, op: Op) -> Op {
        Op { directed: Directed::Own(op.exec), ..self }
    }

    /// Rounds, but only to nearest even is known.
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
    /// If it has one already: the table is built once, from constants.
    pub(crate) fn add(&mut self, mnemonic: &'static str, op: Op) {
        let before = self.0.insert(mnemonic, op);
        assert!(before.is_none(), "{mnemonic} is defined twice");
    }

    /// The function of an instruction.
    pub(super) fn get(&self, mnemonic: &str) -> Option<&Op> {
        self.0.get(mnemonic)
    }
}
