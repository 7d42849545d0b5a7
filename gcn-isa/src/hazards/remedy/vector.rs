//! Rules about VGPRs and EXEC.

use super::rule::{End, EndBy, Remedy, RemedyRule, Step, Tie, Which, Within};
use super::{anyone, but};
use crate::hazards::evidence::{Evidence, Voice};
use crate::hazards::row::on;
use crate::hazards::view::{Kinds, Role};
use crate::table::WaveSizes;

/// LLVM and Mesa ask for it.
const BOTH: Evidence = Evidence::LLVM.mesa(Voice::Agrees);

pub(super) const RULES: &[RemedyRule] = &[
    RemedyRule {
        id: "rdna.matrix",
        title: "a matrix instruction writes VGPRs, then the next one reads them as A, B or index",
        cite: "LLVM 22, measured; Mesa 25.0.7, `aco_insert_NOPs`",
        targets: on::FROM_GFX11,
        waves: WaveSizes::all(),
        steps: &[Step {
            who: anyone(Kinds::MATRIX),
            roles: Role::VDST,
            which: Which::Vgprs,
            tie: Tie::Each,
        }],
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
        evidence: BOTH,
        note: "any vector ALU instruction between them ends it; reading them as C is free",
    },
    RemedyRule {
        id: "llvm.cmpx-permlane",
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
    evidence: BOTH,
    note: "",
};
