//! Sequences of RDNA instructions that must be interrupted. The remedy of these rules is not a distance but an instruction, or a field of
//! an instruction.
//!
//! The rules, and the role of each instruction in them, are defined in [`gcn_isa::hazards::remedy`]. Since a wave takes a single path, the
//! operations in progress are known exactly.

use gcn_isa::cfg::Flow;
use gcn_isa::hazards::sequences::{Danger, Pending, Sequences as Rules};
use gcn_isa::hazards::{Config, Views};
use gcn_isa::indexing::Indexing;
use gcn_isa::program::{Entry, EntryKind, Jump, Label, LabelDef, Line};
use gcn_isa::table::Behaviours;
use gcn_isa::{Operand, Program};

use super::hazard;
use crate::core::machine::Machine;
use crate::core::site::Hazard;

/// The number of instructions after which pending operations that no longer matter are removed, and clocks are reset.
const FRESH: u32 = 4096;

/// The rules, and the role of each instruction of a program in them.
pub(crate) struct Sequences(Rules<'static>);

impl Sequences {
    /// `None` if no rule applies to the machine's code.
    pub(crate) fn new(machine: &Machine, rules: Config) -> Option<Sequences> {
        let program = program(machine);
        // Registers have other numbers than the instructions name only after these.
        let numbers_vary = program.lines.iter().any(|line| line.inst.desc.does(Behaviours::SETS_VGPR_MSB));
        let indexing =
            if numbers_vary { Indexing::of(&program, &Flow::of(&program)) } else { Indexing::default() };
        let views = Views::of(&program, &indexing);
        let rules = Rules::of(program, views, rules);
        (!rules.is_idle()).then_some(Sequences(rules))
    }
}

/// The machine's code, with the destinations of its branches.
fn program(machine: &Machine) -> Program {
    let mut program = Program::new(machine.target(), "");
    program.wave = machine.state().wave_size;
    program.entries = vec![Entry { at: machine.entry(), kind: EntryKind::Kernel }];
    for step in machine.steps() {
        let mut line = Line::new(step.inst.clone());
        if let Some(at) = step.target {
            let label = Label(program.labels.len() as u32);
            program.labels.push(LabelDef { name: format!(".L{at}"), at: Some(at as usize) });
            match step.inst.desc.branch_operand() {
                Some(operand) => line.inst_mut().operands[operand] = Operand::Label(label),
                None => line.jump = Some(Jump::To(label)),
            }
        }
        program.lines.push(line);
    }
    program
}

/// The sequences that have started in a wave.
#[derive(Default)]
pub(crate) struct UnderWay {
    pending: Option<Pending>,
    steps: u32,
}

impl UnderWay {
    pub(crate) fn reset(&mut self) {
        self.pending = None;
    }

    /// Checks the instruction at `at` before it executes.
    pub(crate) fn check(
        &mut self,
        rules: &Sequences,
        machine: &Machine,
        at: usize,
    ) -> Result<(), Box<Hazard>> {
        let Some(pending) = &self.pending else { return Ok(()) };
        let mut found = None;
        rules.0.dangers(pending, at, |danger| {
            found.get_or_insert(danger);
        });
        found.map_or(Ok(()), |danger| Err(report(machine, &danger, at)))
    }

    /// Records that the instruction at `at` has executed. As in `gcn check` and in compilers, calls and returns are boundaries: functions
    /// are compiled separately, and the rules state what must have ended before control leaves a function.
    pub(crate) fn push(&mut self, Sequences(rules): &Sequences, machine: &Machine, at: usize) {
        if machine.steps()[at].inst.desc.does(Behaviours::TO_REGISTER) {
            self.pending = Some(rules.entry(EntryKind::Function));
            return;
        }
        let pending = self.pending.get_or_insert_with(|| rules.entry(EntryKind::Kernel));
        rules.step(pending, at);
        self.steps += 1;
        if self.steps == FRESH {
            self.steps = 0;
            rules.seal(pending);
        }
    }
}

fn report(machine: &Machine, danger: &Danger, at: usize) -> Box<Hazard> {
    let need = danger.fix.words(machine.target());
    let remedy = format!("put {need}");
    let first = danger.first.unwrap_or(at);
    let mut hazard = hazard(machine, danger.rule.id, first, None, (need, "none of it".to_owned(), remedy));
    hazard.register = danger.reg.map(|reg| reg.to_string());
    hazard
}
