//! Tests a program with an index against all programs that name the registers directly: the requirements with an unknown index are the
//! requirements for at least one index.
//!
//! The programs are random: producers (matrix instructions, loads, vector ALU) with regions of VGPR indexing between them, with or without
//! a loop. For each index, [`named`] replaces the registers; it was written for this test without the analysis. The checker then judges the
//! program that names the registers.

use std::collections::BTreeMap;

use gcn_isa::InstructionSet;
use gcn_isa::check::{self, Amount};
use gcn_isa::counters::WaitCnt;
use gcn_isa::wait::{WaitOptions, insert_waits};
use gcn_isa::{Class, Inst, Operand, Program, Reg, RegFile, Target, table};
use gcn_test_support::Random;

use crate::golden;

/// The number of indices. They lead from v0 … v7 to each register that a program names, and beyond.
const INDICES: u16 = 48;

/// `inst` as it executes with `index` and the mask `bits` (1 source 0, 2 source 1, 4 source 2, 8 destination). Only instructions of
/// [`INDEXED`] are supported.
fn moved(inst: &Inst, index: u16, bits: i64) -> Inst {
    let mut moved = inst.clone();
    for (slot, operand) in inst.desc.operands.iter().zip(&mut moved.operands) {
        let bit = match slot.name {
            "src0" => 1,
            "src1" => 2,
            "src2" => 4,
            _ => 8,
        };
        if let Operand::Reg(reg) = operand
            && reg.file == RegFile::Vgpr
            && bits & bit != 0
        {
            *operand = Reg { index: reg.index + index, ..*reg }.into();
        }
    }
    moved
}

/// `program` with the registers to which `index` leads. The instructions that change the indexing mode are replaced by `s_nop 0`, so that
/// distances remain the same.
fn named(program: &Program, index: u16) -> Program {
    let nop = Inst::new(table::find(program.target, "s_nop").next().unwrap(), [Operand::Imm(0)]);
    let mut bits = 0;
    let mut result = program.clone();
    for line in &mut result.lines {
        let inst = &line.inst;
        if inst.desc.class == Class::GprIdx {
            bits = match inst.operands.last() {
                Some(Operand::Imm(mask)) => *mask,
                _ => 0,
            };
            line.inst = nop.clone().into();
        } else if inst.desc.is_valu() && bits != 0 {
            line.inst = moved(inst, index, bits).into();
        }
    }
    result
}

const PRODUCERS: [&str; 6] = [
    "v_mfma_f32_32x32x8_f16 v[16:31], v[36:37], v[38:39], v[16:31]",
    "v_mfma_f32_4x4x4_16b_f16 v[12:15], v[36:37], v[38:39], v[12:15]",
    "global_load_dwordx4 v[8:11], v[44:45], off",
    "global_load_dwordx2 v[32:33], v[44:45], off offset:16",
    "ds_read_b64 v[34:35], v46",
    "v_mov_b32_e32 v33, v47",
];

/// The instructions of a region. There are rules about their vector registers.
const INDEXED: [&str; 6] = [
    "v_mov_b32_e32 v6, v2",
    "v_add_f32_e32 v7, v1, v3",
    "v_fma_f32 v5, v0, v2, v4",
    "v_readlane_b32 s4, v2, s5",
    "v_fmac_f32_e32 v4, v1, v3",
    "v_exp_f32_e32 v3, v1",
];

const NEUTRAL: [&str; 4] = ["s_mov_b32 s20, s21", "s_nop 1", "v_mov_b32_e32 v40, s6", "s_waitcnt vmcnt(1)"];

