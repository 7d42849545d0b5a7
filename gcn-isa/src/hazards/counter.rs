//! The rules that do not concern wait states: rules about counters, barriers, and single instructions. Findings of the checker and waits of
//! the inserter have the names of these rules.

use super::evidence::Evidence;
use super::row::on::{GFX9, GFX10_1, GFX10_3, GFX11_0, GFX11_5, GFX12, GFX12_5};
use super::row::{Cite, cite, counter_rules};
use crate::target::{InstructionSet, Target, TargetSet};

/// A rule about operations that complete later, or about a single instruction.
#[derive(Debug)]
pub struct CounterRule {
    /// The name. It begins with `waitcnt.` for registers and memory that a counter tracks, and with `barrier.` for barriers; otherwise it
    /// is formed as for [`super::Rule`].
    pub id: &'static str,
    /// A description of the violation.
    pub title: &'static str,
    /// The citation of the source.
    pub cite: Cite,
    /// The targets that have the rule.
    pub targets: TargetSet,
    /// The statements of manuals and LLVM about the rule.
    pub evidence: Evidence,
    /// True if the rule matters only while XNACK replay is on.
    pub xnack: bool,
    /// Further remarks.
    pub note: &'static str,
}

impl CounterRule {
    /// True if `target` has the rule.
    pub fn holds_on(&self, target: Target) -> bool {
        self.targets.contains(target)
    }
}

impl PartialEq for CounterRule {
    /// Names are unique, so rules with equal names are equal.
    fn eq(&self, other: &CounterRule) -> bool {
        self.id == other.id
    }
}

impl Eq for CounterRule {}

/// The section "Data dependency resolution" in the manual of each instruction set.
const MANUAL_OF_COUNTERS: Cite = Cite::BySet(&[
    (GFX9, "CDNA3 ISA section 4.4"),
    (GFX10_1, "RDNA ISA section 4.4"),
    (GFX10_3, "RDNA 2 ISA section 4.4"),
    (GFX11_0, "RDNA 3 ISA section 5.6"),
    (GFX11_5, "RDNA 3.5 ISA section 5.6"),
    (GFX12, "RDNA 4 ISA section 5.7"),
    (GFX12_5, cite::LLVM),
]);
const FULL_COUNTERS: Cite = Cite::One("ROCm/rocm-systems issue 11202; observed in LLVM 22's output");
const MEMORY_MODEL: Cite = Cite::One("LLVM AMDGPU guide, memory model");
const MEASURED: Cite = Cite::One(cite::LLVM);

