//! Rules about scalar registers: a register that the vector ALU has read and that was then overwritten must not be read
//! too early.

use super::rule::{End, EndBy, Remedy, RemedyRule, Step, Tie, Which, Within, end};
use super::waits::{Dependency, Waits};
use super::{BOTH, MORE_IN_LLVM, MORE_IN_MESA, anyone, but};
use crate::hazards::evidence::{Evidence, Voice};
use crate::hazards::row::on;
use crate::hazards::rule::Condition;
use crate::hazards::view::{Kinds, Role};
use crate::table::WaveSizes;

/// Bit mask of stages: sequences that have completed only the first step.
const BEGUN: u8 = 1;
/// Bit mask of stages: sequences in which the register has been overwritten.
const WRITTEN: u8 = 1 << 1;

/// The common fields of the RDNA 4 hazards between the vector ALU and SGPRs.
const READ_SGPR: RemedyRule = RemedyRule {
    id: "",
    title: "",
    cite: "observed in LLVM 22's output; Mesa 25.0.7, `aco_insert_NOPs`",
    targets: on::GFX12,
    waves: WaveSizes::all(),
    steps: &[READS, SALU_COMPUTES],
    second: Step { who: anyone(Kinds::ANY_VALU), roles: Role::SSRC, which: Which::Sgprs, tie: Tie::Same },
    ends: &[],
    within: Within::ANY,
    remedy: Remedy::Wait(Dependency::SaSdst),
    outside: true,
    alone: true,
    evidence: BOTH,
    note: "",
};

const READS: Step =
    Step { who: anyone(Kinds::ANY_VALU), roles: Role::SSRC, which: Which::SgprPairs, tie: Tie::Each };
const READS_VCC: Step = Step { which: Which::Vcc, ..READS };
const SALU_WRITES: Step =
    Step { who: anyone(Kinds::SALU), roles: Role::SDST, which: Which::Sgprs, tie: Tie::OfPair };
/// A write of an SGPR by the scalar ALU, except for the return address that a call writes: functions compiled by LLVM return without a
/// wait, and a wait in the caller after the call would be too late.
const SALU_COMPUTES: Step = Step { who: but(Kinds::SALU, Kinds::JUMP), ..SALU_WRITES };
const VALU_WRITES: Step = Step { who: anyone(Kinds::ANY_VALU), ..SALU_WRITES };
const SALU_WRITES_VCC: Step = Step { which: Which::Vcc, tie: Tie::Same, ..SALU_WRITES };
const VALU_WRITES_VCC: Step = Step { who: anyone(Kinds::ANY_VALU), ..SALU_WRITES_VCC };
const SALU_READS: Step = Step { who: anyone(Kinds::SALU), ..READ_SGPR.second };

const MEMORY_OR_WAIT: &[End] = &[
    end(EndBy::Kind(anyone(Kinds::SMEM.union(Kinds::BUFFER))), WRITTEN),
    end(EndBy::Waits(Waits::SA_SDST), WRITTEN),
];
const WAIT: &[End] = &[end(EndBy::Waits(Waits::SA_SDST), WRITTEN)];
/// The events that end sequences of VCC, for which LLVM tracks only the last writer.
const VCC_MEMORY_OR_WAIT: &[End] = &[
    end(EndBy::Kind(anyone(Kinds::SMEM.union(Kinds::BUFFER))), WRITTEN),
    end(EndBy::Waits(Waits::SA_SDST), WRITTEN),
    end(EndBy::Uses(anyone(Kinds::ANY_VALU), Role::SDST, Which::Vcc), WRITTEN),
];

/// Mesa assumes that the vector ALU can read a scalar result after ten further scalar instructions, and the scalar ALU
/// after nine.
const TO_VALU: Within = Within { salus: 10, ..Within::ANY };
const TO_SALU: Within = Within { salus: 9, ..Within::ANY };

/// The common fields of the RDNA 3 hazards between instructions that read and write lane masks.
const MASK_WRITE: RemedyRule = RemedyRule {
    title: "vector ALU reads a lane mask, scalar ALU writes it, then it is read",
    targets: on::GFX11,
    waves: WaveSizes::W64,
    steps: &[READS_MASK, MASK_WRITTEN],
    second: Step { who: ALU, roles: Role::SSRC, which: Which::Scalars, tie: Tie::Same },
    ends: MASK_WAITED,
    outside: false,
    alone: false,
    ..READ_SGPR
};
const READS_MASK: Step = Step {
    who: anyone(Kinds::ANY_VALU),
    roles: Role::MASK.union(Role::CARRY),
    which: Which::Scalars,
    tie: Tie::Each,
};
const MASK_WRITTEN: Step =
    Step { who: anyone(Kinds::SALU), roles: Role::SDST, which: Which::Scalars, tie: Tie::Same };
