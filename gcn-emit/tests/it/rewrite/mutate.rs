//! Superfluous waits against brute force: every wait of some files is weakened, one at a time, and the checker asked.

use gcn_emit::rewrite::superfluous;
use gcn_isa::InstructionSet;
use gcn_isa::check::{self, MemoryModel, Options};
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::hazards::RuleSet;
use gcn_isa::table::Class;
use gcn_isa::{Operand, Program};

use super::unit;
use crate::asm::corpus;

/// A partial wait before a barrier is taken for intended by the default model: as a weaker wait it has to be judged strictly.
/// Most instructions of a file that is tried.
const SMALL: usize = 400;
/// How many files are tried; all small ones with `GCN_CORPUS=all`.
const FILES: usize = 6;

#[test]
fn a_wait_is_listed_exactly_if_a_weaker_one_breaks_nothing() {
    let all = std::env::var_os("GCN_CORPUS").is_some_and(|v| v == "all");
    let (mut waits, mut listed, mut files) = (0, 0, 0);
    for file in corpus::files().iter().step_by(if all { 1 } else { 7 }) {
        let unit = unit(&file.text);
        if unit.instructions() > SMALL || !all && files >= FILES {
            continue;
        }
        files += 1;
        let found = superfluous(&unit, RuleSet::Safe);
        for code in &unit.sections {
            let program = &code.program;
            let rules = RuleSet::Safe.config(unit.target_id.may_replay());
            let broken = |program: &Program| {
                broken(program, Options { rules, memory_model: MemoryModel::Strict, ..Options::default() })
            };
            let before = broken(program);
            let is_wait =
                |l: &usize| matches!(program.lines[*l].inst.desc.class, Class::Nop | Class::Waitcnt);
            for line in (0..program.lines.len()).filter(is_wait) {
                waits += 1;
                let is_listed = found.iter().any(|s| s.section == code.section && s.index == line);
                listed += usize::from(is_listed);
                let harmless = weaker(program, line).iter().any(|p| broken(p) <= before);
                assert_eq!(is_listed, harmless, "{}: line {:?}", file.path, code.places[line].line);
            }
        }
    }
    println!("{files} files, {waits} waits, {listed} superfluous");
    assert!(files >= FILES && waits > 50, "{files} {waits}");
}

fn broken(program: &Program, options: Options) -> usize {
    let report = check::check_with(program, options);
    report.findings.len() + report.omitted()
}

/// The programs in which this wait waits for one less.
fn weaker(program: &Program, line: usize) -> Vec<Program> {
    let Some(&Operand::Imm(imm)) = program.lines[line].inst.operands.first() else { return Vec::new() };
    let with = |imm: i64| {
        let mut program = program.clone();
        program.lines[line].inst_mut().operands[0] = Operand::Imm(imm);
        program
    };
    if program.lines[line].inst.desc.class == Class::Waitcnt {
        let wait = WaitCnt::of_immediate(InstructionSet::GFX900, imm as u16);
        let counters = Counter::ALL.into_iter().filter(|c| c.is_in(wait));
        return counters
            .map(|c| with(i64::from(c.set(wait, c.of(wait) + 1).immediate(InstructionSet::GFX900))))
            .collect();
    }
    if imm & 0xf > 0 {
        return vec![with((imm & 0xf) - 1)];
    }
    // Nothing in its place; labels after it move up.
    let mut program = program.clone();
    program.lines.remove(line);
    let shift = |at: &mut usize| *at -= usize::from(*at > line);
    program.labels.iter_mut().filter_map(|l| l.at.as_mut()).for_each(shift);
    program.entries.iter_mut().for_each(|e| shift(&mut e.at));
    program.gaps.iter_mut().for_each(shift);
    vec![program]
}