counter_rules! {
    /// A register is read before a pending result arrives.
    RAW = "waitcnt.raw", "a register is read before the memory operation that writes it is done";
        MANUAL_OF_COUNTERS, ALL, DEFINED.
    /// A pending result arrives after a newer value and overwrites it.
    WAW = "waitcnt.waw", "a register is written before the memory operation that writes it is done";
        MANUAL_OF_COUNTERS, ALL, DEFINED;
        "no wait is needed between two loads whose results arrive in order".
    /// The same as [`WAW`], for a FLAT operation followed by an operation that returns in order.
    WAW_FLAT = "waitcnt.flat-waw",
        "a vector memory operation writes a register that an outstanding FLAT operation writes, too";
        MANUAL_OF_COUNTERS, GFX9, of(Less, Less);
        "LLVM requires no wait after `lgkmcnt(0)`: then no FLAT operation to LDS is outstanding, and vmcnt counts FLAT operations to memory in order".
    /// A register is used while the write of its other half is pending.
    HALF = "waitcnt.half",
        "one half of a register is used before the memory operation that writes the other is done";
        MEASURED, WITH_HALF_VGPRS, LLVM;
        "since RDNA 3, each half of a VGPR is a register of its own, and a D16 load writes one half. LLVM 22 tracks whole registers, so it waits here; the version of LLVM in Triton 3.9 tracks halves. The manuals describe no dependence between the halves".
    /// Other outstanding operations may complete before the operation for which the instruction waits.
    MIXED = "waitcnt.mixed",
        "operations of several types are outstanding on the counter, and the wait is enough only if those of one type finish in order";
        MANUAL_OF_COUNTERS, ALL, ABOVE_MANUAL;
        "according to the manual, operations of one type return in order. So if a wait leaves n operations outstanding, an operation is done once at least n later ones of its type have been issued. LLVM does not rely on this: if operations of several types are outstanding, LLVM waits until the counter is 0".
    /// The operation is complete only because a full counter has stalled a later instruction.
    FULL = "waitcnt.full",
        "no wait covers an operation; it is done only because a later instruction was delayed while its counter was full";
        FULL_COUNTERS, ALL, of(Silent, Less);
        "lgkmcnt counts up to 15 operations, vmcnt up to 63 and expcnt up to 7. An instruction that would exceed the maximum is delayed until enough operations are done; of each type, the oldest operation finishes first. AMD's emulator models this delay and LLVM relies on it, but the manuals do not mention it".
    /// The same as [`FULL`], with operations that need not finish in order.
    FULL_UNORDERED = "waitcnt.full-unordered",
        "no wait covers an operation; it is done only because a later instruction was delayed while its counter was full, and only if operations of its type finish in order";
        FULL_COUNTERS, WITH_GDS, of(Silent, Less);
        "FLAT operations finish in order if all of them go to memory or all go to LDS. LLVM assumes the order for all FLAT operations, and also for the operand reads of GDS operations, which expcnt counts".
    /// A function uses registers that operations of its caller may still write.
    CALL_ENTRY = "call.entry",
        "a function uses registers before it has waited for the operations of its caller";
        MEASURED, ALL, LLVM;
        "LLVM's functions begin with a wait for every counter, except for a counter of only stores, and callers rely on this wait".
    /// A function returns while its operations are outstanding.
    CALL_EXIT = "call.exit", "a function returns with operations outstanding";
        MEASURED, ALL, LLVM;
        "LLVM's functions wait for every counter before they return, except for a counter of only stores, and callers rely on this wait. The rule takes `s_setpc_b64 s[30:31]` for a return".
    /// A register is overwritten before an outstanding operation has read it.
    WAR = "waitcnt.exp-war",
        "a register is overwritten before a GDS or GWS operation has read it";
        MANUAL_OF_COUNTERS, WITH_GDS, AGREED.
    /// An operand that an operation has yet to read is overwritten.
    OPERAND_WAR = "waitcnt.operand-war",
        "a register is overwritten before a memory instruction has read it";
        MEASURED, GFX12_5, LLVM;
        "xcnt counts vector and scalar memory instructions, but not asynchronous copies. Each of three events shows that the operands were read: a wait for xcnt; a memory instruction of the same kind (vector or scalar) has returned its result; a memory instruction of the other kind was issued".
    /// LDS is accessed before a load into it is done.
    LDS_DMA = "waitcnt.lds-dma", "LDS is accessed before a load into LDS is done";
        MANUAL_OF_COUNTERS, WITH_LDS_DMA, LLVM;
        "only vmcnt counts such a load. The checker does not compare addresses: it also reports a program that uses one half of LDS while the load writes the other half".
    /// LDS is used before an asynchronous copy into it is done.
    ASYNC_LDS = "waitcnt.async-lds", "LDS is accessed before an asynchronous copy into it is done";
        Cite::One("LLVM documentation, AMDGPU Asynchronous Operations; LLVM pull request 185810"), GFX12_5, MANUAL;
        "asynccnt and tensorcnt count such copies. LLVM inserts no waits for them: the program has to wait for its copies itself. The checker reports a copy in two cases: an access before the wait is to bytes of the copy, which is known if the two addresses differ by a constant; \
         or LDS is accessed before the wait, and no path leads from a wait for the copy to an access, not even a path to a later iteration of a loop. \
         The opposite order is not checked: a copy that starts before the wave's earlier LDS instructions are done. The two are not ordered either (LLVM pull request 207473), so a program that copies what it has written to LDS, or into what it has read, needs `s_wait_dscnt` before the copy".
    /// LDS is written before an asynchronous copy from it is done.
    ASYNC_LDS_READ = "waitcnt.async-lds-read", "LDS is written before an asynchronous copy from it is done";
        Cite::One("LLVM documentation, AMDGPU Asynchronous Operations; LLVM pull request 185810"), GFX12_5, MANUAL;
        "asynccnt and tensorcnt count such copies. Nothing but a wait orders a copy before later instructions, so it may read what a later instruction writes. LLVM inserts no waits for copies: the program has to wait for its copies itself. The checker reports a copy in two cases: a write before the wait is to bytes of the copy, which is known if the two addresses differ by a constant; \
         or LDS is written before the wait, and no path leads from a wait for the copy to a write, not even a path to a later iteration of a loop".
    /// A cache is invalidated while loads are outstanding.
    WBINVL1 = "waitcnt.wbinvl1",
        "the vector cache is invalidated before earlier vector memory operations are done";
        MEMORY_MODEL, UP_TO_GFX90A, LLVM; "an acquire is a load followed by the invalidation. If the load is still outstanding at the invalidation, later loads may read the old cache line".
    /// A barrier that requires every counter to be 0 is reached with operations outstanding.
    BARRIER_COUNTERS = "barrier.counters",
        "a barrier is reached with operations outstanding; this target needs every counter at 0";
        MEASURED, WITHOUT_BACK_OFF, MANUAL.
    /// A barrier is reached before an LDS write is done.
    BARRIER_LDS = "barrier.lds",
        "a barrier is reached before an LDS write is done, so other waves may not see it";
        MEMORY_MODEL, WITH_BACK_OFF, LLVM;
        "from GFX12 on, the wait has to come before the wave signals the barrier: when all waves have signalled, others may pass it, so a wait before `s_barrier_wait` comes too late (LLVM documentation, AMDGPU Execution Synchronization). The hardware lets a wave pass a barrier with accesses outstanding, and a program with several buffers may do so on purpose. But a release in LLVM's memory model requires the wait. The finding has the grade documented if LDS can be accessed before a later barrier publishes the write".
    /// A barrier is reached before an LDS read is done.
    BARRIER_LDS_READ = "barrier.lds-read",
        "a barrier is reached before an LDS read is done, so another wave may overwrite what it reads";
        MEMORY_MODEL, WITH_BACK_OFF, LLVM;
        "LDS does not execute the operations of different waves in the order in which the waves issue them. So another wave's write after the barrier may be executed before the read. A program with several buffers may pass the barrier with reads outstanding on purpose".
    /// A barrier is reached before a load into LDS is done.
    BARRIER_LDS_DMA = "barrier.lds-dma",
        "a barrier is reached before a load into LDS is done, so other waves may not see it";
        MEMORY_MODEL, LDS_DMA_WITH_BACK_OFF, LLVM;
        "the hardware lets a wave pass a barrier with accesses outstanding, and a program with several buffers may do so on purpose. But a release in LLVM's memory model requires the wait. The finding has the grade documented if LDS can be accessed before a later barrier publishes the write".
    /// A barrier is reached before a store is done that waves on other compute units may read.
    BARRIER_STORE = "barrier.store",
        "a barrier is reached before a store to memory is done, so waves of the workgroup on other compute units may not see it";
        MEMORY_MODEL, WITH_TG_SPLIT, LLVM;
        "the rule applies only if `.amdhsa_tg_split` lets a workgroup's waves run on several compute units, each with its own vector cache. Otherwise the waves share one cache, and no wait is needed. The finding has the grade documented if memory can be accessed before a later barrier publishes the store".
    /// Memory is accessed, or a barrier reached, before a GWS operation is done.
    GWS = "waitcnt.gws", "memory is accessed, or a barrier reached, before a GWS operation is done";
        MEASURED, WITH_GDS, LLVM;
        "a GWS operation makes the wave wait for other waves. LLVM waits for every counter directly after the operation".
    /// The number of a VGPR is not certain.
    VGPR_MSB = "llvm.vgpr-msb", "two values that `s_set_vgpr_msb` has set meet in the number of a VGPR";
        MEASURED, GFX12_5, LLVM;
        "`s_set_vgpr_msb` sets the upper bits of VGPR numbers, separately for each operand field. The rule is broken in two cases: the paths to an instruction set different bits for one of its fields; \
         or an accumulator is read through one field and written through another, and the bits of the two fields differ. LLVM 22 sets the bits again in each block, and sets both fields of an accumulator alike".
    /// The hardware's checks of dependencies are switched off.
    SCHED_MODE = "llvm.sched-mode", "`s_setreg` switches off the hardware's checks of dependencies between ALU instructions";
        Cite::One("LLVM AMDGPU guide, amdgpu-expert-scheduling-mode"), FROM_GFX12, MANUAL;
        "from GFX12 on, a wave with a value other than 0 in the lowest two bits of SCHED_MODE must itself wait for the results of vector ALU instructions by `s_wait_alu`. \
         There is no public list of the cases that need a wait, so the checker does not check these waits, and the simulator rejects the instruction. LLVM uses the mode only on request; Triton can request it".
    /// A 64-bit shift takes its amount from the last VGPR of the allocation.
    SHIFT64 = "llvm.shift64", "the amount of a 64-bit shift is in the last VGPR of the allocation";
        Cite::One("LLVM 22; LLVM pull request 183839"), FROM_GFX90A, LLVM;
        "LLVM avoids the hazard by copying the amount to another register: version 22.1.8 does so on gfx90a, later versions on gfx942 and gfx950, too. VGPRs are allocated in units of 8".
    /// A multiply-add of 64 bits overwrites its own source.
    MAD_FORWARD = "llvm.mad-forward", "a multiply-add with a result of 64 bits overwrites its own source";
        Cite::One("LLVM 22, feature mad-intra-fwd-bug"), GFX11_0, LLVM;
        "LLVM has separate forms of `v_mad_u64_u32` and `v_mad_i64_i32` for RDNA 3 (but not 3.5), whose result never shares a register with a source".
    /// A scalar load overwrites its own address.
    SMEM_ADDRESS = "xnack.smem-address", "a scalar load of two or more registers overwrites its own address";
        Cite::One("LLVM 22"), GFX9, LLVM, xnack;
        "a load may be executed in parts. If a later part has a page fault, the whole load is replayed, but its first part has already overwritten the address. A load whose address is a multiple of its size is not split. The checker assumes that the address is such a multiple if the immediate offset is a multiple of the size".
    /// VCCZ is read after only half of VCC was written.
    VCCZ_HALF = "llvm.vccz-half", "half of VCC is written, which does not update VCCZ, then VCCZ is read";
        Cite::One("LLVM 22"), GFX9, ABOVE_MANUAL;
        "on targets up to GFX9, LLVM assumes this and copies VCC to itself before a branch that reads VCCZ. But according to section 3.9 of the MI100 manual, each scalar write to VCC updates VCCZ".
}

/// The rule about LDS accesses before the completion of a copy into LDS.
pub fn copies_to_lds(set: InstructionSet) -> &'static CounterRule {
    if set.has_async_copies() { &ASYNC_LDS } else { &LDS_DMA }
}

/// The rule with the name `id`; `None` if there is no such rule.
pub fn rule(id: &str) -> Option<&'static CounterRule> {
    ALL.into_iter().find(|r| r.id == id)
}
