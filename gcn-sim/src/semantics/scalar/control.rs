//! Branches, barriers, MODE, and instructions that matter only for timing.

use gcn_isa::memory_model::Table;
use gcn_isa::target::Family;
use gcn_isa::{Inst, indexing};

use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::value::Ty;
use crate::core::wave::Mode;
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    branches(ops);
    jumps(ops);
    // Waits, priorities and cache control have no effect, because the simulator's memory is always up to date.
    for name in [
        "s_nop",
        "s_waitcnt",
        "s_waitcnt_depctr",
        "s_waitcnt_expcnt",
        "s_waitcnt_lgkmcnt",
        "s_waitcnt_vmcnt",
        "s_waitcnt_vscnt",
        "s_wait_bvhcnt",
        "s_wait_dscnt",
        "s_wait_event",
        "s_wait_expcnt",
        "s_wait_idle",
        "s_wait_kmcnt",
        "s_wait_loadcnt",
        "s_wait_loadcnt_dscnt",
        "s_wait_samplecnt",
        "s_wait_storecnt",
        "s_wait_storecnt_dscnt",
        "s_wait_asynccnt",
        "s_wait_tensorcnt",
        "s_wait_xcnt",
        "s_delay_alu",
        "s_clause",
        "s_version",
        "s_inst_prefetch",
        "s_ttracedata_imm",
        "s_gl1_inv",
        "s_prefetch_data",
        "s_prefetch_data_pc_rel",
        "s_prefetch_inst",
        "s_prefetch_inst_pc_rel",
        "s_buffer_prefetch_data",
        "s_setprio",
        "s_setprio_inc_wg",
        "s_sethalt",
        "s_icache_inv",
        "s_incperflevel",
        "s_decperflevel",
        "s_ttracedata",
        "s_setkill",
        "s_dcache_inv",
        "s_dcache_inv_vol",
        "s_dcache_wb",
        "s_dcache_wb_vol",
        "s_dcache_discard",
        "s_dcache_discard_x2",
        "s_atc_probe",
        "s_atc_probe_buffer",
    ] {
        ops.add(name, Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::Fall)));
    }
    ops.add(
        "s_sleep",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            // Counts the cycles of the sleep, so that a loop that sleeps until a certain time needs no more trips than on hardware.
            cx.w.slept += 64 * (s.imm as u64 & 0x7f);
            Ok(Next::Yield)
        }),
    );
    ops.add(
        "s_sleep_var",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            cx.w.slept += 64 * u64::from(cx.scalar(&s.src[0], Ty::B32)? & 0x7f);
            Ok(Next::Yield)
        }),
    );
    // Wakes up at once. A program has to look again at the memory that it watches, because other events wake waves, too.
    ops.add("s_monitor_sleep", Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::Yield)));
    ops.add(
        "s_get_shader_cycles_u64",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let now = cx.w.clock();
            cx.w.set_pair(s.sdst as usize, now);
            Ok(Next::Fall)
        }),
    );
    ops.add("s_wakeup", Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::Yield)));
    ops.add("s_barrier", Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::Barrier)));
    for name in ["s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done"] {
        ops.add(name, Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::End)));
    }
    ops.add("s_barrier_signal", Op::new(|cx: &mut Cx<'_>, s: &Step| signal(cx, s).map(|_| Next::Fall)));
    ops.add(
        "s_barrier_signal_isfirst",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            cx.w.scc = signal(cx, s)?;
            Ok(Next::Fall)
        }),
    );
    ops.add(
        "s_barrier_wait",
        Op::new(|_: &mut Cx<'_>, s: &Step| of_workgroup(s.imm as i16 as i32).map(|()| Next::Signals)),
    );
    ops.add("s_sendmsg_rtn_b32", Op::new(|cx: &mut Cx<'_>, s: &Step| answered(cx, s, 1)));
    ops.add("s_sendmsg_rtn_b64", Op::new(|cx: &mut Cx<'_>, s: &Step| answered(cx, s, 2)));
    ops.add("s_denorm_mode", Op::new(|cx: &mut Cx<'_>, s: &Step| set_mode_field(cx, s, 4)));
    ops.add("s_round_mode", Op::new(|cx: &mut Cx<'_>, s: &Step| set_mode_field(cx, s, 0)));
    ops.add("s_subvector_loop_begin", Op::new(begin_halves));
    ops.add("s_subvector_loop_end", Op::new(end_halves));
    ops.add("s_sendmsg", Op::new(send_message));
    // The simulator acts as the host here, and resumes a halted wave at once.
    ops.add("s_sendmsghalt", Op::new(send_message));
    ops.add("s_setvskip", Op::new(set_skip));
    ops.add("s_trap", Op::new(trap));
    ops.add("s_set_gpr_idx_on", Op::new(index_on));
    ops.add("s_set_gpr_idx_off", Op::new(index_off));
    ops.add("s_set_gpr_idx_idx", Op::new(index_value));
    ops.add("s_set_gpr_idx_mode", Op::new(index_operands));
    ops.add("s_getreg_b32", Op::new(get_register));
    ops.add("s_setreg_b32", Op::new(set_register));
    ops.add("s_setreg_imm32_b32", Op::new(set_register_literal));
    ops.add("s_set_vgpr_msb", Op::new(set_vgpr_msb));
}

fn branches(ops: &mut Ops) {
    let list: [(&'static str, fn(&Cx<'_>) -> bool); 7] = [
        ("s_branch", |_| true),
        ("s_cbranch_scc0", |cx| !cx.w.scc),
        ("s_cbranch_scc1", |cx| cx.w.scc),
        ("s_cbranch_vccz", |cx| cx.w.vcc() == 0),
        ("s_cbranch_vccnz", |cx| cx.w.vcc() != 0),
        ("s_cbranch_execz", |cx| cx.w.exec() == 0),
        ("s_cbranch_execnz", |cx| cx.w.exec() != 0),
    ];
    for (name, taken) in list {
        ops.add(
            name,
            Op::new(move |cx: &mut Cx<'_>, s: &Step| {
                if !taken(cx) {
                    return Ok(Next::Fall);
                }
                s.target.map(Next::Jump).ok_or_else(|| Fault::BadBranch(branch_address(cx, s)))
            }),
        );
    }
    // The conditions that a debugger can set are never set here.
    for name in
        ["s_cbranch_cdbgsys", "s_cbranch_cdbguser", "s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user"]
    {
        ops.add(name, Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::Fall)));
    }
}

/// The address of the following instruction.
pub(super) fn next_address(cx: &Cx<'_>, s: &Step) -> u64 {
    cx.machine.code_base() + u64::from(s.offset + s.size)
}

pub(super) fn branch_address(cx: &Cx<'_>, s: &Step) -> u64 {
    next_address(cx, s).wrapping_add_signed(i64::from(s.imm as i16) * 4)
}

pub(super) fn jump_to(cx: &Cx<'_>, address: u64) -> Outcome {
    cx.machine.index_of(address).map(Next::Jump).ok_or(Fault::BadBranch(address))
}

fn jumps(ops: &mut Ops) {
    ops.add(
        "s_getpc_b64",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let next = next_address(cx, s);
            cx.w.set_pair(s.sdst as usize, next);
            Ok(Next::Fall)
        }),
    );
    ops.add(
        "s_setpc_b64",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let address = cx.scalar_wide(&s.src[0], Ty::B64)?;
            jump_to(cx, address)
        }),
    );
    // There is no trap handler to return from, so these instructions only jump.
    for name in ["s_rfe_b64", "s_rfe_restore_b64"] {
        ops.add(
            name,
            Op::new(|cx: &mut Cx<'_>, s: &Step| {
                let address = cx.scalar_wide(&s.src[0], Ty::B64)?;
                jump_to(cx, address)
            }),
        );
    }
    ops.add(
        "s_swappc_b64",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let address = cx.scalar_wide(&s.src[0], Ty::B64)?;
            let next = next_address(cx, s);
            cx.w.set_pair(s.sdst as usize, next);
            jump_to(cx, address)
        }),
    );
    ops.add(
        "s_add_pc_i64",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let distance = cx.scalar_wide(&s.src[0], Ty::I64)?;
            jump_to(cx, next_address(cx, s).wrapping_add(distance))
        }),
    );
    ops.add(
        "s_call_b64",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let next = next_address(cx, s);
            cx.w.set_pair(s.sdst as usize, next);
            s.target.map(Next::Jump).ok_or_else(|| Fault::BadBranch(branch_address(cx, s)))
        }),
    );
}

