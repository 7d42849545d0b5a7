//! What the lines of a program do to the counters, worked out once.

use smallvec::SmallVec;

use super::Options;
use super::access::Accesses;
use super::outstanding::Outstanding;
use crate::cfg::{Flow, is_return};
use crate::counters::{self, Counter, Events, MemoryEffect, WaitCnt};
use crate::indexing::Indexing;
use crate::program::{EntryKind, Line, Program};

/// What each line does, as far as counters are concerned.
pub(super) struct Facts {
    pub indexing: Indexing,
    pub lines: Vec<LineFacts>,
}

impl Facts {
    /// Looks at every line of `program`, whose control flow is `flow`.
    pub fn of(program: &Program, flow: &Flow, options: Options) -> Facts {
        let called = flow.roots.iter().any(|r| r.kind == EntryKind::Function);
        let indexing = options.rules.indexing(program, flow);
        let set = program.target.instruction_set();
        let facts = |(at, line): (usize, &Line)| {
            let events = counters::events(program.target, &line.inst);
            let access = called.then(|| Accesses::of(set, at, &line.inst, &events, &indexing).counters());
            LineFacts::of(line, access.unwrap_or_default(), events)
        };
        let lines = program.lines.iter().enumerate().map(facts).collect();
        Facts { indexing, lines }
    }
}

/// What an instruction does, as far as counters are concerned.
pub(super) struct LineFacts {
    pub wait: Option<WaitCnt>,
    pub events: Events,
    /// The counters that a function must have waited for before this instruction, as far as its caller left anything
    /// outstanding. Worked out only for programs with functions.
    pub uses_of_caller: SmallVec<[Counter; 3]>,
    /// A return of a function, at which nothing is outstanding.
    returns: bool,
}

impl LineFacts {
    fn of(line: &Line, uses_of_caller: SmallVec<[Counter; 3]>, events: Events) -> LineFacts {
        let inst = &line.inst;
        LineFacts { wait: WaitCnt::of(inst), events, uses_of_caller, returns: is_return(line) }
    }

    /// The state after the instruction.
    pub fn step<'a>(&'a self, state: &mut Outstanding<'a>, line: usize) {
        if let Some(wait) = self.wait {
            state.wait(wait);
        }
        // What the instruction should have waited for has been said.
        for &counter in &self.uses_of_caller {
            state.forget_caller(counter);
        }
        if self.returns {
            state.wait_for_all();
        }
        for event in &self.events {
            state.issue(line, event);
        }
    }

    /// True for a return of a function.
    pub fn returns(&self) -> bool {
        self.returns
    }

    /// True if the instruction reads LDS in its own order.
    pub fn reads_lds(&self) -> bool {
        self.events.iter().any(|e| e.memory.contains(MemoryEffect::LDS_READ))
    }

    /// True if the instruction writes LDS, at once or when its data arrives.
    pub fn writes_lds(&self) -> bool {
        let writes = MemoryEffect::LDS_WRITE | MemoryEffect::LDS_DMA;
        self.events.iter().any(|e| e.memory.intersects(writes))
    }
}
