//! Tests the advice against the checker: the advised waits break no rule, and any weaker waits would.

use gcn_isa::InstructionSet;
use gcn_isa::check::{self, Advice, Amount, Options};
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::program::Line;
use gcn_isa::table::Class;
use gcn_isa::{Operand, Program, Target};
use gcn_test_support::Random;

use super::search::{COUNTER_MENU, DISTANCE_MENU, random, successors};
use crate::golden;

/// A finding of the checker: the two instructions, the rule, the required amount and the actual amount.
type Broken = (Option<usize>, usize, &'static str, Amount, Amount);

fn broken(program: &Program) -> Vec<Broken> {
    super::strict(program).findings.iter().map(|f| (f.first, f.second, f.rule, f.need, f.have)).collect()
}

/// True if every rule that is broken in `other` was already broken at least as badly in the program from which `other` was made.
fn no_worse(known: &[Broken], other: &[Broken]) -> bool {
    let states = |amount: Amount| if let Amount::States(n) = amount { n } else { 0 };
    let covers =
        |k: &Broken, o: &Broken| (k.0, k.1, k.2, k.3) == (o.0, o.1, o.2, o.3) && states(k.4) <= states(o.4);
    other.iter().all(|o| known.iter().any(|k| covers(k, o)))
}

/// True if every rule that `program` satisfies is still satisfied if `line` has another operand.
fn keeps(program: &Program, line: usize, imm: i64) -> bool {
    let mut other = program.clone();
    other.lines[line].inst_mut().operands[0] = Operand::Imm(imm);
    no_worse(&broken(program), &broken(&other))
}

/// True if every rule that `program` satisfies is still satisfied without the line.
fn keeps_without(program: &Program, line: usize) -> bool {
    let mut other = program.clone();
    other.lines.remove(line);
    for at in other.labels.iter_mut().filter_map(|l| l.at.as_mut()) {
        *at -= usize::from(*at > line);
    }
    let renumber = |l: usize| l + usize::from(l >= line);
    let others: Vec<Broken> =
        broken(&other).into_iter().map(|b| (b.0.map(renumber), renumber(b.1), b.2, b.3, b.4)).collect();
    no_worse(&broken(program), &others)
}

/// Compares the advice for `program` with the checker. Returns the number of waits that have advice.
fn judge(program: &Program) -> usize {
    let advice = check::advice(program, Options::default());
    let reached = reached(program);
    for (line, text) in program.lines.iter().enumerate().filter(|l| reached[l.0]) {
        let given = advice.iter().find(|a| a.line == line);
        match text.inst.desc.class {
            Class::Nop => judge_states(program, line, given),
            Class::Waitcnt => judge_wait(program, line, given),
            _ => assert_eq!(given, None),
        }
    }
    advice.len()
}

/// For each line, whether control may reach it. Unreachable code gets no advice.
fn reached(program: &Program) -> Vec<bool> {
    let mut reached = vec![false; program.lines.len()];
    let mut open = vec![0];
    while let Some(line) = open.pop() {
        if !std::mem::replace(&mut reached[line], true) {
            open.extend(successors(program, line));
        }
    }
    reached
}

fn judge_states(program: &Program, line: usize, given: Option<&Advice>) {
    let Operand::Imm(imm) = program.lines[line].inst.operands[0] else { panic!("an immediate") };
    let enough = match given.map(|a| a.enough) {
        Some(Amount::States(n)) => i64::from(n),
        None => imm + 1,
        other => panic!("{other:?}"),
    };
    match enough {
        0 => assert!(keeps_without(program, line), "{program:?} {given:?}"),
        1 => assert!(keeps(program, line, 0) && !keeps_without(program, line), "line {line}: {given:?}"),
        n => {
            assert!(keeps(program, line, n - 1), "line {line}: {given:?}");
            assert!(!keeps(program, line, n - 2), "line {line}: {given:?}");
        }
    }
}

fn judge_wait(program: &Program, line: usize, given: Option<&Advice>) {
    let Operand::Imm(imm) = program.lines[line].inst.operands[0] else { panic!("an immediate") };
    let have = WaitCnt::of_immediate(InstructionSet::GFX900, imm as u16);
    let enough = match given.map(|a| a.enough) {
        Some(Amount::Wait(wait)) => wait.wait,
        None => have,
        other => panic!("{other:?}"),
    };
    let with = |wait: WaitCnt| keeps(program, line, wait.immediate(InstructionSet::GFX900).into());
    assert!(with(enough), "line {line}: {given:?}");
    for counter in Counter::ALL.into_iter().filter(|c| c.is_in(enough)) {
        let less = counter.set(enough, counter.of(enough) + 1);
        assert!(
            !with(less),
            "line {line}: {given:?}, {less:?} would do in\n{}",
            gcn_emit::text::print_program(program, gcn_emit::text::Comments::None)
        );
    }
}

/// The program with an `s_nop` added wherever the checker finds missing wait states. If one dependency has two findings, the checker
/// reports only the one of the shorter path, so only correct programs are suitable for comparing advice.
fn mended(mut program: Program) -> Program {
    let nop = golden::inst("s_nop 0", program.target);
    loop {
        let findings = super::strict(&program).findings;
        let missing = findings.iter().find_map(|f| match (f.need, f.have) {
            (Amount::States(need), Amount::States(have)) => Some((f.second, need - have)),
            _ => None,
        });
        let Some((line, states)) = missing else { return program };
        let mut inst = nop.clone();
        inst.operands[0] = Operand::Imm(i64::from(states.min(16)) - 1);
        program.insert(vec![(line, Line::new(inst))]);
    }
}

#[test]
fn nothing_less_than_advised_would_do() {
    let mut rng = Random::new(0xadf1ce);
    let mut given = 0;
    for round in 0..1500 {
        let forward_only = round % 3 == 0;
        given += judge(&mended(random(&mut rng, Target::GFX942, &DISTANCE_MENU, 14, forward_only)));
        given += judge(&random(&mut rng, Target::GFX942, &COUNTER_MENU, 14, forward_only));
    }
    assert!(given > 2000, "{given} pieces of advice are too few to show anything");
}

#[test]
fn golden_waits_are_mostly_as_weak_as_can_be() {
    let text = golden::unpack(include_bytes!("../../data/waitcnt-golden.tsv.gz"));
    let mut given = 0;
    for row in golden::rows(&text) {
        let [target, _, _, with_waits] = row[..] else { panic!("{row:?}") };
        if !with_waits.contains("exp ") {
            given += judge(&golden::program(with_waits, golden::target(target)));
        }
    }
    // LLVM drains a counter that two kinds of operations share, and drains all counters where a function may be entered.
    assert!(given < 200, "{given}");
}

#[test]
fn a_wait_before_a_store_is_seen_by_others_may_order_it() {
    let lines = "global_store_dword v[0:1], v2, off | s_waitcnt vmcnt(0) | s_barrier | s_endpgm";
    let advice = check::advice(&golden::program(lines, Target::GFX942), Options::default());
    assert_eq!(
        advice[0].to_string(),
        "line 1: nothing needs `s_waitcnt vmcnt(0)`, unless it orders memory for others"
    );
}

/// Tests XNACK replay: a fault of the last load repeats the clause, so that the store would write the new v4. The store is two memory
/// instructions before the load, so no pair of adjacent instructions shows the violation.
#[test]
fn a_wait_that_ends_a_clause_is_needed_where_accesses_may_be_replayed() {
    let text = "buffer_store_dwordx2 v[4:5], v3, s[28:31], 0 offen | buffer_load_dwordx2 v[2:3], v9, s[28:31], 0 offen | s_nop 0 \
                | buffer_load_dwordx2 v[4:5], v22, s[28:31], 0 offen | s_endpgm";
    let program = golden::program(text, Target::GFX90A);
    let advised = |xnack| {
        let rules = gcn_isa::hazards::Config::default().with_xnack(xnack);
        check::advice(&program, Options { rules, ..Options::default() }).len()
    };
    assert_eq!((advised(true), advised(false)), (0, 1));
}
