//! Chooses what `#[pipeline]` does not specify: the number of stages, and whether LDS arrays are double-buffered.

use gcn_emit::kernel::occupancy::{Limits, SIMDS_PER_CU, Usage};
use gcn_isa::Target;
use gcn_isa::table;
use gcn_sim::timed::at_most;
use hashbrown::HashSet;

use super::super::{Bin, Inst, Kernel, Memory, Place, Region, Value, Variable};
use super::Machine;
use super::buffers::Fill;
use super::plan::Plan;
use super::refuse::SingleReason;

/// The number of cycles for which an instruction other than a matrix instruction occupies its SIMD.
const SLOT: u32 = 4;
/// The largest number of stages that is chosen automatically. More stages gain little (guide/scheduling.md, measured
/// gain), and each costs a copy of the body.
const MOST_STAGES: u32 = 4;
/// The largest number of registers for values loaded ahead, if the number of stages is chosen automatically.
const MOST_HELD: u32 = 64;
/// The number of registers of a wave that the estimate does not account for.
const OTHER_REGISTERS: u32 = 4;

/// The number of trips in flight that covers the latency of a load, if as many waves as possible share the SIMD.
pub(super) fn stages(kernel: &Kernel, machine: Machine, body: &Region, plan: &Plan) -> u8 {
    let sharing = fitting(machine, registers(kernel, body, plan), kernel.lds_bytes());
    let trip = cycles(kernel, machine.target, body) * sharing.max(self::sharing(machine));
    let loads = plan.loads.iter().filter(|v| kernel.ty(**v).place != Place::Uniform);
    let held: u32 = loads.map(|v| u32::from(kernel.ty(*v).dwords())).sum();
    // Scalar loads complete in any order, so a wait for the loads of one trip would also wait for those of all later
    // trips.
    if held == 0 {
        return 2;
    }
    let wanted = 1 + time(machine, "memory.latency").div_ceil(trip.max(1));
    wanted.min(1 + MOST_HELD / held).clamp(2, MOST_STAGES) as u8
}

/// A lower bound of the number of cycles for which a trip occupies its SIMD.
fn cycles(kernel: &Kernel, target: Target, body: &Region) -> u32 {
    let mut cycles = 0;
    body.each_inst(&mut |v| {
        cycles += match &kernel.def(v).inst {
            Inst::Const(_) | Inst::Read(_) | Inst::Write { .. } | Inst::Splat(_) | Inst::Bitcast(_) => 0,
            Inst::Extract { .. } | Inst::Concat(_) => 0,
            inst => matrix_cycles(inst, target).unwrap_or(SLOT),
        };
    });
    cycles
}

/// The number of cycles for which a matrix instruction occupies the matrix pipe; `None` for other instructions.
pub(super) fn matrix_cycles(inst: &Inst, target: Target) -> Option<u32> {
    let Inst::Machine(call) = inst else { return None };
    let row = table::find_mnemonic(target, call.mnemonic).find(|row| row.is_matrix())?;
    Some(SLOT * u32::from(row.passes_with(target, &call.given.mods)))
}

/// The number of waves of a workgroup that share a SIMD.
pub(super) fn sharing(machine: Machine) -> u32 {
    waves(machine).div_ceil(SIMDS_PER_CU)
}

/// The number of cycles from the arrival at a barrier until each wave of the workgroup has moved `dwords` dwords per
/// lane between LDS and registers.
pub(super) fn lds_cycles(machine: Machine, dwords: u32) -> u32 {
    let moved = (waves(machine) * machine.wave.lanes() * dwords).div_ceil(machine.target.lds_banks());
    time(machine, "barrier.release") + time(machine, "lds.latency") + moved
}

/// A parameter of the timing model, in cycles.
fn time(machine: Machine, name: &str) -> u32 {
    // A test checks that each parameter named here exists.
    at_most(machine.target, name).and_then(|cycles| u32::try_from(cycles).ok()).unwrap_or(0)
}

fn waves(machine: Machine) -> u32 {
    machine.workgroup.iter().product::<u32>().div_ceil(machine.wave.lanes()).max(1)
}

