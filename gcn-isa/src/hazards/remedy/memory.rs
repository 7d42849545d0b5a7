//! Rules about memory instructions.

use super::rule::{End, EndBy, Remedy, RemedyRule, Step, Tie, WaitField, Which, Within, end};
use super::waits::{Dependency, Waits};
use super::{BOTH, MORE_IN_LLVM, MORE_IN_MESA, anyone, but};
use crate::hazards::evidence::{Evidence, Voice};
use crate::hazards::row::on;
use crate::hazards::view::{Kinds, Role};
use crate::table::WaveSizes;

/// Bit mask of stages: sequences that have completed only the first step.
const BEGUN: u8 = 1;
/// Bit mask of stages: sequences whose second step, a branch, is complete.
const BRANCHED: u8 = 1 << 1;

const CITE: &str = "observed in LLVM 22's output; Mesa 25.0.7, `aco_insert_NOPs`";

/// A step that any instruction of `kinds` takes, regardless of its registers.
const fn some(kinds: Kinds) -> Step {
    Step { who: anyone(kinds), roles: Role::empty(), which: Which::Scalars, tie: Tie::Some }
}

/// The common fields of the hazards between memory instructions and later instructions that write their scalar registers.
const TO_SCALAR: RemedyRule = RemedyRule {
    id: "",
    title: "a memory instruction reads a scalar register, then the scalar ALU or a scalar load writes it",
    cite: CITE,
    targets: on::GFX10_1,
    waves: WaveSizes::all(),
    steps: &[Step { who: anyone(Kinds::MEMORY), roles: Role::SSRC, which: Which::Scalars, tie: Tie::Each }],
    second: Step {
        who: anyone(Kinds::SALU.union(Kinds::SMEM)),
        roles: Role::SDST,
        which: Which::Scalars,
        tie: Tie::Same,
    },
    ends: READ_ALL,
    within: Within::ANY,
    remedy: Remedy::Wait(Dependency::VmVsrc),
    outside: false,
    alone: false,
    evidence: BOTH,
    note: "",
};

/// The events after which the memory instructions have read all their registers.
const READ_ALL: &[End] = &[
    end(EndBy::Kind(anyone(Kinds::ANY_VALU)), BEGUN),
    end(EndBy::Waits(Waits::VM_VSRC.union(Waits::EVERY)), BEGUN),
];

/// The events of [`READ_ALL`], and waits for the results of some memory instructions.
macro_rules! or_counter {
    ($counter:ident) => {
        &[
            end(EndBy::Kind(anyone(Kinds::ANY_VALU)), BEGUN),
            end(EndBy::Waits(Waits::VM_VSRC.union(Waits::EVERY).union(Waits::$counter)), BEGUN),
        ]
    };
}

const LOADS: Step = Step { who: anyone(Kinds::VMEM_LOAD), ..TO_SCALAR_READS };
const STORES: Step = Step { who: but(Kinds::VMEM, Kinds::VMEM_LOAD), ..TO_SCALAR_READS };
const LDS: Step = Step { who: anyone(Kinds::DS), ..TO_SCALAR_READS };
const TO_SCALAR_READS: Step =
    Step { who: anyone(Kinds::MEMORY), roles: Role::SSRC, which: Which::Scalars, tie: Tie::Each };

/// The same as [`TO_SCALAR`] for EXEC, which every memory instruction reads.
const TO_EXEC: RemedyRule = RemedyRule {
    title: "the scalar ALU writes EXEC after a memory instruction",
    steps: &[some(Kinds::MEMORY)],
    second: Step {
        who: but(Kinds::SALU, Kinds::SAVES_EXEC),
        roles: Role::SDST,
        which: Which::Exec,
        tie: Tie::Some,
    },
    ..TO_SCALAR
};

/// LLVM and Mesa differ in what ends this sequence.
const COUNTER_ENDS: &str = "in Mesa, a wait for the memory instruction's counter also ends the hazard";

