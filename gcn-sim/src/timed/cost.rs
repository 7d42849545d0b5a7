//! The static costs of each instruction: its pipeline, the cycles for which it occupies the pipeline, and the events for which it waits.

use gcn_isa::counters::{Counter, Event, WaitCnt, events, room};
use gcn_isa::delay::{hinted, latency};
use gcn_isa::hazards::{View, wait_states};
use gcn_isa::layout::shape_on;
use gcn_isa::reg::{NULL, Reg, RegFile};
use gcn_isa::table::{Access, Behaviours, Class, ImplicitRegs, InstDesc, MemBytes};
use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, Operand, Target};

use super::lds::Transfer;
use super::stall::Pipe;
use crate::core::machine::Machine;
use crate::core::params::Params;

/// The number of operations that each counter counts.
pub(super) type Counts = [u8; Counter::ALL.len()];

/// The effect of issuing an instruction on its wave and on shared units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// No effect beyond the times that the other fields describe.
    Plain,
    /// The next instruction issues this many cycles later.
    Nop(u64),
    /// The wave sleeps for this many cycles.
    Sleep(u64),
    Wait(WaitCnt),
    Branch,
    Priority(u8),
    Lds(Transfer),
    /// A vector memory access. For flat instructions, `transfer` is the data that may go to LDS. `bypass`: the access does not look up L1.
    Vmem {
        transfer: Transfer,
        bypass: bool,
    },
    Smem,
    /// Reads a clock.
    Time,
    Message,
    /// Invalidates lines of the vector cache.
    InvalidateVector,
    /// Invalidates lines of the scalar cache.
    InvalidateScalar,
}

/// The part of an instruction's timing that does not depend on the run.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    pub pipe: Pipe,
    /// The number of cycles for which the VALU accepts no other instruction.
    pub valu: u64,
    /// The number of cycles for which the matrix core accepts no other instruction.
    pub matrix: u64,
    /// The number of cycles for which the transcendental unit accepts no other instruction, on targets where it works in parallel to the
    /// VALU.
    pub trans: u64,
    pub kind: Kind,
    /// The increment of each wait counter.
    pub counts: Counts,
    /// For each counter, the largest value at which the instruction can issue.
    pub room: WaitCnt,
    /// True if the instruction's results return in the order of issue of its stream (vector memory or LDS).
    pub in_order: bool,
    /// True if the instruction waits for no counter: neither for a counter to be low enough, nor for a counter to have room.
    pub free: bool,
    /// The [slots] of registers for whose pending results the hardware stalls the instruction.
    pub waits_for: Vec<u16>,
    /// The slots of registers whose results other instructions may have to wait for.
    pub writes: Vec<u16>,
    /// The number of cycles until the instruction's results can be read.
    pub latency: u64,
    /// True if the SIMD issues nothing else while the instruction waits for a result.
    pub holds: bool,
    /// The first and the last line of the instruction cache that contain the instruction.
    pub lines: (u64, u64),
    /// The number of consecutive scalar instructions, from this one on, that only their own wave can observe, and that are followed by an
    /// instruction in the same cache lines.
    pub run: u32,
}

/// The costs of every instruction of a kernel.
pub(super) fn costs(machine: &Machine, params: &Params) -> Vec<Cost> {
    let line = params.number("instruction.line").max(1);
    let at = |address: u64| (machine.code_base() + address) / line;
    let steps = machine.steps().iter();
    let on = Subtarget { target: machine.target(), wave: machine.state().wave_size };
    let mut costs: Vec<Cost> = steps
        .map(|step| {
            let (first, end) = (u64::from(step.offset), u64::from(step.offset + step.size.max(1)));
            let mut cost = cost(on, &step.inst, params);
            cost.lines = (at(first), at(end - 1));
            cost
        })
        .collect();
    for (i, step) in machine.steps().iter().enumerate() {
        for after in hinted(&step.inst).into_iter().flatten() {
            // `s_delay_alu` announces this dependence, so the SIMD can issue from other waves instead.
            if let Some(cost) = costs.get_mut(i + 1 + after) {
                cost.holds = false;
            }
        }
    }
    let mut next: Option<((u64, u64), u32)> = None;
    for (cost, step) in costs.iter_mut().zip(machine.steps()).rev() {
        let plain = cost.pipe == Pipe::Scalar && cost.kind == Kind::Plain && cost.free;
        let alone = plain && step.inst.desc.class == Class::Salu && cost.writes.is_empty();
        cost.run = next.filter(|(lines, _)| alone && *lines == cost.lines).map_or(0, |(_, run)| run + 1);
        next = Some((cost.lines, cost.run));
    }
    costs
}