/// The number of LDS bytes of a workgroup with double buffering.
fn doubled(kernel: &Kernel, fill: &Fill) -> u32 {
    let more = fill.arrays.iter().map(|id| kernel.lds[id.0 as usize].bytes.next_multiple_of(16));
    kernel.lds_bytes().next_multiple_of(16) + more.sum::<u32>()
}

/// Returns an error if double buffers do not fit into LDS.
pub(super) fn room(kernel: &Kernel, machine: Machine, fill: &Fill) -> Result<(), SingleReason> {
    let (bytes, limit) = (doubled(kernel, fill), machine.target.lds_per_cu());
    match machine.more_lds && bytes <= limit {
        true => Ok(()),
        false => Err(SingleReason::Room(bytes, if machine.more_lds { limit } else { kernel.lds_bytes() })),
    }
}

/// True if double buffering reduces the number of waves that fit on a compute unit. It then does not pay, because the
/// other waves would hide more latency.
pub(super) fn crowds(kernel: &Kernel, machine: Machine, body: &Region, plan: &Plan, fill: &Fill) -> bool {
    let registers = registers(kernel, body, plan);
    fitting(machine, registers, doubled(kernel, fill)) < fitting(machine, registers, kernel.lds_bytes())
}

/// True if only one workgroup fits on a compute unit.
pub(super) fn alone(kernel: &Kernel, machine: Machine, body: &Region, plan: &Plan) -> bool {
    fitting(machine, registers(kernel, body, plan), kernel.lds_bytes()) < 2 * sharing(machine)
}

/// The number of workgroups that fit on a compute unit if each wave needs `more` additional vector registers.
pub(super) fn groups(kernel: &Kernel, machine: Machine, body: &Region, plan: &Plan, more: u32) -> u32 {
    fitting(machine, registers(kernel, body, plan) + more, kernel.lds_bytes()) / sharing(machine)
}

/// The number of waves that fit on a SIMD.
fn fitting(machine: Machine, vgprs: u32, lds_bytes: u32) -> u32 {
    let usage = Usage { vgprs, sgprs: 1, lds_bytes, waves_per_workgroup: waves(machine) };
    let limits = Limits::of_usage(machine.target, usage);
    limits.vgprs.min(limits.lds).min(limits.workgroups).min(limits.slots)
}

/// An estimate of the number of vector registers that a wave uses in the loop: for variables that are live across
/// trips, values loaded from LDS in a trip, values loaded ahead, and loop-invariant addresses.
fn registers(kernel: &Kernel, body: &Region, plan: &Plan) -> u32 {
    let (mut carried, mut inside): (HashSet<Variable>, HashSet<Value>) = Default::default();
    let (mut loaded, mut addresses) = (0, HashSet::new());
    let vector =
        |v: Value| if kernel.ty(v).place == Place::Uniform { 0 } else { u32::from(kernel.ty(v).dwords()) };
    body.each_inst(&mut |v| {
        inside.insert(v);
        let (memory, offset, is_load) = match &kernel.def(v).inst {
            Inst::Write { var, .. } => {
                carried.insert(*var);
                return;
            }
            Inst::Load { memory, offset, .. } => (memory, *offset, true),
            Inst::Store { memory, offset, .. } => (memory, *offset, false),
            _ => return,
        };
        if matches!(memory, Memory::Lds(_)) {
            loaded += if is_load { vector(v) } else { 0 };
            addresses.insert(base(kernel, offset));
        }
    });
    let types = carried.iter().map(|var| kernel.variables[var.0 as usize]);
    let carried: u32 = types.filter(|ty| ty.place != Place::Uniform).map(|ty| u32::from(ty.dwords())).sum();
    let addresses: u32 = addresses.difference(&inside).map(|v| vector(*v)).sum();
    carried + loaded + plan.loads.iter().map(|v| vector(*v)).sum::<u32>() + addresses + OTHER_REGISTERS
}

/// An address without the constant part, which goes into the instruction's offset field.
fn base(kernel: &Kernel, offset: Value) -> Value {
    match kernel.def(offset).inst {
        Inst::Bin(Bin::Add, base, more) if matches!(kernel.def(more).inst, Inst::Const(_)) => base,
        _ => offset,
    }
}