/// The common fields of the hazards of direct loads from LDS.
const DIRECT: RemedyRule = RemedyRule {
    id: "",
    title: "",
    cite: CITE,
    targets: on::FROM_GFX11,
    waves: WaveSizes::all(),
    steps: &[],
    second: Step { who: anyone(Kinds::LDS_DIRECT), roles: Role::VDST, which: Which::Vgprs, tie: Tie::Same },
    ends: &[],
    within: Within::ANY,
    remedy: Remedy::Field(WaitField::Valus),
    outside: false,
    alone: false,
    evidence: BOTH,
    note: "",
};

/// The largest value of the field is 15, which waits for nothing. After 15 vector ALU instructions, no wait is needed.
const FIFTEEN_VALUS: Within = Within { valus: 14, ..Within::ANY };

const USES_VGPR: Step = Step {
    who: anyone(Kinds::ANY_VALU),
    roles: Role::VDST.union(Role::VSRC),
    which: Which::Vgprs,
    tie: Tie::Each,
};
const VALU_USES: Step = Step { who: but(Kinds::ANY_VALU, Kinds::TRANS), ..USES_VGPR };
const TRANS_USES: Step = Step { who: anyone(Kinds::TRANS), ..USES_VGPR };
const VMEM_LOAD_USES: Step = Step { who: anyone(Kinds::VMEM_LOAD), ..USES_VGPR };
const VMEM_STORE_USES: Step = Step { who: but(Kinds::VMEM, Kinds::VMEM_LOAD), ..USES_VGPR };
const DS_USES: Step = Step { who: but(Kinds::DS, Kinds::LDS_DIRECT), ..USES_VGPR };
const MEMORY_USES: Step = Step { who: but(Kinds::MEMORY, Kinds::LDS_DIRECT), ..USES_VGPR };

/// The instructions that wait for the vector ALU.
const VALU_DONE: End = end(EndBy::Kind(but(Kinds::MEMORY, Kinds::LDS_DIRECT)), BEGUN);

/// The common fields of the hazards in which a branch is between an LDS instruction and a vector memory instruction, in either order.
const BRANCH: RemedyRule = RemedyRule {
    id: "",
    title: "",
    cite: CITE,
    targets: on::GFX10_1,
    waves: WaveSizes::all(),
    steps: &[],
    second: some(Kinds::VMEM),
    ends: &[],
    within: Within::ANY,
    remedy: Remedy::WaitStores,
    outside: false,
    alone: false,
    evidence: BOTH,
    note: "",
};

