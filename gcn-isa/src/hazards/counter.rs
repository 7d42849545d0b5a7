//! The rules that do not concern wait states: counters, barriers, and single instructions. The checker and the inserter
//! report under their names.

use super::evidence::Evidence;
use super::row::on::{GFX9, GFX10_1, GFX10_3, GFX11_0, GFX11_5, GFX12, GFX12_5};
use super::row::{Cite, cite, counter_rules};
use crate::target::{InstructionSet, Target, TargetSet};

/// A rule about operations that complete later, or about a single instruction.
#[derive(Debug)]
pub struct CounterRule {
    /// Name: `waitcnt.` for registers and memory that a counter tracks, `barrier.` for barriers; otherwise as for
    /// [`super::Rule`].
    pub id: &'static str,
    /// The violation, in words.
    pub title: &'static str,
    /// The citation of the source.
    pub cite: Cite,
    /// The targets that have the rule.
    pub targets: TargetSet,
    /// The statements of manuals and LLVM about the rule.
    pub evidence: Evidence,
    /// True if the rule matters only with XNACK replay on.
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
    /// Names are unique, so equal names mean equal rules.
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
const FULL_COUNTERS: Cite = Cite::One("ROCm/rocm-systems issue 11202; measured with LLVM 22");
const MEMORY_MODEL: Cite = Cite::One("LLVM AMDGPU guide, memory model");
const MEASURED: Cite = Cite::One(cite::LLVM);

counter_rules! {
    /// A register is read before a pending result arrives.
    RAW = "waitcnt.raw", "a register is read before the memory operation that writes it is done";
        MANUAL_OF_COUNTERS, ALL, DEFINED.
    /// A pending result arrives after a newer value and overwrites it.
    WAW = "waitcnt.waw", "a register is written before the memory operation that writes it is done";
        MANUAL_OF_COUNTERS, ALL, DEFINED;
        "a load whose result arrives after the other's in the same order needs no wait".
    /// As [`WAW`], for a FLAT operation followed by one that returns in order.
    WAW_FLAT = "waitcnt.flat-waw",
        "a vector memory operation writes a register before the FLAT operation that writes it is done";
        MANUAL_OF_COUNTERS, GFX9, of(Less, Less);
        "FLAT counts on vmcnt in order if it went to memory, and lgkmcnt(0) says that it did not go to LDS; \
         LLVM relies on it".
    /// A register is used while the write of its other half is pending.
    HALF = "waitcnt.half",
        "one half of a register is used before the memory operation that writes the other is done";
        MEASURED, WITH_HALF_VGPRS, LLVM;
        "since RDNA 3 a half of a VGPR is a register of its own, and D16 loads write one. LLVM 22 counts whole registers, the version \
         that Triton 3.9 has counts halves; the manuals describe no dependence between them".
    /// Other outstanding operations may complete before the one that is waited for.
    MIXED = "waitcnt.mixed",
        "the wait counts only operations of the same type as done in order, with others outstanding on the \
         counter";
        MANUAL_OF_COUNTERS, ALL, ABOVE_MANUAL;
        "by the manual, operations of one type return in order, so a wait that leaves as many operations as the type has younger ones is enough; LLVM waits for zero as soon as types are mixed".
    /// The operation is complete only because a full counter has stalled a later instruction.
    FULL = "waitcnt.full",
        "no wait guarantees that an operation is done, only a full counter that delays later instructions";
        FULL_COUNTERS, ALL, of(Silent, Less);
        "lgkmcnt holds 15 operations, vmcnt 63 and expcnt 7; an instruction that would exceed that does not \
         issue before enough are done, of one type the oldest. AMD's emulator models it and LLVM relies on \
         it; the manuals do not mention it".
    /// As [`FULL`], with operations that need not finish in order.
    FULL_UNORDERED = "waitcnt.full-unordered",
        "only a full counter that delays later instructions shows that an operation is done, and only if its type finishes in order";
        FULL_COUNTERS, WITH_GDS, of(Silent, Less);
        "FLAT operations finish in order if all of them go to memory or all to LDS; LLVM takes them, and the \
         data that GDS operations send, to do so".
    /// A function uses registers that operations of its caller may still write.
    CALL_ENTRY = "call.entry",
        "a function uses registers before it has waited for the operations of its caller";
        MEASURED, ALL, LLVM;
        "LLVM's functions begin with a wait for every counter but one of stores alone, and callers rely on it".
    /// A function returns while its operations are outstanding.
    CALL_EXIT = "call.exit", "a function returns with operations outstanding";
        MEASURED, ALL, LLVM;
        "LLVM's functions wait for every counter before they return, except for a counter of stores alone, and callers rely on it; a return is s_setpc_b64 s[30:31]".
    /// A register is overwritten before an outstanding operation has read it.
    WAR = "waitcnt.exp-war",
        "a register is written before the GDS or GWS operation that reads it has done so";
        MANUAL_OF_COUNTERS, WITH_GDS, AGREED.
    /// An operand that is still to be read is overwritten.
    OPERAND_WAR = "waitcnt.operand-war",
        "a register is written before the memory instruction that reads it has done so";
        MEASURED, GFX12_5, LLVM;
        "xcnt counts vector and scalar memory instructions, but not asynchronous copies; a result of the same kind that returns, and a memory \
         instruction of the other kind, show that the operands were read".
    /// LDS is accessed before a load into it is done.
    LDS_DMA = "waitcnt.lds-dma", "LDS is accessed before a load into LDS is done";
        MANUAL_OF_COUNTERS, WITH_LDS_DMA, LLVM;
        "the load counts on vmcnt only; addresses are not compared, so the load may write one half of LDS while the program uses the other".
    /// LDS is used before an asynchronous copy into it is done.
    ASYNC_LDS = "waitcnt.async-lds", "LDS is accessed before an asynchronous copy into it is done";
        Cite::One("LLVM documentation, AMDGPU Asynchronous Operations; LLVM pull request 185810"), GFX12_5, MANUAL;
        "asynccnt and tensorcnt count such copies. LLVM inserts no waits for them: the program tracks its copies itself. Addresses are not compared; a copy that no path waits for before it comes to an access of LDS is reported".
    /// A cache is invalidated while loads are outstanding.
    WBINVL1 = "waitcnt.wbinvl1",
        "the vector cache is invalidated before earlier vector memory operations are done";
        MEMORY_MODEL, UP_TO_GFX90A, LLVM; "an acquire whose load is still outstanding may read the old line".
    /// A barrier that requires every counter to be 0 is reached with operations outstanding.
    BARRIER_COUNTERS = "barrier.counters",
        "a barrier is reached with operations outstanding; this target needs every counter at 0";
        MEASURED, WITHOUT_BACK_OFF, MANUAL.
    /// A barrier is reached before an LDS write is done.
    BARRIER_LDS = "barrier.lds",
        "a barrier is reached before an LDS write is done, so other waves may not see it";
        MEMORY_MODEL, WITH_BACK_OFF, LLVM;
        "the barrier itself asks for nothing, and a program that uses several buffers may pass it with accesses \
         outstanding. The memory model's release asks for the wait: where an access of LDS can follow before a later \
         barrier publishes the write, the finding is documented".
    /// A barrier is reached before an LDS read is done.
    BARRIER_LDS_READ = "barrier.lds-read",
        "a barrier is reached before an LDS read is done, so another wave may overwrite what it reads";
        MEMORY_MODEL, WITH_BACK_OFF, LLVM;
        "LDS operations of different waves are not in the order in which the waves issue them, so that a \
         write after the barrier may come before the read; a program that uses several buffers may pass the \
         barrier with reads outstanding".
    /// A barrier is reached before a load into LDS is done.
    BARRIER_LDS_DMA = "barrier.lds-dma",
        "a barrier is reached before a load into LDS is done, so other waves may not see it";
        MEMORY_MODEL, LDS_DMA_WITH_BACK_OFF, LLVM;
        "the barrier itself asks for nothing, and a program that uses several buffers may pass it with accesses \
         outstanding. The memory model's release asks for the wait: where an access of LDS can follow before a later \
         barrier publishes the write, the finding is documented".
    /// A barrier is reached before a store is done that waves on other compute units may read.
    BARRIER_STORE = "barrier.store",
        "a barrier is reached before a store to memory is done, so waves of the workgroup on other compute units may not see it";
        MEMORY_MODEL, WITH_TG_SPLIT, LLVM;
        "only where `.amdhsa_tg_split` lets a workgroup's waves run on several compute units, whose vector caches then hold \
         different data; otherwise they share one, and nothing is to be waited for. Where memory can be accessed before a \
         later barrier publishes the store, the finding is documented".
    /// Memory is accessed, or a barrier reached, before a GWS operation is done.
    GWS = "waitcnt.gws", "memory is accessed, or a barrier reached, before a GWS operation is done";
        MEASURED, WITH_GDS, LLVM;
        "the operation makes the wave wait for others; LLVM waits for every counter directly after it".
    /// The number of a VGPR is not certain.
    VGPR_MSB = "llvm.vgpr-msb", "two values that `s_set_vgpr_msb` has set meet in the number of a VGPR";
        MEASURED, GFX12_5, LLVM;
        "the upper bits of the number are those that the last s_set_vgpr_msb has set for the operand's field, which differ by the way that control has come, \
         or, for an accumulator, in the fields through which it is read and written. LLVM 22 sets them again in each block, and both fields of an accumulator alike".
    /// A 64-bit shift takes its amount from the last VGPR of the allocation.
    SHIFT64 = "llvm.shift64", "the amount of a 64-bit shift is in the last VGPR of the allocation";
        Cite::One("LLVM 22; LLVM pull request 183839"), FROM_GFX90A, LLVM;
        "LLVM copies the amount to another register: LLVM 22.1.8 on gfx90a, later versions on gfx942 and \
         gfx950 too; allocations are of 8 registers".
    /// A scalar load overwrites its own address.
    SMEM_ADDRESS = "xnack.smem-address", "a scalar load of two or more registers overwrites its own address";
        Cite::One("LLVM 22"), GFX9, LLVM, xnack;
        "a page fault half-way replays it with what its first part has loaded as the address. A load at a \
         multiple of its size is not split; the checker assumes this if the immediate offset is such a multiple".
    /// VCCZ is read after only half of VCC was written.
    VCCZ_HALF = "llvm.vccz-half", "half of VCC is written, which does not update VCCZ, then VCCZ is read";
        Cite::One("LLVM 22"), GFX9, ABOVE_MANUAL;
        "LLVM writes VCC to itself before such a branch on targets up to GFX9; the MI100 manual says that \
         each scalar write to VCC updates VCCZ (3.9)".
}

/// The rule about accesses of LDS that come before a copy into it is done.
pub fn copies_to_lds(set: InstructionSet) -> &'static CounterRule {
    if set.has_async_copies() { &ASYNC_LDS } else { &LDS_DMA }
}

/// The rule called `id`.
pub fn rule(id: &str) -> Option<&'static CounterRule> {
    ALL.into_iter().find(|r| r.id == id)
}