/// The number of register slots in the model: SGPRs by number, then VGPRs, then SCC.
pub(super) const SLOTS: usize = SCC as usize + 1;
const FIRST_VGPR: u16 = 128;
const SCC: u16 = FIRST_VGPR + 256;

/// The slots of a register; `None` for registers whose results no instruction waits for.
fn slots(reg: Reg) -> Option<std::ops::Range<u16>> {
    match reg.file {
        RegFile::Sgpr => Some(reg.index..reg.end()),
        RegFile::Vgpr => Some(FIRST_VGPR + reg.index..FIRST_VGPR + reg.end()),
        RegFile::Agpr => None,
    }
}

/// The slots for which an instruction waits, the slots that it writes, and the cycles until its results can be read.
struct Dependencies {
    waits_for: Vec<u16>,
    writes: Vec<u16>,
    latency: u64,
}

impl Dependencies {
    /// The dependencies on targets whose hardware interlocks all ALU results.
    fn of_alu(inst: &Inst, pipe: Pipe, matrix: u64, params: &Params) -> Dependencies {
        let desc = inst.desc;
        let all = |regs: &mut dyn Iterator<Item = Reg>, implied: ImplicitRegs| -> Vec<u16> {
            let scc = implied.contains(ImplicitRegs::SCC).then_some(SCC);
            regs.filter(|reg| *reg != NULL).filter_map(slots).flatten().chain(scc).collect()
        };
        let cycles = latency(desc).map(u64::from);
        let reads = pipe != Pipe::Internal;
        Dependencies {
            waits_for: match reads {
                true => all(&mut inst.reads().iter().map(|u| u.reg), desc.implicit_reads),
                false => Vec::new(),
            },
            writes: match cycles {
                Some(_) => all(&mut inst.writes().iter().map(|u| u.reg), desc.implicit_writes),
                None => Vec::new(),
            },
            latency: if matrix > 0 { matrix + params.number("dependency.wmma") } else { cycles.unwrap_or(0) },
        }
    }

    /// The dependencies on targets whose hardware interlocks only SGPRs that the VALU writes and other units read.
    fn of_sgprs(inst: &Inst, pipe: Pipe, params: &Params) -> Dependencies {
        let sgprs = |wanted: bool, regs: &mut dyn Iterator<Item = Reg>| -> Vec<u16> {
            let regs = regs.filter(|reg| wanted && reg.file == RegFile::Sgpr);
            regs.filter_map(slots).flatten().collect()
        };
        let held_back = matches!(pipe, Pipe::Scalar | Pipe::Misc);
        Dependencies {
            waits_for: sgprs(held_back, &mut inst.reads().iter().map(|u| u.reg)),
            writes: sgprs(pipe == Pipe::Valu, &mut inst.writes().iter().map(|u| u.reg)),
            latency: params.number("dependency.valu-sgpr"),
        }
    }
}

/// The cost of one instruction, except for what depends on its position in the code.
pub(super) fn cost(on: Subtarget, inst: &Inst, params: &Params) -> Cost {
    let (desc, target) = (inst.desc, on.target);
    let pipe = pipe(desc);
    let (valu, matrix, trans) = vector_cycles(on, inst, params);
    let set = target.instruction_set();
    let events = events(target, inst);
    let count = |counter| events.iter().filter(|e| e.stream.counter(set) == counter).map(|e| e.count).sum();
    let Dependencies { waits_for, writes, latency } = match params.number("dependency.alu") {
        0 => Dependencies::of_sgprs(inst, pipe, params),
        _ => Dependencies::of_alu(inst, pipe, matrix, params),
    };
    let alu = matches!(pipe, Pipe::Valu | Pipe::Matrix | Pipe::Scalar);
    let (kind, counts) = (kind(target, inst, params), Counter::ALL.map(count));
    Cost {
        pipe,
        valu,
        matrix,
        trans,
        kind,
        counts,
        room: room(set, &events),
        free: counts == Counts::default() && !matches!(kind, Kind::Wait(_)),
        in_order: in_order(&events),
        waits_for,
        writes,
        latency,
        holds: alu && params.number("dependency.holds-simd") != 0,
        lines: (0, 0),
        run: 0,
    }
}

