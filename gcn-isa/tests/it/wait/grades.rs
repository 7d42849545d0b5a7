//! Tests the rule grades: the waits that are inserted for a minimum grade must be the waits that the checker requires for that grade.

use gcn_isa::check::{MemoryModel, Options, check_with};
use gcn_isa::counters::WaitCnt;
use gcn_isa::hazards::{Config, Grade, wait_states};
use gcn_isa::wait::{InsertedKind, WaitOptions, insert_waits};
use gcn_isa::{Operand, Program, Target};
use gcn_test_support::Random;
use gcn_test_support::env::{fuzz_seeds, is_thorough};

use super::counters::{PALETTE, from_parts, parts, random_program, set_wait, wait_of};
use super::oracle::reached;
use super::text;

/// Rules that apply at every grade.
const ALWAYS: [&str; 4] = ["waitcnt.lds-dma", "barrier.lds", "barrier.lds-read", "barrier.lds-dma"];

fn weakened(program: &Program, line: usize, counter: usize) -> Option<Program> {
    let mut wait = parts(wait_of(program, line)?);
    if wait[counter] == parts(WaitCnt::NONE)[counter] {
        return None;
    }
    wait[counter] += 1;
    let mut less = program.clone();
    set_wait(&mut less, line, from_parts(wait));
    Some(less)
}

#[test]
fn every_grade_gets_its_own_waits() {
    let palette: Vec<&str> = PALETTE
        .iter()
        .chain(&super::states::PALETTE)
        .copied()
        .filter(|p| !p.ends_with("lds") && !p.starts_with("s_waitcnt"))
        .collect();
    let mut totals = [[0usize; 2]; 3];
    for seed in fuzz_seeds(1, 400) {
        for (grade, totals) in Grade::ALL.into_iter().zip(&mut totals) {
            let mut program = random_program(&mut Random::new(seed), Target::GFX942, &palette, 6);
            let rules = Config::at_least(grade);
            let inserted = insert_waits(&mut program, &WaitOptions { rules, ..WaitOptions::default() });
            let check = |p: &Program| {
                check_with(p, Options { rules, memory_model: MemoryModel::Strict, errata: true })
            };
            let report = check(&program);
            assert!(report.is_clean(), "seed {seed} {grade}: {report}\n{}", text::shown(&program));
            let reached = reached(&program);
            for i in inserted.iter().filter(|i| reached[i.at]) {
                let lines = &program.lines[i.at..i.at + i.count];
                totals[usize::from(i.kind == InsertedKind::WaitStates)] += match i.kind {
                    InsertedKind::WaitStates => lines.iter().map(|l| wait_states(&l.inst) as usize).sum(),
                    _ => 1,
                };
                if i.reasons.iter().any(|r| ALWAYS.contains(&r.rule)) {
                    continue;
                }
                for less in (0..3).filter_map(|c| weakened(&program, i.at, c)) {
                    assert!(
                        !check(&less).is_clean(),
                        "seed {seed} {grade}: at {}\n{}",
                        i.at,
                        text::shown(&program)
                    );
                }
                if i.kind == InsertedKind::WaitStates
                    && let Operand::Imm(n @ 1..) = program.lines[i.at].inst.operands[0]
                {
                    let mut less = program.clone();
                    less.lines[i.at].inst_mut().operands[0] = Operand::Imm(n - 1);
                    assert!(
                        !check(&less).is_clean(),
                        "seed {seed} {grade}: at {}\n{}",
                        i.at,
                        text::shown(&program)
                    );
                }
            }
        }
    }
    // With fewer rules, there are fewer wait states. For counters, a weaker wait may lead to more waits later.
    assert!(totals.is_sorted_by(|a, b| a[1] >= b[1]), "{totals:?}");
    assert!(totals[0][1] > totals[2][1] && totals[2][1] > 0, "{totals:?}");
    assert!(totals[0][0] != totals[2][0] || !is_thorough(), "{totals:?}");
}
