//! The instruction functions by mnemonic.
//!
//! Each family of instructions adds its functions to one table, under the suffix-less mnemonic: what an encoding adds
//! (operands, modifiers) is in the resolved [`Step`](crate::core::step::Step), not in the function.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use gcn_isa::table::Class;
use gcn_isa::{Inst, Target};

use super::{mem, mfma, scalar, valu};
use crate::core::exec::Exec;
use crate::core::value::Ty;

/// The semantics of an instruction.
#[derive(Clone)]
pub(crate) struct Op {
    /// Rounding to nearest even.
    pub exec: Arc<dyn Exec>,
    /// Directed rounding modes.
    pub directed: Directed,
    /// With the `clamp` bit, for integer results (floats are clamped when written).
    saturating: Option<Arc<dyn Exec>>,
    /// Type of the result, if the function leaves output modifiers to the write.
    result: Option<Ty>,
    /// It computes with halves of registers, which VOP3P has modifiers for and other encodings have not.
    packed: bool,
}

/// What a resolved instruction runs: to nearest even, and in directed rounding modes if that is known.
pub(crate) type Functions = (Arc<dyn Exec>, Option<Arc<dyn Exec>>);

/// What an instruction does when MODE asks for directed rounding.
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
}

static OPS: LazyLock<Ops> = LazyLock::new(|| {
    let mut ops = Ops::default();
    scalar::add(&mut ops);
    valu::int32::add(&mut ops);
    valu::int16::add(&mut ops);
    valu::int64::add(&mut ops);
    valu::float32::add(&mut ops);
    valu::float16::add(&mut ops);
    valu::float64::add(&mut ops);
    valu::trans::add(&mut ops);
    valu::divide::add(&mut ops);
    valu::convert::add(&mut ops);
    valu::small::add(&mut ops);
    valu::sad::add(&mut ops);
    valu::cmp::add(&mut ops);
    valu::lane::add(&mut ops);
    valu::packed::add(&mut ops);
    valu::mix::add(&mut ops);
    valu::dot::add(&mut ops);
    mem::add(&mut ops);
    ops
});

/// The functions of `inst`: for round-to-nearest-even and for directed rounding.
///
/// # Errors
/// What is missing, if the simulator does not know the instruction or a modifier of it.
pub(crate) fn of(inst: &Inst, target: Target) -> Result<Functions, String> {
    if inst.desc.is_matrix() {
        let exec = mfma::exec(inst, target)?;
        return Ok((exec.clone(), Some(exec)));
    }
    let missing = || {
        crate::semantics::coverage::refusal(inst.desc.mnemonic)
            .unwrap_or("its semantics are not implemented")
            .to_owned()
    };
    let op = OPS.0.get(inst.desc.mnemonic).ok_or_else(missing)?;
    refuse_unknown_uses(inst, op)?;
    let exec = match &op.saturating {
        Some(saturating) if inst.mods.clamp => saturating.clone(),
        None if inst.mods.clamp && !clamps_when_written(inst, op) => {
            return Err("its result with clamp is not implemented".to_owned());
        }
        _ => op.exec.clone(),
    };
    let directed = match &op.directed {
        Directed::Same => Some(exec.clone()),
        Directed::Own(directed) => Some(directed.clone()),
        Directed::Unknown => None,
    };
    Ok((exec, directed))
}

/// Floats are clamped by the common code, conversions to integers saturate anyway, and other functions see to it
/// themselves.
fn clamps_when_written(inst: &Inst, op: &Op) -> bool {
    let float = op.result.is_none_or(|ty| matches!(ty, Ty::F16 | Ty::F32 | Ty::F64));
    float || inst.desc.does(gcn_isa::table::Behaviours::CONVERTS)
}

/// Uses that no instruction function handles.
fn refuse_unknown_uses(inst: &Inst, op: &Op) -> Result<(), String> {
    let mods = &inst.mods;
    if mods.tfe {
        return Err("tfe is not implemented".to_owned());
    }
    let whole = mods.dpp.is_some() || mods.sdwa.is_some() || mods.neg | mods.abs | mods.omod != 0;
    if op.packed && whole {
        return Err("DPP, SDWA, neg, abs and omod of packed operands: no manual says what they do".to_owned());
    }
    if mods.gds && inst.desc.class != Class::Gws {
        return Err(
            "the global data share is handed out by the driver, and compute kernels get none".to_owned()
        );
    }
    Ok(())
}

/// True if the simulator has a function for the mnemonic.
pub(crate) fn is_known(mnemonic: &str) -> bool {
    OPS.0.contains_key(mnemonic)
}
