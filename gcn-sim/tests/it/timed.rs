//! Timed mode: the results are those of functional mode, every cycle is accounted for, pipelines stay within their capacity, stalls have
//! the right reasons, and throughputs are as published.

mod accounting;
mod published;
mod ranges;
mod rdna;
mod sharing;
mod stalls;
mod straight;
mod stretch;

use gcn_isa::Target;
use gcn_sim::timed::{self, Config, Stall, TimedReport};
use gcn_sim::{KernelState, Machine, Memory};

use crate::harness::{assemble, state};

/// A kernel and its launch parameters.
struct Case {
    target: Target,
    state: KernelState,
    text: String,
    grid: [u32; 3],
    size: [u32; 3],
    config: Config,
}

impl Case {
    fn new(text: impl Into<String>) -> Case {
        let state = KernelState { vgprs: 64, agprs: 0, lds_bytes: 16_384, ..state() };
        let config = Config { timeline: 1 << 20, ..Config::one_cu() };
        Case { target: Target::GFX942, state, text: text.into(), grid: [1, 1, 1], size: [64, 1, 1], config }
    }

    fn waves(self, waves: u32) -> Case {
        Case { size: [64 * waves, 1, 1], ..self }
    }

    fn groups(self, groups: u32) -> Case {
        Case { grid: [groups, 1, 1], ..self }
    }

    fn set(mut self, assignment: &str) -> Case {
        self.config.set(assignment).unwrap();
        self
    }

    fn machine(&self) -> Machine {
        Machine::new(self.target, &assemble(self.target, &self.text), self.state.clone()).unwrap()
    }

    /// Runs with a buffer of 1 MiB as the only argument; returns the buffer as well.
    fn run_with_memory(&self) -> (TimedReport, Vec<u8>) {
        let mut memory = Memory::new();
        let buffer = memory.alloc(1 << 20);
        let (grid, size) = (self.grid, self.size);
        let report =
            timed::run(&self.machine(), &mut memory, grid, size, &buffer.to_le_bytes(), &self.config)
                .unwrap();
        (report, memory.read(buffer, 1 << 20).unwrap())
    }

    fn run(&self) -> TimedReport {
        self.run_with_memory().0
    }
}

/// The stall cycles at the instructions whose text starts with `start`.
fn stall_at(report: &TimedReport, start: &str, stall: Stall) -> u64 {
    report.by_instruction.iter().filter(|i| i.text.starts_with(start)).map(|i| i.stalls.get(stall)).sum()
}

/// A case without the effects of cold caches, which delay the first instructions.
fn warm(case: Case) -> Case {
    case.set("l2.latency=0").set("memory.latency=0").set("mall.latency=0")
}