/// Acts as the runtime's trap handler without a debugger: debugger breakpoints do nothing (LLVM AMDGPU guide, "Trap Handler ABI").
fn trap(_: &mut Cx<'_>, s: &Step) -> Outcome {
    match s.imm as u8 {
        Inst::DEBUG_TRAP => Ok(Next::Fall),
        id => Err(Fault::Trap(id)),
    }
}

/// Messages to the host (interrupts) and to the graphics pipeline are ignored. The message that expects an answer in a register is refused.
fn send_message(_: &mut Cx<'_>, s: &Step) -> Outcome {
    const GET_DOORBELL: i64 = 10;
    if s.imm & 0xf == GET_DOORBELL {
        return Err(Fault::Unsupported("a message that asks for the doorbell of the queue"));
    }
    Ok(Next::Fall)
}

/// MODE.VSKIP = bit S1 of S0. While VSKIP is set, vector instructions are skipped. SCC is set to the same value, according to LLVM; the
/// manual does not mention SCC.
fn set_skip(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let (a, b) = (cx.scalar(&s.src[0], Ty::B32)?, cx.scalar(&s.src[1], Ty::B32)?);
    let skip = a >> (b & 31) & 1 == 1;
    let bits = cx.w.mode.bits() & !Mode::VSKIP;
    cx.w.mode = Mode::new(if skip { bits | Mode::VSKIP } else { bits });
    cx.w.scc = skip;
    Ok(Next::Fall)
}

