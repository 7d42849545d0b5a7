//! Rules about VGPRs and EXEC.

use super::rule::{End, EndBy, Remedy, RemedyRule, Step, Tie, Which, Within, end};
use super::waits::{Dependency, Waits};
use super::{BOTH, MORE_IN_MESA, anyone, but};
use crate::hazards::evidence::{Evidence, Voice};
use crate::hazards::row::on;
use crate::hazards::rule::Condition;
use crate::hazards::view::{Kinds, Role};
use crate::table::WaveSizes;

const VALU_WRITES: Step =
    Step { who: anyone(Kinds::ANY_VALU), roles: Role::VDST, which: Which::Vgprs, tie: Tie::Each };
const VALU_READS: Step =
    Step { who: anyone(Kinds::ANY_VALU), roles: Role::VSRC, which: Which::Vgprs, tie: Tie::Same };

/// The second instruction follows without a vector ALU instruction in between.
const BESIDE: Within = Within { valus: 0, ..Within::ANY };
/// Bit mask of stages: sequences of every stage.
const ANY_STAGE: u8 = u8::MAX;
const RESULTS_THERE: End = end(EndBy::Waits(Waits::VA_VDST), ANY_STAGE);
const MEMORY: End = end(EndBy::Kind(but(Kinds::MEMORY, Kinds::LDS_DIRECT)), ANY_STAGE);
const WRITTEN_AGAIN: End = end(EndBy::Uses(anyone(Kinds::ANY_VALU), Role::VDST, Which::Vgprs), ANY_STAGE);

/// The common fields of the hazards of transcendental results.
const TRANS_USE: RemedyRule = RemedyRule {
    id: "rdna3.trans-use",
    title: "a transcendental instruction writes a VGPR, then the vector ALU reads it",
    targets: on::GFX11_0,
    steps: &[Step { who: anyone(Kinds::TRANS), ..VALU_WRITES }],
    second: VALU_READS,
    ends: &[RESULTS_THERE, MEMORY],
    within: Within { valus: 5, transcendentals: 1, ..Within::ANY },
    remedy: Remedy::Wait(Dependency::VaVdst),
    note: "in LLVM, memory and LDS instructions end the hazard",
    ..CMPX_PERMLANE
};

/// The common fields of the hazards of results before and after a write to EXEC.
const FORWARDING: RemedyRule = RemedyRule {
    id: "rdna3.partial-forwarding",
    title: "vector ALU writes a VGPR, scalar ALU writes EXEC, vector ALU writes another VGPR, then the vector ALU reads both VGPRs",
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
    note: "in LLVM, memory and LDS instructions end the hazard. If several registers are written, LLVM considers only the last one",
    ..CMPX_PERMLANE
};