impl Cost {
    /// True if the instruction increments any counter.
    pub fn counts_something(&self) -> bool {
        self.counts != Counts::default()
    }
}

fn in_order(events: &[Event]) -> bool {
    events.iter().all(|e| e.stream.in_order())
}

fn pipe(desc: &InstDesc) -> Pipe {
    use Class as C;
    match desc.class {
        _ if desc.is_matrix() => Pipe::Matrix,
        C::Wmma | C::Swmmac => Pipe::Matrix,
        _ if desc.format.is_vop() => Pipe::Valu,
        C::FlatLoad | C::FlatStore | C::FlatAtomic | C::FlatAtomicRet => Pipe::Flat,
        C::Nop | C::Sleep | C::Waitcnt | C::Barrier | C::Endpgm | C::SoppMisc | C::DelayAlu => Pipe::Internal,
        C::Branch | C::Sendmsg | C::Trap => Pipe::Misc,
        C::LdsDirect | C::LdsParam => Pipe::Lds,
        _ if desc.is_ds() => Pipe::Lds,
        _ if desc.is_vmem() => Pipe::Tex,
        _ => Pipe::Scalar,
    }
}

/// The cycles for which the VALU, the matrix core and the transcendental unit are occupied.
fn vector_cycles(on: Subtarget, inst: &Inst, params: &Params) -> (u64, u64, u64) {
    let (desc, target) = (inst.desc, on.target);
    if matches!(desc.class, Class::Wmma | Class::Swmmac) {
        let cycles = params.number(wmma(on, desc));
        return (cycles, cycles, 0);
    }
    if desc.is_matrix() {
        let matrix = u64::from(View::new(target, inst).passes()) * params.number("matrix.pass");
        let whole = desc.class == Class::MfmaDgemm && params.number("issue.dgemm-takes-valu") != 0;
        let port = params.number("issue.matrix-takes-valu");
        return (if whole { matrix } else { port.min(matrix) }, matrix, 0);
    }
    if !desc.format.is_vop() {
        return (0, 0, 0);
    }
    // An instruction with a scalar result computes a single lane.
    let lanes = if desc.class == Class::TransScalar { 1 } else { u64::from(on.wave.lanes()) };
    let passes = lanes.div_ceil(params.number("valu.lanes").max(1));
    let transcendental = matches!(desc.class, Class::Trans | Class::TransScalar);
    let trans = if transcendental { params.number("trans.busy") * passes } else { 0 };
    (params.number(rate(desc)) * passes, 0, trans)
}

/// The name of the parameter with the cycles of a WMMA instruction, which depends on the element type of A.
fn wmma(on: Subtarget, desc: &InstDesc) -> &'static str {
    match shape_on(desc, on).and_then(|shape| shape.a.bits()) {
        Some(4) => "matrix.wmma-4",
        Some(8) => "matrix.wmma-8",
        _ => "matrix.wmma-16",
    }
}

/// The name of the parameter with the cycles of a VALU instruction.
pub(super) fn rate(desc: &InstDesc) -> &'static str {
    let f64 = desc.entry.has_doubles();
    let of = |names: &[&str]| names.contains(&desc.mnemonic);
    let exchanged = desc.operands.iter().filter(|operand| operand.access == Access::ReadWrite);
    match () {
        () if desc.class == Class::Trans && f64 => "valu.f64-trans",
        () if desc.class == Class::Trans => "valu.trans",
        () if desc.does(Behaviours::CONVERTS) && f64 => "valu.f64-cvt",
        () if of(&SLOW_CONVERSIONS) => "valu.cvt",
        () if of(&DIVISIONS) && f64 => "valu.f64-div",
        () if of(&DIVISIONS) => "valu.div32",
        () if f64 => "valu.f64",
        () if of(&MULTIPLICATIONS) => "valu.i32-mul",
        () if of(&SUMS_OF_DIFFERENCES) => "valu.sad",
        () if desc.halves.is_none() && exchanged.count() > 1 => "valu.swap",
        () if desc.entry.has_long_integers() => "valu.i64",
        () => "valu.full",
    }
}

