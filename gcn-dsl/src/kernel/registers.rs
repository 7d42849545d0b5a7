//! Register allocation for a kernel: chooses between the scheduled and the written order, whichever needs
//! less spill code, and adds scratch memory only if nothing else is enough.

use gcn_isa::Operand;
use gcn_isa::reg::FLAT_SCRATCH;

use crate::mir::Inputs;
use crate::mir::{Function, MInst, MOperand, VReg};
use crate::regalloc::{self, AllocError, Allocated, LdsFrame, LdsRoom, Limits, SpillTo};

/// Where values may go in LDS that find no register.
#[derive(Clone, Copy)]
pub(super) struct Lds {
    pub room: LdsRoom,
    pub workgroup: [u32; 3],
}

/// A kernel on machine registers.
pub(super) struct Registers {
    pub allocated: Allocated,
    /// With the scratch memory that values take which found no register.
    pub inputs: Inputs,
}

/// Allocates registers for a function in its scheduled order, or in the written one.
pub(super) fn assign(
    scheduled: Option<Function>,
    function: Function,
    inputs: Inputs,
    limits: &Limits,
    lds: Lds,
) -> Result<Registers, Box<AllocError>> {
    let Some(scheduled) = scheduled else { return allocate(&function, inputs, limits, lds) };
    let first = allocate(&scheduled, inputs, limits, lds);
    let cost = |r: &Registers| r.allocated.spills.total();
    match first {
        Ok(ref found) if cost(found) == 0 => first,
        // The order of the text may need fewer registers.
        first => match (first, allocate(&function, inputs, limits, lds)) {
            (Ok(a), Ok(b)) => Ok(if cost(&b) < cost(&a) { b } else { a }),
            (Err(_), Ok(b)) => Ok(b),
            (a, Err(_)) => a,
        },
    }
}

fn allocate(
    function: &Function,
    inputs: Inputs,
    limits: &Limits,
    lds: Lds,
) -> Result<Registers, Box<AllocError>> {
    match regalloc::allocate(function, limits) {
        Ok(allocated) => return Ok(Registers { allocated, inputs }),
        Err(AllocError::DoesNotFit { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let (mut function, mut inputs) = (function.clone(), inputs);
    let frame = inputs.reserve_scratch(&mut function, 4, 4);
    set_up_first(&mut function);
    let mut spill = SpillTo { frame: Some(frame), ..limits.spill };
    if lds.room.slots > 0 {
        let address = inputs.lane_address(&mut function, lds.workgroup, lds.room.address);
        spill.lds = Some(LdsFrame { address, room: lds.room });
    }
    let limits = Limits { spill, ..*limits };
    let allocated = regalloc::allocate(&function, &limits)?;
    inputs.scratch_bytes = inputs.scratch_bytes.max(allocated.spills.frame_bytes);
    Ok(Registers { allocated, inputs })
}

/// Puts the set-up of `FLAT_SCRATCH` before everything else: the first values may go to scratch already.
fn set_up_first(function: &mut Function) {
    let Some(entry) = function.blocks.first_mut() else { return };
    let writes = |inst: &MInst| matches!(inst.operands.first(), Some(MOperand::Fixed(Operand::Reg(r))) if r.overlaps(FLAT_SCRATCH));
    let sources: Vec<VReg> = entry
        .insts
        .iter()
        .filter(|i| writes(i))
        .flat_map(|i| &i.operands)
        .filter_map(|o| match o {
            MOperand::Virt(s) => Some(s.reg),
            MOperand::Fixed(_) => None,
        })
        .collect();
    let makes =
        |inst: &MInst| matches!(inst.operands.first(), Some(MOperand::Virt(s)) if sources.contains(&s.reg));
    // A stable sort: the order among them stays.
    entry.insts.sort_by_key(|inst| !(writes(inst) || makes(inst)));
}