/// A random program with `regions` regions, each with one indexed instruction.
fn draw(rng: &mut Random, regions: usize) -> Program {
    let mut lines: Vec<String> = Vec::new();
    let some = |rng: &mut Random, lines: &mut Vec<String>, most: usize| {
        for _ in 0..rng.below(most + 1) {
            let from: &[&str] = if rng.one_in(3) { &NEUTRAL } else { &PRODUCERS };
            lines.push(from[rng.below(from.len())].to_owned());
        }
    };
    let in_loop = rng.one_in(2);
    if in_loop {
        lines.push("L1:".to_owned());
    }
    for _ in 0..regions {
        some(rng, &mut lines, 4);
        lines.push(format!("s_set_gpr_idx_on s2, {:#x}", 1 + rng.below(15)));
        if rng.one_in(3) {
            lines.push(format!("s_nop {}", rng.below(8)));
        }
        lines.push(INDEXED[rng.below(INDEXED.len())].to_owned());
        lines.push("s_set_gpr_idx_off".to_owned());
    }
    some(rng, &mut lines, 3);
    if in_loop {
        lines.push("s_cbranch_scc1 L1".to_owned());
    }
    lines.push("s_endpgm".to_owned());
    golden::program(&lines.join(" | "), Target::GFX942)
}

/// The requirements between two lines: the number of missing wait states, or a wait with its field.
type Asked = BTreeMap<(Option<usize>, usize), (u32, Vec<String>)>;

fn asked(program: &Program, into: &mut Asked) {
    for finding in check::check(program).findings {
        let (states, waits) = into.entry((finding.first, finding.second)).or_default();
        match finding.need {
            Amount::States(need) => *states = (*states).max(need.into()),
            Amount::Wait(wait) => waits.push(wait.counters()),
            _ => {}
        }
        waits.sort();
        waits.dedup();
    }
}

fn text(program: &Program) -> String {
    gcn_emit::text::print_program(program, gcn_emit::text::Comments::None)
}

/// Tests programs with one indexed instruction: the checker's requirements are, for each pair, those that it has for at least one index.
#[test]
fn an_unknown_index_is_all_indices() {
    let mut rng = Random::new(7);
    let mut found = 0;
    for _ in 0..400 {
        let program = draw(&mut rng, 1);
        let (mut unknown, mut known) = (Asked::new(), Asked::new());
        asked(&program, &mut unknown);
        (0..INDICES).for_each(|index| asked(&named(&program, index), &mut known));
        found += unknown.len();
        assert_eq!(unknown, known, "{}", text(&program));
    }
    assert!(found > 400, "{found} pairs");
}

/// Tests that the inserted waits are sufficient for every index.
#[test]
fn inserted_waits_are_enough_for_every_index() {
    let mut rng = Random::new(8);
    for _ in 0..150 {
        let mut program = draw(&mut rng, 3);
        insert_waits(&mut program, &WaitOptions::default());
        assert!(check::check(&program).is_clean(), "{}", text(&program));
        for index in 0..INDICES {
            let report = check::check(&named(&program, index));
            assert!(report.is_clean(), "index {index}: {report}\n{}", text(&program));
        }
    }
}

/// `program` with one wait state fewer at `line`, or with the wait for a counter at `line` removed. `None` if the `s_nop` has only one wait
/// state.
fn weakened(program: &Program, line: usize) -> Option<Program> {
    let mut weaker = program.clone();
    let inst = weaker.lines[line].inst_mut();
    let less = match (inst.desc.class, &inst.operands[0]) {
        // A wait for a counter also provides a wait state.
        (Class::Waitcnt, _) => WaitCnt::NONE.immediate(InstructionSet::GFX900).into(),
        (_, Operand::Imm(states)) => states.checked_sub(1).filter(|s| *s >= 0)?,
        _ => return None,
    };
    inst.operands[0] = Operand::Imm(less);
    Some(weaker)
}

/// Tests that the inserted waits are minimal: with one wait state fewer, they are insufficient for at least one index.
#[test]
fn inserted_waits_are_needed_for_some_index() {
    let mut rng = Random::new(9);
    let mut tried = 0;
    for _ in 0..250 {
        let mut program = draw(&mut rng, 1);
        let inserted = insert_waits(&mut program, &WaitOptions::default());
        for wait in inserted.iter().filter(|i| i.count > 0) {
            let Some(weaker) = weakened(&program, wait.at) else { continue };
            tried += 1;
            let broken = (0..INDICES).any(|index| !check::check(&named(&weaker, index)).is_clean());
            assert!(broken, "{wait:?} is not needed:\n{}", text(&program));
        }
    }
    assert!(tried > 150, "{tried} waits");
}