/// Instructions that support divisions and argument reduction.
const DIVISIONS: [&str; 5] =
    ["v_div_scale_f32", "v_div_scale_f64", "v_div_fmas_f32", "v_div_fmas_f64", "v_trig_preop_f64"];

/// Multiplications of 32-bit or wider factors.
const MULTIPLICATIONS: [&str; 8] = [
    "v_mul_lo_u32",
    "v_mul_lo_i32",
    "v_mad_co_u64_u32",
    "v_mad_co_i64_i32",
    "v_mul_hi_u32",
    "v_mul_hi_i32",
    "v_mad_u64_u32",
    "v_mad_i64_i32",
];

/// Sums of absolute differences with results of at least 64 bits.
const SUMS_OF_DIFFERENCES: [&str; 2] = ["v_qsad_pk_u16_u8", "v_mqsad_u32_u8"];

/// Conversions that take four times as long as other instructions (LLVM 22 scheduling model), except those of f64.
const SLOW_CONVERSIONS: [&str; 18] = [
    "v_cvt_f16_f32",
    "v_cvt_f32_f16",
    "v_cvt_f32_bf16",
    "v_cvt_f32_i32",
    "v_cvt_f32_u32",
    "v_cvt_i32_f32",
    "v_cvt_u32_f32",
    "v_cvt_flr_i32_f32",
    "v_cvt_rpi_i32_f32",
    "v_cvt_off_f32_i4",
    "v_cvt_f32_bf8",
    "v_cvt_f32_fp8",
    "v_cvt_pk_bf8_f32",
    "v_cvt_pk_fp8_f32",
    "v_cvt_pk_f32_bf8",
    "v_cvt_pk_f32_fp8",
    "v_cvt_sr_bf8_f32",
    "v_cvt_sr_fp8_f32",
];

fn kind(target: Target, inst: &Inst, params: &Params) -> Kind {
    use Class as C;
    let desc = inst.desc;
    let imm = match inst.operands.first() {
        Some(Operand::Imm(imm)) => *imm,
        _ => 0,
    };
    match desc.class {
        C::Nop => Kind::Nop(u64::from(wait_states(inst)) * params.number("issue.interval")),
        // MI100 ISA, S_SLEEP: 64 times the low 7 bits of the immediate, plus up to 64 cycles.
        C::Sleep => Kind::Sleep((imm as u64 & 0x7f) * params.number("sleep.unit")),
        C::Waitcnt => Kind::Wait(WaitCnt::of(inst).unwrap_or(WaitCnt::NONE)),
        C::Branch => Kind::Branch,
        C::Sendmsg => Kind::Message,
        C::SmemTime => Kind::Time,
        C::SmemCache => Kind::InvalidateScalar,
        C::SmemLoad | C::SmemStore | C::SmemAtomic | C::SmemAtomicRet => Kind::Smem,
        C::CacheCtl if desc.does(Behaviours::INVALIDATES) => Kind::InvalidateVector,
        C::CacheCtl => Kind::Plain,
        C::SoppMisc if desc.does(Behaviours::SETS_PRIORITY) => Kind::Priority(imm as u8 & 3),
        _ if desc.is_ds() => Kind::Lds(transfer(desc)),
        _ if desc.is_vmem() => {
            let mods = &inst.mods;
            // LLVM AMDGPU guide, memory model: agent-scope loads bypass L1 if they have glc or, from gfx942 on, sc1. On GFX12, loads whose
            // scope is wider than the compute unit bypass L1.
            let bypass = if target.is_gfx940_family() { mods.scc } else { mods.glc || mods.scope > 0 };
            Kind::Vmem { transfer: transfer(desc), bypass }
        }
        _ => Kind::Plain,
    }
}

