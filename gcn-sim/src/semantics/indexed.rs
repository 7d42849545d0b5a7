//! Instructions whose register numbers the state of the wave modifies at run time: VGPR indexing and relative moves by M0, and the upper
//! bits of VGPRs that `s_set_vgpr_msb` sets.

use std::sync::Arc;

use gcn_isa::Inst;
use gcn_isa::indexing::{self, Selection, Unresolved};
use gcn_isa::reg::RegFile;
use gcn_isa::table::{Format, Unit};

use super::functions;
use crate::core::fault::{Done, Fault};
use crate::core::machine::{Cx, Exec, Step};

/// True if VGPR indexing or the upper bits of VGPRs may modify register numbers of an instruction like this. The functions of relative moves
/// apply these, too ([`select_registers`]).
#[inline]
pub(crate) fn may_move(cx: &Cx<'_>, step: &Step) -> bool {
    let format = step.inst.desc.format;
    !step.inst.desc.is_relative() && by_mode(cx, format)
}

fn by_mode(cx: &Cx<'_>, format: Format) -> bool {
    cx.w.mode.gpr_indexing && format.is_vop()
        || cx.w.mode.vgpr_msb != 0 && !matches!(format.unit(), Unit::Scalar | Unit::ScalarMemory)
}

/// False if the registers of an instruction are certainly those that it names.
#[inline]
pub(crate) fn may_be_moved(cx: &Cx<'_>, step: &Step) -> bool {
    step.inst.desc.is_relative() || by_mode(cx, step.inst.desc.format)
}

/// The instruction with the registers that the index selects; `None` if these are the registers that it names.
pub(crate) fn moved(cx: &Cx<'_>, step: &Step) -> Result<Option<Inst>, Fault> {
    if !may_be_moved(cx, step) {
        return Ok(None);
    }
    let desc = step.inst.desc;
    let state = Selection { m0: cx.w.m0(), enabled: cx.w.mode.gpr_indexing, msb: cx.w.mode.vgpr_msb };
    indexing::resolve(&step.inst, state).map_err(|why| {
        Fault::Unsupported(match why {
            Unresolved::Beyond if desc.is_salu() => "a relative move beyond the SGPRs",
            Unresolved::Beyond => BEYOND,
            Unresolved::Undefined => "VGPR indexing of an operand for which the manual does not define it",
            Unresolved::Accumulator => "an accumulator whose fields of s_set_vgpr_msb differ",
        })
    })
}

const BEYOND: &str = "a VGPR index beyond the allocated registers";

/// Wraps the functions of relative moves, which are those of moves, so that they are executed with the registers that M0 selects.
pub(super) fn select_registers(steps: &mut [Step]) {
    for step in steps.iter_mut().filter(|step| step.inst.desc.is_relative()) {
        step.exec = Relative::of(step.exec.clone());
        step.directed = step.directed.take().map(Relative::of);
    }
}

struct Relative(Arc<dyn Exec>);

impl Relative {
    fn of(exec: Arc<dyn Exec>) -> Arc<dyn Exec> {
        Arc::new(Relative(exec))
    }
}

impl Exec for Relative {
    fn execute(&self, cx: &mut Cx<'_>, s: &Step) -> Done {
        if !s.plain_src || !s.plain_dst {
            return Err(Fault::Unsupported("a relative move with DPP or SDWA").into());
        }
        match step(cx, s)? {
            Some(moved) => self.0.execute(cx, &moved),
            None => self.0.execute(cx, s),
        }
    }
}

/// The resolved instruction with the registers that VGPR indexing selects; `None` if VGPR indexing changes none.
pub(crate) fn step(cx: &Cx<'_>, step: &Step) -> Result<Option<Step>, Fault> {
    let Some(inst) = moved(cx, step)? else { return Ok(None) };
    let vgprs = cx.machine.state().vgprs;
    let changed = inst.operands.iter().zip(&step.inst.operands).filter(|(now, named)| now != named);
    let mut registers = changed.filter_map(|(now, _)| now.reg()).filter(|reg| reg.file != RegFile::Sgpr);
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