/// Checks that the barrier is the workgroup's barrier; named barriers are not supported.
fn of_workgroup(id: i32) -> Result<(), Fault> {
    const WORKGROUP: i32 = -1;
    if id == WORKGROUP {
        Ok(())
    } else {
        Err(Fault::Unsupported("a barrier other than that of the workgroup, -1"))
    }
}

/// Arrives at the barrier; returns true if this wave is the first to arrive.
fn signal(cx: &mut Cx<'_>, s: &Step) -> Result<bool, Fault> {
    of_workgroup(cx.scalar(&s.src[0], Ty::B32)? as i32)?;
    Ok(cx.w.arrivals.signal())
}

/// Messages with an answer. Of the requests to the runtime, only the one for the clock is supported.
fn answered(cx: &mut Cx<'_>, s: &Step, words: usize) -> Outcome {
    const GET_REALTIME: i64 = 0x83;
    if s.imm & 0xff != GET_REALTIME || words != 2 {
        return Err(Fault::Unsupported("a message that asks the runtime for something"));
    }
    let now = cx.w.clock() / crate::semantics::mem::CYCLES_OF_REAL_TIME;
    cx.w.set_pair(s.sdst as usize, now);
    Ok(Next::Fall)
}

/// Sets four bits of MODE from bit `low` on.
fn set_mode_field(cx: &mut Cx<'_>, s: &Step, low: u32) -> Outcome {
    let bits = cx.w.mode.bits() & !(0xf << low) | (s.imm as u32 & 0xf) << low;
    cx.w.mode = Mode::new(bits);
    Ok(Next::Fall)
}

const EXEC_LOW: usize = gcn_isa::reg::EXEC.index as usize;
const EXEC_HIGH: usize = EXEC_LOW + 1;

/// Starts a loop over the two halves of a wave of 64 lanes, skipping halves without active lanes (RDNA ISA, "Subvector Execution").
fn begin_halves(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let [low, high] = [cx.w.s[EXEC_LOW], cx.w.s[EXEC_HIGH]];
    match (low, high) {
        (0, 0) => return s.target.map(Next::Jump).ok_or_else(|| Fault::BadBranch(branch_address(cx, s))),
        (0, _) => cx.w.s[s.sdst as usize] = low,
        _ => {
            cx.w.s[s.sdst as usize] = high;
            cx.w.s[EXEC_HIGH] = 0;
        }
    }
    Ok(Next::Fall)
}

fn end_halves(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let kept = cx.w.s[s.sdst as usize];
    if cx.w.s[EXEC_HIGH] != 0 {
        cx.w.s[EXEC_LOW] = kept;
    } else if kept != 0 {
        cx.w.s[s.sdst as usize] = cx.w.s[EXEC_LOW];
        (cx.w.s[EXEC_LOW], cx.w.s[EXEC_HIGH]) = (0, kept);
        return s.target.map(Next::Jump).ok_or_else(|| Fault::BadBranch(branch_address(cx, s)));
    }
    Ok(Next::Fall)
}

/// The operand of `s_getreg` and `s_setreg`, a field of a hardware register: ID in bits 5:0, offset in 10:6, width - 1 in 15:11.
struct HwField {
    id: u32,
    offset: u32,
    mask: u32,
}

impl HwField {
    fn of(s: &Step) -> HwField {
        let imm = s.imm as u32;
        let (offset, width) = (imm >> 6 & 31, (imm >> 11 & 31) + 1);
        HwField { id: imm & 63, offset, mask: (u64::MAX >> (64 - width)) as u32 }
    }
}

/// IDs of hardware registers.
const HW_MODE: u32 = 1;
const HW_TRAPSTS: u32 = 3;
const HW_HW_ID: u32 = 4;

/// IDs that exist on RDNA only.
const HW_SCRATCH_LOW: u32 = 20;
const HW_SCRATCH_HIGH: u32 = 21;
const HW_ID1: u32 = 23;
const HW_ID2: u32 = 24;
const HW_IB_STS2: u32 = 28;
const HW_CYCLES: u32 = 29;
const HW_CYCLES_HIGH: u32 = 30;

