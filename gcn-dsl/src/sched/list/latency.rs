//! Latencies of results, in issue slots of one wave (4 clocks each). They are rough estimates that rank the scheduler's
//! choices; correctness does not depend on them.

use gcn_isa::Target;
use gcn_isa::table::{Access, Class};
use gcn_isa::target::WAVE_SIZE;

use crate::mir::{MInst, MOperand, Op};

/// Slots until the result of a vector memory load is available: several hundred clocks, from L2.
const VMEM: u32 = 120;
/// Slots until the result of a scalar load is available. Data that a loop streams comes from L2 as well, so the number
/// is that of vector loads.
const SMEM: u32 = 120;
/// Slots until the result of an LDS load is available, without bank conflicts.
const LDS: u32 = 16;
/// The number of dwords per clock that the L1 vector cache delivers to all SIMDs together.
const L1_DWORDS: u32 = 32;
/// The factor by which transcendental instructions are slower than others: they run at a quarter of the rate.
const TRANS: u32 = 4;
/// Slots until the scalar unit can read a scalar register that a vector instruction has written, such as the lanes of a
/// comparison. Vector instructions read it in the next slot.
const LANES_TO_SCALAR: u32 = 5;
/// Slots from a matrix instruction's last pass until its result is available.
const MATRIX_TAIL: u32 = 2;

/// The number of passes of a matrix instruction, during which the matrix pipe cannot start another one.
///
/// WMMA counts as other vector instructions, whose unit it occupies: nothing of that unit fits beside it. With 4 to 32 slots for it, the
/// products of `gcn-kernels` take between 0.5% fewer and 0.1% more cycles in the timed simulator.
pub(super) fn matrix_passes(target: Target, inst: &MInst) -> Option<u32> {
    match &inst.op {
        Op::Machine(desc, mods) if desc.is_matrix() => Some(u32::from(desc.passes_with(target, mods))),
        _ => None,
    }
}

/// For each instruction, the number of slots for which it occupies LDS, and the number for which it occupies vector
/// memory, assuming that one wave on each of the four SIMDs does the same; 0 for all other instructions. Stores to LDS
/// and loads from memory count only in a window that contains both, and matrix instructions: there, a wave that waits
/// for a full queue would issue no matrix instructions.
pub(super) fn memory_slots(target: Target, insts: &[MInst]) -> (Vec<u32>, Vec<u32>) {
    let class = |inst: &MInst, is: Class| matches!(&inst.op, Op::Machine(desc, _) if desc.class == is);
    let multiplies = insts.iter().any(|inst| matrix_passes(target, inst).is_some());
    let spread = multiplies && insts.iter().any(|inst| class(inst, Class::LdsWrite));
    let lds = insts.iter().map(|inst| {
        let moved = if class(inst, Class::LdsRead) {
            inst.operands.first()
        } else if spread && class(inst, Class::LdsWrite) {
            inst.operands.iter().rev().find(|operand| matches!(operand, MOperand::Virt(_)))
        } else {
            None
        };
        dwords(moved).div_ceil(target.lds_banks())
    });
    let vmem = insts.iter().map(|inst| match &inst.op {
        Op::Machine(desc, _) if spread && desc.is_vmem() => dwords(inst.operands.first()).div_ceil(L1_DWORDS),
        _ => 0,
    });
    (lds.collect(), vmem.collect())
}

/// The number of dwords that a wave moves to or from these registers, summed over its lanes.
fn dwords(moved: Option<&MOperand>) -> u32 {
    match moved {
        Some(MOperand::Virt(registers)) => WAVE_SIZE * u32::from(registers.len),
        _ => 0,
    }
}

/// The number of slots from issue until the result can be read.
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

/// The number of slots from issue until `reader` can read a result of `writer`. `result` is that number for most
/// readers, which [`of_result`] gives.
pub(super) fn between(result: u32, writer: &MInst, reader: &MInst) -> u32 {
    match (&writer.op, &reader.op) {
        (Op::Machine(from, _), Op::Machine(to, _)) if from.is_valu() && to.is_salu() => {
            result.max(LANES_TO_SCALAR)
        }
        _ => result,
    }
}