const ALU: Condition = anyone(Kinds::SALU.union(Kinds::ANY_VALU));
const MASK_WAITED: &[End] = &[REWRITTEN, end(EndBy::Waits(Waits::SA_SDST), WRITTEN)];
/// Once any instruction has overwritten the register, it no longer contains the mask that was read.
const REWRITTEN: End = end(EndBy::UsesThen(anyone(Kinds::EVERY), Role::SDST, Which::Scalars), BEGUN);
const AFTER_WRITE: Step =
    Step { who: but(Kinds::EVERY, Kinds::WAIT), roles: Role::empty(), which: Which::Scalars, tie: Tie::Some };
/// The evidence for rules that require LLVM's wait, which LLVM inserts directly after the write.
const AT_ONCE: Evidence = Evidence::of(Voice::Silent, Voice::Moot).mesa(Voice::Less);
/// In Mesa, the sequence ends when a vector ALU instruction reads any other scalar register before the write.
const OTHER_SGPR_READ: End = end(EndBy::Kind(anyone(Kinds::SCALAR_SOURCE)), BEGUN);

const MASK_WRITTEN_BY_VALU: RemedyRule = RemedyRule {
    title: "vector ALU reads a lane mask, vector ALU writes it, then it is read",
    steps: &[
        Step { which: Which::Sgprs, ..READS_MASK },
        Step { who: anyone(Kinds::ANY_VALU), which: Which::Sgprs, ..MASK_WRITTEN },
    ],
    second: Step { who: ALU, roles: Role::SSRC, which: Which::Sgprs, tie: Tie::Same },
    ends: &[REWRITTEN, end(EndBy::Waits(Waits::VA_SDST), WRITTEN)],
    remedy: Remedy::Wait(Dependency::VaSdst),
    evidence: MORE_IN_LLVM,
    ..MASK_WRITE
};
const VCC_WRITTEN_BY_VALU: RemedyRule = RemedyRule {
    title: "vector ALU reads VCC as a lane mask, vector ALU writes it, then it is read",
    steps: &[
        Step { which: Which::VccHalves, ..READS_MASK },
        Step { who: anyone(Kinds::ANY_VALU), which: Which::VccHalves, ..MASK_WRITTEN },
    ],
    second: Step { who: ALU, roles: Role::SSRC, which: Which::VccHalves, tie: Tie::Same },
    ends: &[REWRITTEN, end(EndBy::Waits(Waits::VA_VCC), WRITTEN)],
    remedy: Remedy::Wait(Dependency::VaVcc),
    evidence: MORE_IN_LLVM,
    ..MASK_WRITE
};

