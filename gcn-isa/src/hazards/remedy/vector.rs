//! Rules about VGPRs and EXEC.

use super::rule::{End, EndBy, Remedy, RemedyRule, Step, Tie, Which, Within, end};
use super::waits::{Dependency, Waits};
use super::{BOTH, MORE_IN_MESA, anyone, but};
use crate::hazards::evidence::{Evidence, Voice};
use crate::hazards::row::on;
use crate::hazards::view::{Kinds, Role};
use crate::table::WaveSizes;

const VALU_WRITES: Step =
    Step { who: anyone(Kinds::ANY_VALU), roles: Role::VDST, which: Which::Vgprs, tie: Tie::Each };
const VALU_READS: Step =
    Step { who: anyone(Kinds::ANY_VALU), roles: Role::VSRC, which: Which::Vgprs, tie: Tie::Same };

/// Stage mask: sequences of every stage.
const ANY_STAGE: u8 = u8::MAX;
const RESULTS_THERE: End = end(EndBy::Waits(Waits::VA_VDST), ANY_STAGE);
const MEMORY: End = end(EndBy::Kind(but(Kinds::MEMORY, Kinds::LDS_DIRECT)), ANY_STAGE);
const WRITTEN_AGAIN: End = end(EndBy::Uses(anyone(Kinds::ANY_VALU), Role::VDST, Which::Vgprs), ANY_STAGE);

/// Fields common to the hazards of transcendental results.
const TRANS_USE: RemedyRule = RemedyRule {
    id: "rdna3.trans-use",
    title: "a transcendental instruction writes a VGPR, then the vector ALU reads it",
    targets: on::GFX11_0,
    steps: &[Step { who: anyone(Kinds::TRANS), ..VALU_WRITES }],
    second: VALU_READS,
    ends: &[RESULTS_THERE, MEMORY],
    within: Within { valus: 5, transcendentals: 1, ..Within::ANY },
    remedy: Remedy::Wait(Dependency::VaVdst),
    note: "memory and LDS instructions end it in LLVM",
    ..CMPX_PERMLANE
};

/// Fields common to the hazards of results on both sides of a write to EXEC.
const FORWARDING: RemedyRule = RemedyRule {
    id: "rdna3.partial-forwarding",
    title: "vector ALU writes a VGPR, scalar ALU writes EXEC, vector ALU writes another one, then the vector ALU reads both",
    targets: on::GFX11,
    waves: WaveSizes::W64,
    steps: &[
        VALU_WRITES,
        Step { who: anyone(Kinds::SALU), roles: Role::SDST, which: Which::Exec, tie: Tie::Some },
        Step { tie: Tie::Another, ..VALU_WRITES },
    ],
    second: Step { tie: Tie::Apart, ..VALU_READS },
    ends: &[RESULTS_THERE, MEMORY, WRITTEN_AGAIN],
    within: Within { valus: 4, valus_of_steps: 2, ..Within::ANY },
    remedy: Remedy::Wait(Dependency::VaVdst),
    note: "memory and LDS instructions end it in LLVM, which of several registers looks at the last written one only",
    ..CMPX_PERMLANE
};

pub(super) const RULES: &[RemedyRule] = &[
    TRANS_USE,
    RemedyRule {
        id: "mesa.trans-use",
        title: "a transcendental instruction writes a VGPR, then the vector ALU reads it, memory instructions between or not",
        ends: &[RESULTS_THERE],
        evidence: MORE_IN_MESA,
        note: "",
        ..TRANS_USE
    },
    FORWARDING,
    RemedyRule {
        id: "mesa.partial-forwarding",
        title: "vector ALU writes a VGPR, scalar ALU writes EXEC, vector ALU writes another one, then the vector ALU reads both, in one operand or two, memory instructions between or not",
        second: Step { tie: Tie::Both, ..VALU_READS },
        ends: &[RESULTS_THERE, WRITTEN_AGAIN],
        evidence: MORE_IN_MESA,
        note: "",
        ..FORWARDING
    },
    RemedyRule {
        id: "rdna.matrix",
        title: "a matrix instruction writes VGPRs, then the next one reads them as A, B or index",
        cite: "LLVM 22, measured; Mesa 25.0.7, `aco_insert_NOPs`",
        targets: on::FROM_GFX11,
        waves: WaveSizes::all(),
        steps: &[Step { who: anyone(Kinds::MATRIX), roles: Role::VDST, which: Which::Vgprs, tie: Tie::Each }],
        second: Step {
            who: anyone(Kinds::MATRIX),
            roles: Role::SRC_AB.union(Role::INDEX),
            which: Which::Vgprs,
            tie: Tie::Same,
        },
        ends: &[End { by: EndBy::Kind(anyone(Kinds::ANY_VALU)), stages: 1 }],
        within: Within::ANY,
        remedy: Remedy::VectorNop,
        outside: false,
        alone: false,
        evidence: BOTH,
        note: "any vector ALU instruction between them ends it; reading them as C is free",
    },
    RemedyRule {
        id: "llvm.cmpx-permlane.rdna",
        title: "a compare writes EXEC, then `v_permlane*`, with no vector ALU instruction but `v_nop` between",
        cite: "LLVM 22, measured",
        targets: on::FROM_GFX11,
        ends: &[End { by: EndBy::Kind(but(Kinds::ANY_VALU, Kinds::V_NOP)), stages: 1 }],
        evidence: Evidence::LLVM.mesa(Voice::Less),
        note: "Mesa takes `v_nop` for enough from RDNA 3 on",
        ..CMPX_PERMLANE
    },
    RemedyRule {
        ends: &[End { by: EndBy::Kind(anyone(Kinds::ANY_VALU)), stages: 1 }],
        targets: on::FROM_GFX11,
        remedy: Remedy::VectorNop,
        ..CMPX_PERMLANE
    },
    RemedyRule {
        id: "rdna1.cmpx-permlane",
        targets: on::GFX10_1,
        ends: &[End { by: EndBy::Kind(but(Kinds::ANY_VALU, Kinds::V_NOP)), stages: 1 }],
        note: "`v_nop` is dropped before it could separate them",
        ..CMPX_PERMLANE
    },
];

const CMPX_PERMLANE: RemedyRule = RemedyRule {
    id: "rdna.cmpx-permlane",
    title: "a compare writes EXEC, then `v_permlane*`",
    cite: "LLVM 22, measured; Mesa 25.0.7, `aco_insert_NOPs`",
    targets: on::FROM_GFX11,
    waves: WaveSizes::all(),
    steps: &[Step { who: anyone(Kinds::COMPARE), roles: Role::SDST, which: Which::Exec, tie: Tie::Some }],
    second: Step { who: anyone(Kinds::PERMLANE), roles: Role::empty(), which: Which::Exec, tie: Tie::Some },
    ends: &[],
    within: Within::ANY,
    remedy: Remedy::MoveSource,
    outside: false,
    alone: false,
    evidence: BOTH,
    note: "",
};