pub(super) const RULES: &[RemedyRule] = &[
    RemedyRule {
        id: "rdna1.vmem-to-scalar.load",
        title: "a vector load reads a scalar register, then the scalar ALU or a scalar load writes it",
        steps: &[LOADS],
        ends: or_counter!(LOADS),
        note: COUNTER_ENDS,
        ..TO_SCALAR
    },
    RemedyRule {
        id: "rdna1.vmem-to-scalar.store",
        title: "a vector store reads a scalar register, then the scalar ALU or a scalar load writes it",
        steps: &[STORES],
        ends: or_counter!(STORES),
        note: COUNTER_ENDS,
        ..TO_SCALAR
    },
    RemedyRule {
        id: "rdna1.vmem-to-scalar.lds",
        title: "an LDS instruction reads a scalar register, then the scalar ALU or a scalar load writes it",
        steps: &[LDS],
        ends: or_counter!(LDS),
        note: COUNTER_ENDS,
        ..TO_SCALAR
    },
    RemedyRule {
        id: "llvm.vmem-to-scalar",
        evidence: MORE_IN_LLVM,
        note: "waits for counters in between do not end the hazard",
        ..TO_SCALAR
    },
    RemedyRule {
        id: "rdna1.vmem-to-exec.load",
        title: "the scalar ALU writes EXEC after a vector load",
        steps: &[some(Kinds::VMEM_LOAD)],
        ends: or_counter!(LOADS),
        note: COUNTER_ENDS,
        ..TO_EXEC
    },
    RemedyRule {
        id: "rdna1.vmem-to-exec.store",
        title: "the scalar ALU writes EXEC after a vector store",
        steps: &[Step { who: but(Kinds::VMEM, Kinds::VMEM_LOAD), ..some(Kinds::VMEM) }],
        ends: or_counter!(STORES),
        note: COUNTER_ENDS,
        ..TO_EXEC
    },
    RemedyRule {
        id: "rdna1.vmem-to-exec.lds",
        title: "the scalar ALU writes EXEC after an LDS instruction",
        steps: &[some(Kinds::DS)],
        ends: or_counter!(LDS),
        note: COUNTER_ENDS,
        ..TO_EXEC
    },
    RemedyRule {
        id: "llvm.vmem-to-exec",
        evidence: MORE_IN_LLVM,
        note: "waits for counters in between do not end the hazard",
        ..TO_EXEC
    },
    RemedyRule {
        id: "mesa.vmem-to-exec.save",
        title: "`s_*_saveexec_*` or `s_*_wrexec_*` follows a memory instruction",
        second: some(Kinds::SAVES_EXEC),
        evidence: MORE_IN_MESA,
        note: "LLVM considers only the destination that the instruction names, not EXEC",
        ..TO_EXEC
    },
    RemedyRule {
        id: "rdna1.lds-branch-vmem",
        title: "an LDS instruction is followed by a branch and then by a vector memory instruction",
        note: "a vector memory instruction before the branch, or an LDS instruction after it, ends the hazard",
        steps: &[some(Kinds::DS), some(Kinds::BRANCH)],
        ends: &[
            end(EndBy::Kind(anyone(Kinds::VMEM)), BEGUN),
            end(EndBy::Kind(anyone(Kinds::DS)), BEGUN | BRANCHED),
            end(EndBy::Waits(Waits::STORES), BEGUN | BRANCHED),
        ],
        ..BRANCH
    },
    RemedyRule {
        id: "rdna1.vmem-branch-lds",
        title: "a vector memory instruction is followed by a branch and then by an LDS instruction",
        note: "an LDS instruction before the branch, or a vector memory instruction after it, ends the hazard",
        steps: &[some(Kinds::VMEM), some(Kinds::BRANCH)],
        second: some(Kinds::DS),
        ends: &[
            end(EndBy::Kind(anyone(Kinds::DS)), BEGUN),
            end(EndBy::Kind(anyone(Kinds::VMEM)), BEGUN | BRANCHED),
            end(EndBy::Waits(Waits::STORES), BEGUN | BRANCHED),
        ],
        ..BRANCH
    },
    RemedyRule {
        id: "rdna1.smem-to-vector",
        title: "scalar memory reads an SGPR, then the vector ALU writes it",
        steps: &[Step { who: anyone(Kinds::SMEM), ..TO_SCALAR_READS }],
        second: Step {
            who: anyone(Kinds::ANY_VALU),
            roles: Role::SDST,
            which: Which::Scalars,
            tie: Tie::Same,
        },
        ends: &[
            end(EndBy::Kind(but(Kinds::SALU, Kinds::CONTROL.union(Kinds::WAIT))), BEGUN),
            end(EndBy::Waits(Waits::SCALAR), BEGUN),
        ],
        remedy: Remedy::MoveNull,
        ..TO_SCALAR
    },
    RemedyRule {
        id: "rdna1.vcmpx-exec",
        title: "an instruction outside the vector ALU reads EXEC, then the vector ALU writes it",
        steps: &[some(Kinds::READS_EXEC)],
        second: Step { who: anyone(Kinds::ANY_VALU), roles: Role::SDST, which: Which::Exec, tie: Tie::Some },
        ends: &[
            end(EndBy::Kind(anyone(Kinds::SCALAR_RESULT)), BEGUN),
            end(EndBy::Waits(Waits::SA_SDST), BEGUN),
        ],
        remedy: Remedy::Wait(Dependency::SaSdst),
        ..TO_SCALAR
    },
    RemedyRule {
        id: "llvm.vcmpx-exec",
        title: "an instruction outside the vector ALU reads EXEC, then the vector ALU writes it, with no vector ALU instruction in between that writes a lane mask",
        steps: &[some(Kinds::READS_EXEC)],
        second: Step { who: anyone(Kinds::ANY_VALU), roles: Role::SDST, which: Which::Exec, tie: Tie::Some },
        ends: &[
            end(EndBy::Kind(but(Kinds::SCALAR_RESULT, Kinds::READLANE)), BEGUN),
            end(EndBy::Waits(Waits::SA_SDST), BEGUN),
        ],
        remedy: Remedy::Wait(Dependency::SaSdst),
        evidence: MORE_IN_LLVM,
        note: "in Mesa, `v_readlane_b32` and `v_readfirstlane_b32` end the hazard",
        ..TO_SCALAR
    },
    RemedyRule {
        id: "llvm.atomic-denorm-mode",
        title: "an atomic on floats in memory is followed by `s_denorm_mode`",
        cite: "observed in LLVM 22's output",
        targets: on::GFX10,
        steps: &[some(Kinds::FLOAT_ATOMIC)],
        second: some(Kinds::DENORM_MODE),
        ends: &[end(EndBy::Kind(anyone(Kinds::ANY_VALU)), BEGUN), end(EndBy::Waits(Waits::COUNTER), BEGUN)],
        within: Within { states: 2, ..Within::ANY },
        remedy: Remedy::States(3),
        evidence: Evidence::LLVM,
        ..TO_SCALAR
    },
    RemedyRule {
        id: "rdna3.lds-direct-valu",
        title: "the vector ALU uses a VGPR, then a direct load from LDS writes it",
        steps: &[VALU_USES],
        ends: &[VALU_DONE, end(EndBy::Waits(Waits::VA_VDST), BEGUN)],
        within: FIFTEEN_VALUS,
        note: "in LLVM a wait for `va_vdst(0)` does not end the hazard",
        ..DIRECT
    },
    RemedyRule {
        id: "rdna3.lds-direct-trans",
        title: "a transcendental instruction uses a VGPR, then a direct load from LDS writes it",
        steps: &[TRANS_USES],
        ends: &[VALU_DONE, end(EndBy::Waits(Waits::VA_VDST), BEGUN)],
        within: FIFTEEN_VALUS,
        remedy: Remedy::Field(WaitField::NoValu),
        ..DIRECT
    },
    RemedyRule {
        id: "llvm.lds-direct-valu",
        title: "the vector ALU uses a VGPR, then a direct load from LDS writes it; waits in between do not end the hazard",
        steps: &[VALU_USES],
        ends: &[VALU_DONE],
        within: FIFTEEN_VALUS,
        evidence: MORE_IN_LLVM,
        ..DIRECT
    },
    RemedyRule {
        id: "llvm.lds-direct-trans",
        title: "a transcendental instruction is followed by a direct load from LDS, with any registers",
        steps: &[some(Kinds::TRANS)],
        ends: &[VALU_DONE],
        within: FIFTEEN_VALUS,
        remedy: Remedy::Field(WaitField::NoValu),
        second: some(Kinds::LDS_DIRECT),
        evidence: Evidence::of(Voice::Silent, Voice::Moot).mesa(Voice::Less),
        note: "LLVM inserts the wait even if nothing is outstanding",
        ..DIRECT
    },
    RemedyRule {
        id: "rdna3.lds-direct-vmem.load",
        title: "a vector load uses a VGPR, then a direct load from LDS writes it",
        targets: on::GFX11,
        steps: &[VMEM_LOAD_USES],
        ends: or_counter!(LOADS),
        remedy: Remedy::Wait(Dependency::VmVsrc),
        note: COUNTER_ENDS,
        ..DIRECT
    },
    RemedyRule {
        id: "rdna3.lds-direct-vmem.store",
        title: "a vector store uses a VGPR, then a direct load from LDS writes it",
        targets: on::GFX11,
        steps: &[VMEM_STORE_USES],
        ends: or_counter!(STORES),
        remedy: Remedy::Wait(Dependency::VmVsrc),
        note: COUNTER_ENDS,
        ..DIRECT
    },
    RemedyRule {
        id: "rdna3.lds-direct-vmem.lds",
        title: "an LDS instruction uses a VGPR, then a direct load from LDS writes it",
        targets: on::GFX11,
        steps: &[DS_USES],
        ends: or_counter!(LDS),
        remedy: Remedy::Wait(Dependency::VmVsrc),
        note: COUNTER_ENDS,
        ..DIRECT
    },
    RemedyRule {
        id: "llvm.lds-direct-vmem",
        title: "a memory instruction uses a VGPR, then a direct load from LDS writes it; waits for counters in between do not end the hazard",
        targets: on::GFX11,
        steps: &[MEMORY_USES],
        ends: READ_ALL,
        remedy: Remedy::Wait(Dependency::VmVsrc),
        evidence: MORE_IN_LLVM,
        ..DIRECT
    },
    RemedyRule {
        id: "rdna4.lds-direct-vmem.load",
        title: "a vector load uses a VGPR, then a direct load from LDS writes it",
        targets: on::GFX12,
        steps: &[VMEM_LOAD_USES],
        ends: or_counter!(LOADS),
        remedy: Remedy::Field(WaitField::NoVmem),
        note: COUNTER_ENDS,
        ..DIRECT
    },
    RemedyRule {
        id: "rdna4.lds-direct-vmem.store",
        title: "a vector store uses a VGPR, then a direct load from LDS writes it",
        targets: on::GFX12,
        steps: &[VMEM_STORE_USES],
        ends: or_counter!(STORES),
        remedy: Remedy::Field(WaitField::NoVmem),
        note: COUNTER_ENDS,
        ..DIRECT
    },
    RemedyRule {
        id: "rdna4.lds-direct-vmem.lds",
        title: "an LDS instruction uses a VGPR, then a direct load from LDS writes it",
        targets: on::GFX12,
        steps: &[DS_USES],
        ends: or_counter!(LDS),
        remedy: Remedy::Field(WaitField::NoVmem),
        note: COUNTER_ENDS,
        ..DIRECT
    },
    RemedyRule {
        id: "llvm.rdna4-lds-direct-vmem",
        title: "a memory instruction uses a VGPR, then a direct load from LDS writes it; waits for counters in between do not end the hazard",
        targets: on::GFX12,
        steps: &[MEMORY_USES],
        ends: READ_ALL,
        remedy: Remedy::Field(WaitField::NoVmem),
        evidence: MORE_IN_LLVM,
        ..DIRECT
    },
    RemedyRule {
        id: "mesa.dealloc-vgprs",
        title: "a message frees the wave's VGPRs, with no `s_nop` directly before it",
        cite: "Mesa 25.0.7, `aco_insert_NOPs`; observed in LLVM 22's output",
        targets: on::FROM_GFX11,
        steps: &[Step { who: but(Kinds::EVERY, Kinds::NOP), ..some(Kinds::EVERY) }],
        second: some(Kinds::DEALLOC_VGPRS),
        ends: &[end(EndBy::Kind(anyone(Kinds::NOP)), BEGUN)],
        remedy: Remedy::States(1),
        evidence: Evidence::of(Voice::Silent, Voice::Less).mesa(Voice::Agrees),
        note: "LLVM inserts the `s_nop` before the messages that it adds itself, not before those in the source",
        ..DIRECT
    },
    RemedyRule {
        id: "llvm.async-arrive.before",
        title: "any instruction, then an asynchronous arrival at a barrier in LDS",
        steps: &[BUT_WAITS],
        second: some(Kinds::ASYNC_ARRIVE),
        ..ASYNC_ARRIVE
    },
    RemedyRule {
        id: "llvm.async-arrive.after",
        title: "an asynchronous arrival at a barrier in LDS, then any instruction",
        steps: &[some(Kinds::ASYNC_ARRIVE)],
        second: BUT_WAITS,
        // The wait follows the arrival directly, in the same function.
        outside: false,
        ..ASYNC_ARRIVE
    },
];

/// Any instruction but a wait.
const BUT_WAITS: Step = Step { who: but(Kinds::EVERY, Kinds::WAIT), ..some(Kinds::EVERY) };

/// The common fields of the rules that put `ds_atomic_async_barrier_arrive_b64` between two waits.
const ASYNC_ARRIVE: RemedyRule = RemedyRule {
    cite: "observed in LLVM 22's output",
    targets: on::GFX12_5,
    ends: &[end(EndBy::Waits(Waits::VM_VSRC), BEGUN)],
    remedy: Remedy::Wait(Dependency::VmVsrc),
    outside: true,
    evidence: Evidence::LLVM,
    note: "LLVM waits before and after this instruction, whatever stands around it, also at the start of a program",
    ..DIRECT
};
