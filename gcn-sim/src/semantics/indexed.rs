//! Instructions whose register numbers the state of the wave modifies at run time: VGPR indexing and relative moves by M0, and the upper
//! bits of VGPRs that `s_set_vgpr_msb` sets.

use gcn_isa::Inst;
use gcn_isa::indexing::{self, Selection, Unresolved};
use gcn_isa::table::{Class, Unit};

use super::functions;

use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};

/// True if VGPR indexing or the upper bits of VGPRs may modify register numbers of an instruction like this.
#[inline]
pub(crate) fn may_move(cx: &Cx<'_>, step: &Step) -> bool {
    let format = step.inst.desc.format;
    cx.w.mode.gpr_indexing && format.is_vop()
        || cx.w.mode.vgpr_msb != 0 && !matches!(format.unit(), Unit::Scalar | Unit::ScalarMemory)
}

/// False if the registers of an instruction are certainly those that it names.
#[inline]
pub(crate) fn may_be_moved(cx: &Cx<'_>, step: &Step) -> bool {
    may_move(cx, step) || matches!(step.inst.desc.class, Class::MovrelSource | Class::MovrelDestination)
}

/// The instruction with the registers that the index selects; `None` if these are the registers that it names.
pub(crate) fn moved(cx: &Cx<'_>, step: &Step) -> Result<Option<Inst>, Fault> {
    if !may_be_moved(cx, step) {
        return Ok(None);
    }
    let by_mode = may_move(cx, step);
    let state = Selection { m0: cx.w.m0(), enabled: cx.w.mode.gpr_indexing, msb: cx.w.mode.vgpr_msb };
    indexing::resolve(&step.inst, state).map_err(|why| {
        Fault::Unsupported(match why {
            Unresolved::Beyond if by_mode => BEYOND,
            Unresolved::Beyond => "a relative move beyond the SGPRs",
            Unresolved::Undefined => "VGPR indexing of an operand for which the manual does not define it",
            Unresolved::Accumulator => "an accumulator whose fields of s_set_vgpr_msb differ",
        })
    })
}

const BEYOND: &str = "a VGPR index beyond the allocated registers";

/// The resolved instruction with the registers that VGPR indexing selects; `None` if VGPR indexing changes none.
pub(crate) fn step(cx: &Cx<'_>, step: &Step) -> Result<Option<Step>, Fault> {
    let Some(inst) = moved(cx, step)? else { return Ok(None) };
    let vgprs = cx.machine.state().vgprs;
    let changed = inst.operands.iter().zip(&step.inst.operands).filter(|(now, named)| now != named);
    let mut registers = changed.filter_map(|(now, _)| now.reg());
    if registers.any(|r| u32::from(r.end()) > vgprs) {
        return Err(Fault::Unsupported(BEYOND));
    }
    let map = cx.machine.registers();
    // The functions of pairs and matrix instructions have the registers in them.
    if inst.desc.halves.is_some() || inst.desc.is_matrix() {
        let unknown = |_| Fault::Unsupported("this instruction with other registers");
        let (exec, directed) = functions::of(&inst, cx.machine.target(), map).map_err(unknown)?;
        return Ok(Some(Step { exec, directed, ..step.with(inst, map) }));
    }
    Ok(Some(step.with(inst, map)))
}
