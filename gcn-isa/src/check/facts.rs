//! The effects of a program's lines on the counters, computed once.

use smallvec::SmallVec;

use super::Options;
use super::access::Accesses;
use super::outstanding::Outstanding;
use crate::cfg::{Flow, is_return};
use crate::counters::{self, Counter, Events, MemoryEffect, Stream, WaitCnt};
use crate::indexing::Indexing;
use crate::inst::Inst;
use crate::program::{EntryKind, Line, Program};
use crate::table::Class;

/// The effects of each line on counters.
pub(super) struct Facts {
    pub indexing: Indexing,
    pub lines: Vec<LineFacts>,
}

impl Facts {
    /// Computes the effects of every line of `program`. `flow` is the program's control flow.
    pub fn of(program: &Program, flow: &Flow, options: Options) -> Facts {
        let called = flow.roots.iter().any(|r| r.kind == EntryKind::Function);
        let indexing = options.rules.indexing(program, flow);
        let orders_stores = program.lines.iter().any(|l| l.orders_stores);
        let set = program.target.instruction_set();
        let facts = |(at, line): (usize, &Line)| {
            let mut events = counters::events(program.target, &indexing.meant(at, &line.inst));
            for event in &mut events {
                event.memory.remove(unshared(event.stream, &line.inst, orders_stores));
            }
            let access = called.then(|| Accesses::of(set, at, &line.inst, &events, &indexing).counters());
            LineFacts::of(line, access.unwrap_or_default(), events)
        };
        let lines = program.lines.iter().enumerate().map(facts).collect();
        Facts { indexing, lines }
    }
}

/// The effects on memory that do not matter to other waves at a barrier: stores that the barrier does not order, scratch accesses, and
/// scalar accesses, which barriers never order.
fn unshared(stream: Stream, inst: &Inst, orders_stores: bool) -> MemoryEffect {
    let is_scratch = matches!(inst.desc.class, Class::ScratchLoad | Class::ScratchStore);
    match orders_stores && stream != Stream::Smem && !is_scratch {
        true => MemoryEffect::empty(),
        false => MemoryEffect::STORE | MemoryEffect::LOAD,
    }
}

/// Memory that the waves of a workgroup share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shared {
    Lds,
    Global,
}

impl Shared {
    /// The effects of writing this memory.
    pub fn writes(self) -> MemoryEffect {
        match self {
            Shared::Lds => MemoryEffect::LDS_WRITE | MemoryEffect::LDS_DMA,
            Shared::Global => MemoryEffect::STORE,
        }
    }

    /// The effects of reading this memory.
    pub fn reads(self) -> MemoryEffect {
        match self {
            Shared::Lds => MemoryEffect::LDS_READ,
            Shared::Global => MemoryEffect::LOAD,
        }
    }
}

/// The effects of an instruction on counters.
pub(super) struct LineFacts {
    pub wait: Option<WaitCnt>,
    /// The barrier at which the instruction waits.
    barrier: Option<i16>,
    pub events: Events,
    /// The counters for which a function must have waited before this instruction, because its caller may have left operations outstanding.
    /// They are computed only for programs with functions.
    pub uses_of_caller: SmallVec<[Counter; 3]>,
    /// True for a function's return, at which nothing is outstanding.
    returns: bool,
}

impl LineFacts {
    fn of(line: &Line, uses_of_caller: SmallVec<[Counter; 3]>, events: Events) -> LineFacts {
        let inst = &line.inst;
        let barrier = counters::passed_barrier(inst);
        LineFacts { wait: WaitCnt::of(inst), barrier, events, uses_of_caller, returns: is_return(line) }
    }

    /// Applies this instruction to the state.
    pub fn step<'a>(&'a self, state: &mut Outstanding<'a>, line: usize) {
        if let Some(wait) = self.wait {
            state.wait(wait);
        }
        if let Some(barrier) = self.barrier {
            state.pass_barrier(barrier);
        }
        // A missing wait for these counters has been reported at this instruction and must not be reported again.
        for &counter in &self.uses_of_caller {
            state.forget_caller(counter);
        }
        if self.returns {
            state.wait_as_at_calls();
        }
        for event in &self.events {
            state.issue(line, event);
        }
    }

    /// True for a function's return.
    pub fn returns(&self) -> bool {
        self.returns
    }

    /// True if the instruction reads this memory. For LDS, only the reads that LDS executes in order are counted.
    pub fn reads(&self, shared: Shared) -> bool {
        self.events.iter().any(|e| e.memory.intersects(shared.reads()))
    }

    /// True if the instruction writes LDS in the order of the LDS queue.
    pub fn writes_lds_at_once(&self) -> bool {
        self.events.iter().any(|e| e.memory.contains(MemoryEffect::LDS_WRITE))
    }

    /// True if the instruction writes this memory, either immediately or when its data arrives.
    pub fn writes(&self, shared: Shared) -> bool {
        self.events.iter().any(|e| e.memory.intersects(shared.writes()))
    }
}