pub(super) const RULES: &[RemedyRule] = &[
    TRANS_USE,
    RemedyRule {
        id: "mesa.trans-use",
        title: "a transcendental instruction writes a VGPR, then the vector ALU reads it; memory instructions in between do not end the hazard",
        ends: &[RESULTS_THERE],
        evidence: MORE_IN_MESA,
        note: "",
        ..TRANS_USE
    },
    WMMA[0][0],
    WMMA[0][1],
    WMMA[0][2],
    WMMA[1][0],
    WMMA[1][1],
    WMMA[1][2],
    WMMA[2][0],
    WMMA[2][1],
    WMMA[2][2],
    RemedyRule {
        id: "llvm.trans-use.gfx12.5",
        second: Step { who: AFTER_TRANS, ..VALU_READS },
        ..TRANS_GFX12_5
    },
    RemedyRule {
        id: "llvm.trans-overwrite.gfx12.5",
        title: "a transcendental instruction reads a VGPR, then the vector ALU writes it",
        steps: &[Step { who: anyone(Kinds::TRANS), ..VALU_READS_FIRST }],
        second: Step { who: without_dual(AFTER_TRANS), roles: Role::VDST, ..VALU_READS },
        note: "LLVM inserts nothing before VOPD instructions",
        ..TRANS_GFX12_5
    },
    RemedyRule {
        id: "llvm.trans-scalar.gfx12.5",
        title: "a transcendental instruction writes an SGPR, then the vector ALU reads it",
        steps: &[Step {
            who: anyone(Kinds::TRANS),
            roles: Role::SDST,
            which: Which::Scalars,
            tie: Tie::Each,
        }],
        second: Step { who: AFTER_TRANS, roles: Role::SSRC, which: Which::Scalars, tie: Tie::Same },
        ..TRANS_GFX12_5
    },
    RemedyRule {
        id: "llvm.trans-scalar-overwrite.gfx12.5",
        title: "a transcendental instruction reads an SGPR, then the vector ALU writes it",
        steps: &[Step {
            who: anyone(Kinds::TRANS),
            roles: Role::SSRC,
            which: Which::Scalars,
            tie: Tie::Each,
        }],
        second: Step { who: AFTER_TRANS, roles: Role::SDST, which: Which::Scalars, tie: Tie::Same },
        ..TRANS_GFX12_5
    },
    FORWARDING,
    RemedyRule {
        id: "mesa.partial-forwarding",
        title: "vector ALU writes a VGPR, scalar ALU writes EXEC, vector ALU writes another VGPR, then the vector ALU reads both VGPRs, in one operand or two; memory instructions in between do not end the hazard",
        second: Step { tie: Tie::Both, ..VALU_READS },
        ends: &[RESULTS_THERE, WRITTEN_AGAIN],
        evidence: MORE_IN_MESA,
        note: "",
        ..FORWARDING
    },
    RemedyRule {
        id: "rdna.matrix",
        title: "a matrix instruction writes VGPRs, then the next vector ALU instruction is a matrix instruction that reads them as A, B or index",
        cite: "observed in LLVM 22's output; Mesa 25.0.7, `aco_insert_NOPs`",
        targets: on::ALL_FROM_GFX11,
        waves: WaveSizes::all(),
        steps: &[Step { who: anyone(Kinds::MATRIX), roles: Role::VDST, which: Which::Vgprs, tie: Tie::Each }],
        second: Step {
            who: anyone(Kinds::MATRIX),
            roles: Role::SRC_AB.union(Role::INDEX),
            which: Which::Vgprs,
            tie: Tie::Same,
        },
        ends: &[],
        within: BESIDE,
        remedy: Remedy::VectorNops(1),
        outside: false,
        alone: false,
        evidence: BOTH,
        note: "any other vector ALU instruction in between ends the hazard; if the VGPRs are read as C, nothing is needed",
    },
    RemedyRule {
        id: "llvm.cmpx-permlane.rdna",
        title: "a compare writes EXEC, then `v_permlane*` follows, with no vector ALU instruction other than `v_nop` in between",
        cite: "observed in LLVM 22's output",
        targets: on::ALL_FROM_GFX11,
        ends: &[End { by: EndBy::Kind(but(Kinds::ANY_VALU, Kinds::V_NOP)), stages: 1 }],
        evidence: Evidence::LLVM.mesa(Voice::Less),
        note: "in Mesa `v_nop` is enough from RDNA 3 on",
        ..CMPX_PERMLANE
    },
    RemedyRule {
        within: BESIDE,
        targets: on::ALL_FROM_GFX11,
        remedy: Remedy::VectorNops(1),
        ..CMPX_PERMLANE
    },
    RemedyRule {
        id: "rdna1.cmpx-permlane",
        targets: on::GFX10_1,
        ends: &[End { by: EndBy::Kind(but(Kinds::ANY_VALU, Kinds::V_NOP)), stages: 1 }],
        note: "the hardware drops `v_nop` early, so `v_nop` does not separate the two instructions",
        ..CMPX_PERMLANE
    },
];

const AFTER_MATRIX: Condition = but(Kinds::VALU, Kinds::TRANS.union(Kinds::MATRIX));
const AFTER_TRANS: Condition = but(Kinds::ANY_VALU, Kinds::TRANS);
const fn without_dual(who: Condition) -> Condition {
    Condition { none: who.none.union(Kinds::DUAL), ..who }
}

const VALU_READS_FIRST: Step = Step { tie: Tie::Each, ..VALU_READS };