/// The fields of IB_STS2 that describe the workgroup's cluster: whether it is in one, and its place there (AMD's emulator). The others are not
/// documented.
const FIELDS_OF_CLUSTER: u32 = 0xf << 6 | 0xf << 21;

/// True if the field is about clusters of workgroups. The simulator has no clusters, so such a field is 0.
fn is_of_cluster(cx: &Cx<'_>, field: &HwField) -> bool {
    let knows = Table::of(cx.machine.target()).is_some_and(Table::has_clusters);
    knows && field.id == HW_IB_STS2 && field.mask << field.offset & !FIELDS_OF_CLUSTER == 0
}

fn is_rdna(cx: &Cx<'_>) -> bool {
    cx.machine.target().family() == Family::RDNA
}

fn registers_of_rdna(cx: &mut Cx<'_>, id: u32) -> Option<u32> {
    Some(match id {
        _ if !is_rdna(cx) => return None,
        HW_SCRATCH_LOW | HW_SCRATCH_HIGH | HW_ID2 => 0,
        // The wave's slot; all other fields are 0.
        HW_ID1 => cx.w.id & 0x1f,
        HW_CYCLES => cx.w.clock() as u32,
        // Does not count as a reading of the clock: compilers read this half before and after the lower half and treat all three as one
        // reading.
        HW_CYCLES_HIGH => (cx.w.cycles() >> 32) as u32,
        _ => return None,
    })
}

fn get_register(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let field = HwField::of(s);
    let value = match field.id {
        HW_MODE => cx.w.mode.bits(),
        HW_TRAPSTS => 0,
        // The wave's slot; all other fields are 0.
        HW_HW_ID => cx.w.id & 0xf,
        _ if is_of_cluster(cx, &field) => 0,
        id => registers_of_rdna(cx, id).ok_or(Fault::Unsupported("reading this hardware register"))?,
    };
    cx.w.s[s.sdst as usize] = value >> field.offset & field.mask;
    Ok(Next::Fall)
}

fn write_register(cx: &mut Cx<'_>, s: &Step, value: u32) -> Outcome {
    let field = HwField::of(s);
    match field.id {
        HW_MODE => {
            let mask = field.mask << field.offset;
            let bits = cx.w.mode.bits() & !mask | value << field.offset & mask;
            let vgpr_msb = cx.w.mode.vgpr_msb;
            cx.w.mode = Mode::new(bits);
            cx.w.mode.vgpr_msb = vgpr_msb;
            Ok(Next::Fall)
        }
        HW_TRAPSTS => Ok(Next::Fall),
        // Ignored, because this simulator addresses scratch without the scratch base register.
        HW_SCRATCH_LOW | HW_SCRATCH_HIGH if is_rdna(cx) => Ok(Next::Fall),
        _ => Err(Fault::Unsupported("writing this hardware register")),
    }
}

fn set_register(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let value = cx.scalar(&s.src[0], Ty::B32)?;
    write_register(cx, s, value)
}

fn set_register_literal(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let value = cx.scalar(&s.src[2], Ty::B32)?;
    set_vgpr_msb(cx, s)?;
    write_register(cx, s, value)
}

/// Sets the upper bits of VGPRs, if the instruction does.
fn set_vgpr_msb(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    if let Some(msb) = indexing::msb_set_by(cx.machine.target(), &s.inst) {
        cx.w.mode.vgpr_msb = msb;
    }
    Ok(Next::Fall)
}

/// `M0[7:0]` is added to the VGPR numbers of the operands that `M0[15:12]` selects (MI100 ISA 6.6).
const INDEX: u32 = 0xff;
const INDEXED_OPERANDS: u32 = 0xf000;

fn index_on(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    index_value(cx, s)?;
    index_operands(cx, s)?;
    cx.w.mode = Mode::new(cx.w.mode.bits() | Mode::GPR_IDX_EN);
    Ok(Next::Fall)
}

fn index_off(cx: &mut Cx<'_>, _: &Step) -> Outcome {
    cx.w.mode = Mode::new(cx.w.mode.bits() & !Mode::GPR_IDX_EN);
    Ok(Next::Fall)
}

fn index_value(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let value = cx.scalar(&s.src[0], Ty::B32)?;
    cx.w.set_m0_bits(INDEX, value);
    Ok(Next::Fall)
}

fn index_operands(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    cx.w.set_m0_bits(INDEXED_OPERANDS, (s.imm as u32) << 12);
    Ok(Next::Fall)
}
