//! Strict mode: an instruction that executes too early is an error.
//!
//! There are three mechanisms, as in the hardware. [`counters`] tracks the outstanding memory operations of a wave, and which of them a
//! wait guarantees to be complete. [`states`] measures the distance in wave instructions between dependent instructions and compares it
//! with the wait-state rules. [`sequences`] tracks the sequences of instructions that RDNA must not execute without an interrupting
//! instruction; [`history`] remembers what the latter two have found. All three check what a wave actually executes; they do not consider other paths.

pub(crate) mod counters;
pub(crate) mod effect;
pub(crate) mod history;
pub(crate) mod outstanding;
pub(crate) mod range;
pub(crate) mod sequences;
pub(crate) mod states;

use std::sync::Arc;

use effect::Effect;
use gcn_isa::counters::WaitCnt;
use gcn_isa::hazards::{Config, View};
use gcn_isa::reg::RegUnit;
use gcn_isa::{Inst, Target};

use crate::core::machine::Machine;
use crate::core::site::{Hazard, Site};
use crate::core::trace::Trace;

/// Data about each instruction of a program.
pub(crate) struct Program {
    pub effects: Vec<Effect>,
    pub pairs: states::Pairs,
    sequences: Option<sequences::Sequences>,
    known: history::Known,
}

impl Program {
    pub(crate) fn new(machine: &Machine, rules: Config) -> Program {
        let effects = machine.steps().iter().map(|s| Effect::of(machine.target(), &s.inst, rules)).collect();
        let sequences = sequences::Sequences::new(machine, rules);
        let known = history::Known::new(machine, sequences.as_ref());
        Program { effects, pairs: states::Pairs::new(machine, rules), sequences, known }
    }

    /// The rules about wait states, and about sequences if any of them applies.
    fn rules(&self) -> (&states::Pairs, Option<&sequences::Sequences>) {
        (&self.pairs, self.sequences.as_ref())
    }
}

/// The instruction that a wave is about to execute.
pub(crate) struct Current<'a> {
    /// The index of the instruction.
    pub at: usize,
    pub effect: &'a Effect,
    pub view: &'a View,
    /// A shared copy of the view, if an index has changed its registers, so that the program's view does not apply.
    pub moved: Option<&'a Arc<View>>,
}

/// An instruction with the registers that an index selects.
pub(crate) struct Moved {
    pub effect: Effect,
    pub view: Arc<View>,
}

impl Moved {
    pub(crate) fn of(target: Target, inst: &Inst, rules: Config) -> Moved {
        Moved { effect: Effect::of(target, inst, rules), view: Arc::new(View::new(target, inst)) }
    }
}

impl Program {
    /// Instruction `at`, with the registers of `moved` if an index changes them.
    pub(crate) fn current<'a>(&'a self, at: usize, moved: Option<&'a Moved>) -> Current<'a> {
        match moved {
            Some(Moved { effect, view }) => Current { at, effect, view, moved: Some(view) },
            None => Current { at, effect: &self.effects[at], view: &self.pairs.views[at], moved: None },
        }
    }
}

/// The state of a wave in strict mode.
#[derive(Default)]
pub(crate) struct WaveState {
    counters: counters::Counters,
    lds: outstanding::Accesses,
    history: history::History,
}

impl WaveState {
    pub(crate) fn reset(&mut self) {
        self.counters.reset();
        self.lds.reset();
        self.history.reset();
    }

    /// Checks an instruction before it executes. `alone`: the workgroup has no other wave.
    pub(crate) fn before(
        &mut self,
        program: &Program,
        machine: &Machine,
        now: &Current<'_>,
        alone: bool,
    ) -> Result<(), Box<Hazard>> {
        self.history.check(program, machine, now)?;
        if self.counters.is_empty() {
            return Ok(());
        }
        self.counters.before(&program.effects, machine, now.effect, program.pairs.rules, alone)
    }

    /// Records an executed instruction and the accesses in the trace. `alone`: the workgroup has no other wave.
    pub(crate) fn after(
        &mut self,
        program: &Program,
        machine: &Machine,
        now: &Current<'_>,
        trace: &Trace,
        alone: bool,
    ) -> Result<(), Box<Hazard>> {
        self.history.push(program, machine, now);
        if now.effect.is_idle && trace.touches.is_empty() {
            return Ok(());
        }
        let touched = range::LdsRange::of(&trace.touches);
        self.counters.after(&program.effects, machine, (now.effect, now.at), touched)?;
        // Accesses that are outstanding at a barrier matter only if there are other waves.
        if !alone {
            self.lds.add(&self.counters, machine, (&program.effects[now.at], now.at), &trace.touches);
            if now.effect.arrives {
                self.lds.arrive(&self.counters);
            }
        }
        Ok(())
    }

    /// Called when the waves meet at a barrier. For the result, see [`outstanding::Accesses::meet`].
    pub(crate) fn meet(&mut self) -> impl Iterator<Item = (outstanding::Access, WaitCnt)> {
        self.lds.meet()
    }
}

/// A hazard between two instructions; the caller fills in the position of the second one.
pub(crate) fn hazard(
    machine: &Machine,
    rule: &str,
    first: usize,
    register: Option<RegUnit>,
    (need, have, remedy): (String, String, String),
) -> Box<Hazard> {
    Box::new(Hazard {
        rule: rule.to_owned(),
        first: machine.named(first),
        second: Site { workgroup: [0; 3], wave: 0, offset: 0, text: String::new(), line: None },
        register: register.map(|unit| unit.reg().to_string()),
        need,
        have,
        remedy,
    })
}