pub(super) const RULES: &[RemedyRule] = &[
    RemedyRule {
        id: "rdna3.mask-write",
        ends: &[MASK_WAITED[0], MASK_WAITED[1], OTHER_SGPR_READ],
        note: "in Mesa, a vector ALU instruction that reads another SGPR before the write ends the hazard",
        ..MASK_WRITE
    },
    RemedyRule {
        id: "llvm.mask-write",
        title: "vector ALU reads a lane mask, scalar ALU writes it, then it is read; reads of other SGPRs in between do not end the hazard",
        evidence: MORE_IN_LLVM,
        ..MASK_WRITE
    },
    RemedyRule {
        id: "mesa.mask-write",
        title: "vector ALU reads a lane mask, another instruction overwrites it, scalar ALU writes it again, then it is read",
        ends: &[MASK_WAITED[1], OTHER_SGPR_READ],
        evidence: MORE_IN_MESA,
        ..MASK_WRITE
    },
    RemedyRule { id: "llvm.mask-write.valu", ..MASK_WRITTEN_BY_VALU },
    RemedyRule { id: "llvm.mask-write.valu-vcc", ..VCC_WRITTEN_BY_VALU },
    RemedyRule {
        id: "llvm.mask-write.at-once",
        title: "vector ALU reads a lane mask, scalar ALU writes it, then any other instruction follows",
        second: AFTER_WRITE,
        evidence: AT_ONCE,
        note: AT_ONCE_NOTE,
        ..MASK_WRITE
    },
    RemedyRule {
        id: "llvm.mask-write.valu.at-once",
        title: "vector ALU reads a lane mask, vector ALU writes it, then any other instruction follows",
        second: AFTER_WRITE,
        evidence: AT_ONCE,
        note: AT_ONCE_NOTE,
        ..MASK_WRITTEN_BY_VALU
    },
    RemedyRule {
        id: "llvm.mask-write.valu-vcc.at-once",
        title: "vector ALU reads VCC as a lane mask, vector ALU writes it, then any other instruction follows",
        second: AFTER_WRITE,
        evidence: AT_ONCE,
        note: AT_ONCE_NOTE,
        ..VCC_WRITTEN_BY_VALU
    },
    RemedyRule {
        id: "rdna.read-sgpr.valu",
        title: "vector ALU reads an SGPR, scalar ALU writes it or its pair, then the vector ALU reads what was written",
        ends: MEMORY_OR_WAIT,
        within: TO_VALU,
        note: "in LLVM, a scalar memory instruction or a buffer instruction ends the hazard. In Mesa, eleven scalar ALU instructions end it",
        ..READ_SGPR
    },
    RemedyRule {
        id: "rdna.read-sgpr.salu",
        title: "vector ALU reads an SGPR, scalar ALU writes it or its pair, then the scalar ALU reads what was written",
        second: SALU_READS,
        ends: MEMORY_OR_WAIT,
        within: TO_SALU,
        note: "in LLVM, a scalar memory instruction or a buffer instruction ends the hazard. In Mesa, ten scalar ALU instructions end it",
        ..READ_SGPR
    },
    RemedyRule {
        id: "llvm.read-sgpr.salu",
        title: "vector ALU reads an SGPR, scalar ALU writes it or its pair, then the scalar or vector ALU reads it, at any distance",
        steps: &[READS, SALU_WRITES],
        second: Step { who: anyone(Kinds::ANY_VALU.union(Kinds::SALU)), ..READ_SGPR.second },
        ends: MEMORY_OR_WAIT,
        evidence: MORE_IN_LLVM,
        ..READ_SGPR
    },
    RemedyRule {
        id: "mesa.read-sgpr.valu",
        title: "vector ALU reads an SGPR, scalar ALU writes it or its pair, then the vector ALU reads what was written; memory instructions in between do not end the hazard",
        ends: WAIT,
        within: TO_VALU,
        evidence: MORE_IN_MESA,
        ..READ_SGPR
    },
    RemedyRule {
        id: "mesa.read-sgpr.salu",
        title: "vector ALU reads an SGPR, scalar ALU writes it or its pair, then the scalar ALU reads what was written; memory instructions in between do not end the hazard",
        second: SALU_READS,
        ends: WAIT,
        within: TO_SALU,
        evidence: MORE_IN_MESA,
        ..READ_SGPR
    },
    RemedyRule {
        id: "rdna.read-vcc.valu",
        title: "vector ALU reads VCC, scalar ALU writes it, then the vector ALU reads it",
        steps: &[READS_VCC, SALU_WRITES_VCC],
        second: Step { which: Which::Vcc, ..READ_SGPR.second },
        ends: VCC_MEMORY_OR_WAIT,
        within: TO_VALU,
        ..READ_SGPR
    },
    RemedyRule {
        id: "rdna.read-vcc.salu",
        title: "vector ALU reads VCC, scalar ALU writes it, then the scalar ALU reads it",
        steps: &[READS_VCC, SALU_WRITES_VCC],
        second: Step { which: Which::Vcc, ..SALU_READS },
        ends: VCC_MEMORY_OR_WAIT,
        within: TO_SALU,
        ..READ_SGPR
    },
    RemedyRule {
        id: "llvm.read-vcc.salu",
        title: "vector ALU reads VCC, scalar ALU writes it, then the scalar or vector ALU reads it, at any distance",
        steps: &[READS_VCC, SALU_WRITES_VCC],
        second: Step {
            who: anyone(Kinds::ANY_VALU.union(Kinds::SALU)),
            which: Which::Vcc,
            ..READ_SGPR.second
        },
        ends: VCC_MEMORY_OR_WAIT,
        evidence: MORE_IN_LLVM,
        ..READ_SGPR
    },
    RemedyRule {
        id: "rdna.read-sgpr.valu-result",
        title: "vector ALU reads an SGPR, the vector ALU writes it or its pair, then the vector ALU reads what was written",
        steps: &[READS, VALU_WRITES],
        ends: &[
            end(EndBy::Kind(anyone(Kinds::SMEM.union(Kinds::BUFFER))), WRITTEN),
            end(EndBy::Waits(Waits::VA_SDST), WRITTEN),
            end(EndBy::Reads(anyone(Kinds::SALU), Which::Sgprs), WRITTEN),
        ],
        remedy: Remedy::Wait(Dependency::VaSdst),
        note: "the scalar ALU waits by itself for the vector ALU before it reads an SGPR that the vector ALU has read",
        ..READ_SGPR
    },
    RemedyRule {
        id: "rdna.read-vcc.valu-result",
        title: "vector ALU reads VCC, the vector ALU writes it, then the vector ALU reads it",
        steps: &[READS_VCC, VALU_WRITES_VCC],
        second: Step { which: Which::Vcc, ..READ_SGPR.second },
        ends: &[
            end(EndBy::Kind(anyone(Kinds::SMEM.union(Kinds::BUFFER))), WRITTEN),
            end(EndBy::Waits(Waits::VA_VCC), WRITTEN),
            end(EndBy::Uses(anyone(Kinds::SALU), Role::SSRC.union(Role::SDST), Which::Vcc), WRITTEN),
        ],
        remedy: Remedy::Wait(Dependency::VaVcc),
        ..READ_SGPR
    },
    RemedyRule {
        id: "rdna.read-sgpr.leave",
        title: "vector ALU reads an SGPR, scalar ALU writes it or its pair, then a call, return or jump to an address follows",
        second: LEAVES,
        within: TO_VALU,
        ends: MEMORY_OR_WAIT,
        note: "the remedy must come before the jump, because code outside this program cannot know which registers were read and written before the jump",
        ..READ_SGPR
    },
    RemedyRule {
        id: "rdna.read-vcc.leave",
        title: "vector ALU reads VCC, scalar ALU writes it, then a call, return or jump to an address follows",
        steps: &[READS_VCC, SALU_WRITES_VCC],
        second: LEAVES,
        within: TO_VALU,
        ends: VCC_MEMORY_OR_WAIT,
        ..READ_SGPR
    },
    RemedyRule {
        id: "llvm.read-sgpr.leave",
        title: "vector ALU reads an SGPR, scalar ALU writes it or its pair, then a call, return or jump to an address follows, at any distance",
        steps: &[READS, SALU_WRITES],
        second: LEAVES,
        evidence: MORE_IN_LLVM,
        ends: MEMORY_OR_WAIT,
        note: "the remedy must come before the jump, because code outside this program cannot know which registers were read and written before the jump",
        ..READ_SGPR
    },
    RemedyRule {
        id: "llvm.read-vcc.leave",
        title: "vector ALU reads VCC, scalar ALU writes it, then a call, return or jump to an address follows, at any distance",
        steps: &[READS_VCC, SALU_WRITES_VCC],
        second: LEAVES,
        evidence: MORE_IN_LLVM,
        ends: VCC_MEMORY_OR_WAIT,
        ..READ_SGPR
    },
    RemedyRule {
        id: "rdna.read-sgpr.valu-result.leave",
        title: "vector ALU reads an SGPR, the vector ALU writes it or its pair, then a call, return or jump to an address follows",
        steps: &[READS, VALU_WRITES],
        second: LEAVES,
        ends: &[
            end(EndBy::Kind(anyone(Kinds::SMEM.union(Kinds::BUFFER))), WRITTEN),
            end(EndBy::Waits(Waits::VA_SDST), WRITTEN),
            end(EndBy::Reads(but(Kinds::SALU, Kinds::JUMP), Which::Sgprs), WRITTEN),
        ],
        remedy: Remedy::Wait(Dependency::VaSdst),
        ..READ_SGPR
    },
    RemedyRule {
        id: "rdna.read-vcc.valu-result.leave",
        title: "vector ALU reads VCC, the vector ALU writes it, then a call, return or jump to an address follows",
        steps: &[READS_VCC, VALU_WRITES_VCC],
        second: LEAVES,
        ends: &[
            end(EndBy::Kind(anyone(Kinds::SMEM.union(Kinds::BUFFER))), WRITTEN),
            end(EndBy::Waits(Waits::VA_VCC), WRITTEN),
            end(EndBy::Uses(anyone(Kinds::SALU), Role::SSRC.union(Role::SDST), Which::Vcc), WRITTEN),
        ],
        remedy: Remedy::Wait(Dependency::VaVcc),
        ..READ_SGPR
    },
    SCRATCH_BASE,
    RemedyRule {
        id: "llvm.scratch-base.valu",
        ends: &[end(EndBy::Waits(Waits::VA_SDST), 1)],
        remedy: Remedy::Wait(Dependency::VaSdst),
        note: "LLVM waits for both the vector and the scalar ALU; this rule is about the vector ALU. Ten scalar ALU instructions between the write and the read end the hazard",
        ..SCRATCH_BASE
    },
    RemedyRule {
        id: "llvm.getreg-state.sa-sdst",
        ends: &[end(EndBy::Waits(Waits::SA_SDST), 1)],
        remedy: Remedy::Wait(Dependency::SaSdst),
        ..GETREG_STATE
    },
    RemedyRule {
        id: "llvm.getreg-state.va-vdst",
        ends: &[end(EndBy::Waits(Waits::VA_VDST), 1)],
        remedy: Remedy::Wait(Dependency::VaVdst),
        ..GETREG_STATE
    },
    RemedyRule {
        id: "llvm.getreg-state.va-sdst",
        ends: &[end(EndBy::Waits(Waits::VA_SDST), 1)],
        remedy: Remedy::Wait(Dependency::VaSdst),
        ..GETREG_STATE
    },
    RemedyRule {
        id: "llvm.getreg-state.va-ssrc",
        ends: &[end(EndBy::Waits(Waits::VA_SSRC), 1)],
        remedy: Remedy::Wait(Dependency::VaSsrc),
        ..GETREG_STATE
    },
    RemedyRule {
        id: "llvm.getreg-state.va-vcc",
        ends: &[end(EndBy::Waits(Waits::VA_VCC), 1)],
        remedy: Remedy::Wait(Dependency::VaVcc),
        ..GETREG_STATE
    },
    RemedyRule {
        id: "llvm.getreg-state.vm-vsrc",
        ends: &[end(EndBy::Waits(Waits::VM_VSRC), 1)],
        remedy: Remedy::Wait(Dependency::VmVsrc),
        ..GETREG_STATE
    },
];