/// The common fields of the hazards of transcendental instructions of gfx12.5, which complete out of order with the rest of the vector ALU.
const TRANS_GFX12_5: RemedyRule = RemedyRule {
    targets: on::GFX12_5,
    cite: "observed in LLVM 22's output",
    ends: &[],
    within: BESIDE,
    remedy: Remedy::VectorNops(1),
    evidence: Evidence::LLVM,
    note: "any vector ALU instruction in between ends the hazard",
    ..TRANS_USE
};

/// Matrix instructions of gfx12.5, which overlap with the vector ALU instructions after them. For each number of passes, there are rules
/// about matrix instructions that read the result, about vector ALU instructions that use it, and about instructions that overwrite a
/// source.
const WMMA: [[RemedyRule; 3]; 3] = [
    overlapping(
        &RESULTS[0],
        &SOURCES[0],
        2,
        ["llvm.wmma.matrix.2", "llvm.wmma.use.2", "llvm.wmma.overwrite.2"],
    ),
    overlapping(
        &RESULTS[1],
        &SOURCES[1],
        4,
        ["llvm.wmma.matrix.4", "llvm.wmma.use.4", "llvm.wmma.overwrite.4"],
    ),
    overlapping(
        &RESULTS[2],
        &SOURCES[2],
        8,
        ["llvm.wmma.matrix.8", "llvm.wmma.use.8", "llvm.wmma.overwrite.8"],
    ),
];

const fn of_each_length(roles: Role) -> [[Step; 1]; 3] {
    const fn first(kinds: Kinds, roles: Role) -> [Step; 1] {
        [Step { who: anyone(kinds), roles, which: Which::Vgprs, tie: Tie::Each }]
    }
    [first(Kinds::WMMA_2, roles), first(Kinds::WMMA_4, roles), first(Kinds::WMMA_8, roles)]
}

const SOURCE: Role = Role::SRC_AB.union(Role::INDEX);
const RESULTS: [[Step; 1]; 3] = of_each_length(Role::VDST);
const SOURCES: [[Step; 1]; 3] = of_each_length(SOURCE);

const fn overlapping(
    results: &'static [Step],
    sources: &'static [Step],
    passes: u8,
    ids: [&'static str; 3],
) -> [RemedyRule; 3] {
    let valu = RemedyRule {
        id: ids[1],
        title: "a matrix instruction writes VGPRs, then the vector ALU reads or writes them",
        cite: "observed in LLVM 22's output",
        targets: on::GFX12_5,
        waves: WaveSizes::all(),
        steps: results,
        second: Step {
            who: AFTER_MATRIX,
            roles: Role::VSRC.union(Role::VDST),
            which: Which::Vgprs,
            tie: Tie::Same,
        },
        ends: &[],
        within: Within { valus: passes - 1, ..Within::ANY },
        remedy: Remedy::VectorNops(passes),
        outside: false,
        alone: false,
        evidence: Evidence::LLVM,
        note: "the last number of the rule's name is the number of passes of the matrix instruction. LLVM inserts nothing before transcendental instructions",
    };
    [
        RemedyRule {
            id: ids[0],
            title: "a matrix instruction writes VGPRs, then another one reads them as A, B or index",
            second: Step {
                who: anyone(Kinds::WMMA_OVERLAPPING),
                roles: SOURCE,
                which: Which::Vgprs,
                tie: Tie::Same,
            },
            within: Within { valus: passes, ..Within::ANY },
            remedy: Remedy::VectorNops(passes + 1),
            note: "the last number of the rule's name is the number of passes of the first instruction. If the VGPRs are read as C, nothing is needed",
            ..valu
        },
        valu,
        RemedyRule {
            id: ids[2],
            title: "a matrix instruction reads VGPRs as A, B or index, then the vector ALU writes them",
            steps: sources,
            second: Step { who: without_dual(AFTER_MATRIX), roles: Role::VDST, ..valu.second },
            note: "the last number of the rule's name is the number of passes of the matrix instruction. LLVM inserts nothing before transcendental instructions or before VOPD instructions",
            ..valu
        },
    ]
}

const CMPX_PERMLANE: RemedyRule = RemedyRule {
    id: "rdna.cmpx-permlane",
    title: "a compare writes EXEC, then `v_permlane*` follows",
    cite: "observed in LLVM 22's output; Mesa 25.0.7, `aco_insert_NOPs`",
    targets: on::ALL_FROM_GFX11,
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
