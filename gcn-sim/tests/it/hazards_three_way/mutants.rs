//! Programs with one inserted wait taken away or weakened.

use gcn_isa::InstructionSet;
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::wait::{Inserted, InsertedKind};
use gcn_isa::{Operand, Program};

/// A program that lacks some of a wait that it needs.
pub struct Mutant {
    pub program: Program,
    /// What was done to it.
    pub change: String,
}

/// Every way to take away or weaken one of the waits `inserted` into `original`, which made it `program`.
pub fn mutants(original: &Program, program: &Program, inserted: &[Inserted]) -> Vec<Mutant> {
    let mut before = 0;
    let mut all = Vec::new();
    for wait in inserted {
        match (wait.kind, wait.count) {
            (InsertedKind::WaitStates, count) => all.extend(fewer_states(program, wait.at + count - 1)),
            // A wait of the program's own that was made stronger.
            (InsertedKind::Waitcnt, 0) => {
                let own = original.lines[wait.at - before].inst.operands.first();
                all.extend(weaker_waits(program, wait.at, decode(own)));
            }
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

/// One wait state less.
fn fewer_states(program: &Program, at: usize) -> Option<Mutant> {
    let Some(Operand::Imm(states)) = program.lines[at].inst.operands.first().copied() else { return None };
    if states == 0 {
        return Some(without(program, at));
    }
    let mut program = program.clone();
    std::sync::Arc::make_mut(&mut program.lines[at].inst).operands[0] = Operand::Imm(states - 1);
    Some(Mutant { program, change: format!("line {at}: `s_nop {}`", states - 1) })
}

/// Each counter that is waited for more than `own` asks, raised by one.
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
