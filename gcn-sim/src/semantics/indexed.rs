//! Instructions whose register numbers an index in M0 modifies at run time: VGPR indexing and relative moves.

use gcn_isa::Inst;
use gcn_isa::indexing::{self, Unresolved};
use gcn_isa::table::Class;

use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};

/// The instruction with the registers that the index selects; `None` if these are the registers that it names.
#[inline]
pub(crate) fn moved(cx: &Cx<'_>, step: &Step) -> Result<Option<Inst>, Fault> {
    let desc = step.inst.desc;
    let by_mode = cx.w.mode.gpr_indexing && desc.format.is_vop();
    if !by_mode && !matches!(desc.class, Class::MovrelSource | Class::MovrelDestination) {
        return Ok(None);
    }
    indexing::resolve(&step.inst, cx.w.m0(), cx.w.mode.gpr_indexing).map_err(|why| {
        Fault::Unsupported(match why {
            Unresolved::Beyond if by_mode => BEYOND,
            Unresolved::Beyond => "a relative move beyond the SGPRs",
            Unresolved::Undefined => "VGPR indexing of an operand for which the manual does not define it",
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
    Ok(Some(step.with(inst, cx.machine.registers())))
}
