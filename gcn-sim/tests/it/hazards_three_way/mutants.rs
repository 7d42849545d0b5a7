//! Programs in which one inserted wait is removed or weakened.

use gcn_isa::InstructionSet;
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::wait::{Inserted, InsertedKind};
use gcn_isa::{Operand, Program};

/// A program in which a required wait is missing or too weak.
pub struct Mutant {
    pub program: Program,
    /// A description of the change.
    pub change: String,
}

/// Every way to remove or weaken one of the waits `inserted`, whose insertion turned `original` into `program`.
pub fn mutants(original: &Program, program: &Program, inserted: &[Inserted]) -> Vec<Mutant> {
    let mut before = 0;
    let mut all = Vec::new();
    for wait in inserted {
        match (wait.kind, wait.count) {
            (InsertedKind::WaitStates, count) => all.extend(fewer_states(program, wait.at + count - 1)),
            // An existing wait of the program that the inserter made stronger.
            (InsertedKind::Waitcnt, 0) => {
                let own = original.lines[wait.at - before].inst.operands.first();
                all.extend(weaker_waits(program, wait.at, decode(own)));
            }
            // GFX9 has no rules of this kind.
            (InsertedKind::Remedy, _) => {}
            (InsertedKind::Waitcnt, _) => {
                all.push(without(program, wait.at));
                all.extend(weaker_waits(program, wait.at, WaitCnt::NONE));
            }
        }
        before += wait.count;
    }
    all
}

fn decode(operand: Option<&Operand>) -> WaitCnt {
    match operand {
        Some(Operand::Imm(imm)) => WaitCnt::of_immediate(InstructionSet::GFX900, *imm as u16),
        _ => WaitCnt::NONE,
    }
}

/// `program` without line `at`.
pub fn remove(program: &Program, at: usize) -> Program {
    let mut program = program.clone();
    program.lines.remove(at);
    for place in program.labels.iter_mut().filter_map(|l| l.at.as_mut()) {
        *place -= usize::from(*place > at);
    }
    program
}

fn without(program: &Program, at: usize) -> Mutant {
    Mutant { program: remove(program, at), change: format!("line {at} taken away") }
}

/// The program with one wait state less at `at`; `None` if that is not possible.
fn fewer_states(program: &Program, at: usize) -> Option<Mutant> {
    let Some(Operand::Imm(states)) = program.lines[at].inst.operands.first().copied() else { return None };
    if states == 0 {
        return Some(without(program, at));
    }
    let mut program = program.clone();
    std::sync::Arc::make_mut(&mut program.lines[at].inst).operands[0] = Operand::Imm(states - 1);
    Some(Mutant { program, change: format!("line {at}: `s_nop {}`", states - 1) })
}

/// For each counter for which the wait at `at` is stricter than `own`, the program with that counter's value increased by one.
fn weaker_waits(program: &Program, at: usize, own: WaitCnt) -> Vec<Mutant> {
    let wait = decode(program.lines[at].inst.operands.first());
    let raised = |counter: Counter| {
        if counter.of(wait) >= counter.of(own) {
            return None;
        }
        let weaker = counter.set(wait, counter.of(wait) + 1);
        let mut program = program.clone();
        weaker.put_into(std::sync::Arc::make_mut(&mut program.lines[at].inst));
        Some(Mutant { program, change: format!("line {at}: `{}`", weaker.on(InstructionSet::GFX900)) })
    };
    Counter::ALL.into_iter().filter_map(raised).collect()
}
