//! Register allocation for a kernel. It uses the scheduled order or the source order, whichever needs less spill code,
//! and uses scratch memory only if the other destinations of spilled values are not enough.

use std::borrow::Cow;

use crate::mir::Inputs;
use crate::mir::scratch;
use crate::mir::{Function, MOperand, VReg};
use crate::regalloc::{self, AllocError, Allocated, Draft, LdsFrame, LdsRoom, Limits, SpillTo};

/// The LDS that is available for spilled values.
#[derive(Clone, Copy)]
pub(super) struct Lds {
    pub room: LdsRoom,
    pub workgroup: [u32; 3],
}

/// The result of register allocation.
pub(super) struct Registers {
    pub allocated: Allocated,
    /// The kernel's inputs, including the scratch memory for spilled values.
    pub inputs: Inputs,
}

/// An allocation that is compared with another and may be rejected.
struct Candidate<'f> {
    draft: Draft<'f>,
    inputs: Inputs,
}

impl Candidate<'_> {
    fn cost(&self) -> usize {
        self.draft.spills().total()
    }

    fn verified(self) -> Result<Registers, Box<AllocError>> {
        let Candidate { draft, mut inputs } = self;
        let allocated = draft.verified()?;
        inputs.scratch_bytes = inputs.scratch_bytes.max(allocated.spills.frame_bytes);
        Ok(Registers { allocated, inputs })
    }
}

/// Allocates registers for the scheduled order of the instructions, or for their source order if that needs less spill
/// code.
pub(super) fn assign(
    scheduled: Option<Function>,
    function: Function,
    inputs: Inputs,
    limits: &Limits,
    lds: Lds,
) -> Result<Registers, Box<AllocError>> {
    let Some(scheduled) = scheduled else { return allocate(&function, inputs, limits, lds)?.verified() };
    let first = allocate(&scheduled, inputs, limits, lds);
    if first.as_ref().is_ok_and(|first| first.cost() == 0) {
        return first?.verified();
    }
    // The source order may need fewer registers.
    match (first, allocate(&function, inputs, limits, lds)) {
        (Ok(a), Ok(b)) => {
            let (better, other) = if b.cost() < a.cost() { (b, a) } else { (a, b) };
            better.verified().or_else(|_| other.verified())
        }
        (Err(_), Ok(only)) => only.verified(),
        (first, Err(_)) => first?.verified(),
    }
}

fn allocate<'f>(
    function: &'f Function,
    mut inputs: Inputs,
    limits: &Limits,
    lds: Lds,
) -> Result<Candidate<'f>, Box<AllocError>> {
    match regalloc::draft(Cow::Borrowed(function), limits) {
        Ok(draft) => return Ok(Candidate { draft, inputs }),
        Err(AllocError::DoesNotFit { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let mut function = function.clone();
    let frame = inputs.reserve_scratch(&mut function, 4, 4);
    set_up_first(&mut function);
    let mut spill = SpillTo { frame: Some(frame), ..limits.spill };
    if lds.room.slots > 0 {
        let address = inputs.lane_address(&mut function, lds.workgroup, lds.room.address);
        spill.lds = Some(LdsFrame { address, room: lds.room });
    }
    let draft = regalloc::draft(Cow::Owned(function), &Limits { spill, ..*limits })?;
    Ok(Candidate { draft, inputs })
}

/// Moves the set-up of `FLAT_SCRATCH` before all other instructions, since even the first values may be spilled to
/// scratch.
fn set_up_first(function: &mut Function) {
    let target = function.target;
    let Some(entry) = function.blocks.first_mut() else { return };
    let mut is_part: Vec<bool> = entry.insts.iter().map(|inst| scratch::sets_up(inst, target)).collect();
    let mut sources: Vec<VReg> = Vec::new();
    // The computations of the set-up's operands belong to the set-up. They come before their readers, so the loop runs
    // backwards.
    for (inst, is_part) in entry.insts.iter().zip(&mut is_part).rev() {
        let [first, others @ ..] = &inst.operands[..] else { continue };
        *is_part |= matches!(first, MOperand::Virt(s) if sources.contains(&s.reg));
        if *is_part {
            sources.extend(others.iter().filter_map(|o| match o {
                MOperand::Virt(s) => Some(s.reg),
                MOperand::Fixed(_) => None,
            }));
        }
    }
    let all = std::mem::take(&mut entry.insts).into_iter().zip(is_part);
    let (first, then): (Vec<_>, Vec<_>) = all.partition(|(_, is_part)| *is_part);
    entry.insts.extend(first.into_iter().chain(then).map(|(inst, _)| inst));
}