/// The number of bytes of each lane that pass through an LDS port.
fn transfer(desc: &InstDesc) -> Transfer {
    use Class as C;
    let data = match desc.mem_bytes {
        MemBytes::Bytes(n) => u64::from(n).max(4),
        _ => 4,
    };
    let (input, output) = match desc.class {
        C::LdsRead | C::FlatLoad => (4, data),
        C::LdsWrite | C::FlatStore => (4 + data, 0),
        C::LdsAtomic | C::FlatAtomic => (4 + data, 0),
        C::LdsAtomicRet | C::FlatAtomicRet => (4 + data, data),
        _ => (8, 4),
    };
    Transfer { input, output }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use gcn_isa::table;

    use super::*;

    /// Compares with LLVM 22's scheduling models. Where they differ, the row of the parameter gives the reason.
    #[test]
    fn vector_instructions_take_as_long_as_llvm_says_or_a_better_source() {
        let mut llvm: HashMap<(&str, &str), u64> = HashMap::new();
        for line in include_str!("../../tests/data/llvm22-valu-latency.tsv").lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            for target in fields[1].split(',') {
                llvm.insert((fields[0], target), fields[2].parse().unwrap());
            }
        }
        let mut compared = 0;
        for target in Target::REPRESENTATIVES {
            let params = Params::new(target, &[]);
            let old = !target.has_unified_agprs();
            for row in table::rows().iter().filter(|row| row.is_valu() && row.targets.contains(target)) {
                let latency = llvm.get(&(row.mnemonic, target.name())).copied().unwrap_or(1);
                let expected = match rate(row) {
                    // According to the white paper, transcendental instructions are twice as fast on gfx950.
                    "valu.trans" if target == Target::GFX950 => 8,
                    // Published peak rates: 1/16 and half rate.
                    "valu.f64" if target == Target::GFX900 => 64,
                    "valu.f64" if old => 8,
                    // LLVM puts these instructions into the same class as f64.
                    "valu.div32" if old => 16,
                    // LLVM has latency 1, but the unit is used twice.
                    "valu.swap" => 8,
                    _ => 4 * latency,
                };
                assert_eq!(params.number(rate(row)), expected, "{target} {} {}", row.mnemonic, rate(row));
                compared += 1;
            }
        }
        assert!(compared > 3000, "{compared}");
    }

    /// Compares with LLVM 22's latencies for RDNA (`gcn-isa/data/latency-rdna.tsv`): an instruction with a slower rate has a longer latency
    /// there than the usual 5.
    #[test]
    fn vector_instructions_of_rdna_take_as_long_as_their_latency_says() {
        let mut compared = 0;
        for target in Target::KNOWN.into_iter().filter(|target| target.has_workgroup_processors()) {
            let params = Params::new(target, &[]);
            let rows = table::rows_of(target.family()).iter().filter(|row| row.targets.contains(target));
            for row in rows.filter(|row| row.is_valu() && !matches!(row.class, Class::Wmma | Class::Swmmac)) {
                let expected = match latency(row) {
                    // LLVM assumes that comparisons of doubles that write EXEC are as fast as comparisons of integers.
                    Some(6) if row.entry.has_doubles() => 16,
                    Some(6) => 2,
                    Some(8) => 4,
                    Some(22 | 24 | 38 | 40) => 16,
                    // The issue takes one cycle; transcendental instructions then continue in a separate unit.
                    Some(5 | 7 | 10) => 1,
                    other => panic!("{target} {}: {other:?}", row.mnemonic),
                };
                assert_eq!(params.number(rate(row)), expected, "{target} {} {}", row.mnemonic, rate(row));
                compared += 1;
            }
        }
        assert!(compared > 3000, "{compared}");
    }

    #[test]
    fn every_instruction_has_a_pipeline_and_every_vector_instruction_takes_time() {
        for target in Target::REPRESENTATIVES {
            let params = Params::new(target, &[]);
            for row in table::rows().iter().filter(|row| row.targets.contains(target)) {
                if row.is_matrix() {
                    assert_eq!(pipe(row), Pipe::Matrix);
                } else if row.format.is_vop() {
                    let cycles = params.number(rate(row));
                    assert!(
                        pipe(row) == Pipe::Valu && cycles >= 4 && cycles.is_multiple_of(4),
                        "{}",
                        row.mnemonic
                    );
                }
            }
        }
    }
}
