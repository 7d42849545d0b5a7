//! Latencies of results, in issue slots of one wave (4 clocks). They are rough: they rank the scheduler's
//! choices, and correctness does not depend on them.

use gcn_isa::Target;
use gcn_isa::table::{Access, Class};
use gcn_isa::target::WAVE_SIZE;

use crate::mir::{MInst, MOperand, Op};

/// Slots until a result of a vector memory load is there: some hundred clocks from L2.
const VMEM: u32 = 120;
/// Scalar loads, from the scalar cache.
const SMEM: u32 = 50;
/// LDS without bank conflicts.
const LDS: u32 = 16;
/// Transcendental instructions run at a quarter of the rate.
const TRANS: u32 = 4;
/// Slots from the last pass of a matrix instruction until its result is available.
const MATRIX_TAIL: u32 = 2;

/// Passes of a matrix instruction. During these the matrix pipe cannot start another instruction.
pub(super) fn matrix_passes(target: Target, inst: &MInst) -> Option<u32> {
    match &inst.op {
        // The passes of the f8f6f4 instructions depend on the formats, which are not known here; 8 is between
        // the two values.
        Op::Machine(desc, _) if desc.is_matrix() => Some(u32::from(desc.passes(target).unwrap_or(8))),
        _ => None,
    }
}

/// Slots for which a load from LDS occupies its banks, if a wave of each of the four SIMDs loads: each bank gives a dword a clock, and a
/// slot has four clocks.
pub(super) fn lds_slots(target: Target, inst: &MInst) -> Option<u32> {
    let Op::Machine(desc, _) = &inst.op else { return None };
    let Some(MOperand::Virt(result)) = inst.operands.first() else { return None };
    let dwords = WAVE_SIZE * u32::from(result.len);
    (desc.class == Class::LdsRead).then_some(dwords.div_ceil(target.lds_banks()))
}

/// Slots from issue until the result can be read.
pub(super) fn of_result(target: Target, inst: &MInst) -> u32 {
    if let Some(passes) = matrix_passes(target, inst) {
        return passes + MATRIX_TAIL;
    }
    let Op::Machine(desc, _) = &inst.op else { return 1 };
    match desc.class {
        Class::Trans => TRANS,
        _ if desc.operands.iter().all(|o| o.access == Access::Read) => 1,
        _ if desc.is_vmem() => VMEM,
        _ if desc.is_smem() => SMEM,
        _ if desc.is_ds() => LDS,
        _ => 1,
    }
}