/// Reads of the wave's state. Each dependency that LLVM waits for has a rule of its own.
const GETREG_STATE: RemedyRule = RemedyRule {
    title: "any instruction, then `s_getreg` of the wave's status or exception flags",
    cite: "observed in LLVM 22's output",
    targets: on::GFX12_5,
    steps: &[ANY],
    second: Step { who: anyone(Kinds::GETREG_STATE), ..ANY },
    alone: false,
    evidence: Evidence::LLVM,
    note: "LLVM waits for every dependency and for the hold count, also at the start of a program; each dependency has a rule",
    ..READ_SGPR
};

/// Any instruction but a wait.
const ANY: Step =
    Step { who: but(Kinds::EVERY, Kinds::WAIT), roles: Role::empty(), which: Which::Scalars, tie: Tie::Some };

/// Reads of the base of scratch after its SGPRs were written. The rules are separated by the dependency for which LLVM waits, because LLVM
/// requires both dependencies.
const SCRATCH_BASE: RemedyRule = RemedyRule {
    id: "llvm.scratch-base.salu",
    title: "the SGPRs of the base of scratch are written, then the base is read",
    cite: "observed in LLVM 22's output",
    targets: on::GFX12_5,
    steps: &[Step { who: anyone(Kinds::EVERY), roles: Role::SDST, which: Which::Sgprs, tie: Tie::Each }],
    second: Step {
        who: anyone(Kinds::EVERY),
        roles: Role::SCRATCH_BASE,
        which: Which::Sgprs,
        tie: Tie::Same,
    },
    ends: &[end(EndBy::Waits(Waits::SA_SDST), 1)],
    within: Within { salus: 9, ..Within::ANY },
    outside: false,
    alone: false,
    evidence: Evidence::LLVM,
    note: "LLVM waits for both the vector and the scalar ALU; this rule is about the scalar ALU. Ten scalar ALU instructions between the write and the read end the hazard",
    ..READ_SGPR
};

const LEAVES: Step =
    Step { who: anyone(Kinds::JUMP), roles: Role::empty(), which: Which::Sgprs, tie: Tie::Some };

/// The note for rules that require LLVM's wait directly after the write.
const AT_ONCE_NOTE: &str =
    "LLVM puts the wait directly after the write, whether the mask is read later or not";
