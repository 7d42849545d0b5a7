//! Estimates when straight-line code issues, without running it.
//!
//! The estimate assumes a single wave on its SIMD, with its code in the instruction cache, idle pipelines at the start, loads that hit L2
//! and the scalar cache, and LDS accesses without conflicts. Everything else is as in a timed run, with the same parameters and costs. Use
//! the estimate to compare orders of instructions, and to see for what a wait waits; to determine the time of a loop, use a timed run.

use std::collections::VecDeque;

use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, Target};

use super::cost::{Cost, Kind, cost};
use super::stall::Pipe;
use crate::core::params::Params;

/// The issue of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The cycle of the issue, counted from the first instruction.
    pub cycle: u64,
    /// The number of cycles for which the instruction waits after the previous one has issued: for a pipeline or, if it is a wait, for
    /// memory operations.
    pub held: u64,
    /// The pipeline that executes the instruction.
    pub pipe: Pipe,
    /// The cycle in which loaded data are available, or in which the counters show a store as complete; `None` for other instructions.
    pub back: Option<u64>,
}

/// The estimate for straight-line code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Straight {
    /// The issue of each instruction.
    pub issues: Vec<Issue>,
    /// The cycle in which the next instruction could issue.
    pub cycles: u64,
}

/// Estimates the issue times of `insts`, executed one after the other.
///
/// ```
/// use gcn_isa::{Inst, Target, table};
/// use gcn_sim::timed::straight;
///
/// let nop = |n| Inst::new(table::find(Target::GFX942, "s_nop").next().unwrap(), [gcn_isa::Operand::Imm(n)]);
/// // Each issues four cycles after the one before, and `s_nop 2` stands for three instructions.
/// let estimate = straight(Target::GFX942, &[nop(0), nop(2), nop(0)]);
/// assert_eq!(estimate.issues.iter().map(|i| i.cycle).collect::<Vec<_>>(), [0, 4, 16]);
/// ```
pub fn straight<'i>(target: Target, insts: impl IntoIterator<Item = &'i Inst>) -> Straight {
    let params = Params::new(target, &[]);
    let on = Subtarget { target, wave: target.usual_wave() };
    let mut wave = Wave::new(&params, u64::from(on.wave.lanes()));
    let issues = insts.into_iter().map(|inst| wave.issue(&cost(on, inst, &params))).collect();
    Straight { issues, cycles: wave.now }
}

/// The state of the wave and of the pipelines.
struct Wave<'p> {
    params: &'p Params,
    lanes: u64,
    /// The cycle in which the next instruction can issue.
    now: u64,
    /// The cycles from which the VALU, the matrix core and the transcendental unit accept another instruction.
    valu: u64,
    matrix: u64,
    trans: u64,
    /// The cycle from which LDS accepts another instruction.
    lds: u64,
    /// For each counter, the completion times of the operations that it counts, oldest first.
    outstanding: [VecDeque<u64>; Counter::ALL.len()],
    /// Register slots with pending results, each with the cycle from which the result can be read.
    results: Vec<(u16, u64)>,
}

impl<'p> Wave<'p> {
    fn new(params: &'p Params, lanes: u64) -> Wave<'p> {
        Wave {
            params,
            lanes,
            now: 0,
            valu: 0,
            matrix: 0,
            trans: 0,
            lds: 0,
            outstanding: Default::default(),
            results: Vec::new(),
        }
    }

    fn number(&self, name: &str) -> u64 {
        self.params.number(name)
    }

    fn issue(&mut self, cost: &Cost) -> Issue {
        let cycle = self.now.max(self.ready(cost));
        let held = cycle - self.now;
        if cost.valu > 0 {
            self.valu = cycle + cost.valu;
        }
        if cost.matrix > 0 {
            self.matrix = cycle + cost.matrix;
        }
        if cost.trans > 0 {
            self.trans = cycle + cost.trans;
        }
        let visible = cycle + cost.latency;
        self.results.retain(|(reg, seen)| *seen > cycle && !cost.writes.contains(reg));
        self.results.extend(cost.writes.iter().map(|reg| (*reg, visible)));
        let back = self.start(cost, cycle);
        let interval = self.number("issue.interval");
        self.now = cycle
            + match cost.kind {
                Kind::Nop(cycles) | Kind::Sleep(cycles) => cycles.max(interval),
                Kind::Branch => self.number("branch.not-taken").max(interval),
                _ => interval,
            };
        Issue { cycle, held, pipe: cost.pipe, back }
    }

    /// The cycle in which pipeline, operands and counters allow the instruction to issue.
    fn ready(&self, cost: &Cost) -> u64 {
        let pipe = match cost.pipe {
            Pipe::Valu if cost.trans > 0 => self.valu.max(self.trans),
            Pipe::Valu => self.valu,
            Pipe::Matrix => self.valu.max(self.matrix),
            _ => 0,
        };
        let results = self.results.iter().filter(|(reg, _)| cost.waits_for.contains(reg)).map(|r| r.1);
        let waited = match cost.kind {
            Kind::Wait(wait) => self.done(wait),
            _ => 0,
        };
        pipe.max(waited).max(results.max().unwrap_or(0))
    }

    /// The cycle from which at most as many operations are outstanding as `wait` allows.
    fn done(&self, wait: WaitCnt) -> u64 {
        let of = |(counter, queue): (Counter, &VecDeque<u64>)| {
            let mut times: Vec<u64> = queue.iter().copied().collect();
            times.sort_unstable();
            let over = times.len().checked_sub(usize::from(counter.of(wait)))?;
            times.get(over.checked_sub(1)?).copied()
        };
        Counter::ALL.into_iter().zip(&self.outstanding).filter_map(of).max().unwrap_or(0)
    }

    /// Starts the operations that counters count. Returns the cycle in which they complete; `None` if there are none.
    fn start(&mut self, cost: &Cost, cycle: u64) -> Option<u64> {
        if let Kind::Wait(wait) = cost.kind {
            for (counter, queue) in Counter::ALL.into_iter().zip(&mut self.outstanding) {
                queue.retain(|done| *done > cycle);
                let keep = usize::from(counter.of(wait));
                queue.drain(..queue.len().saturating_sub(keep));
            }
        }
        if !cost.counts_something() {
            return None;
        }
        let done = match cost.kind {
            Kind::Smem => cycle + self.number("scalar.latency"),
            Kind::Time => cycle + self.number("memtime.latency"),
            Kind::Message => cycle + self.number("message.latency"),
            Kind::Lds(transfer) => {
                let through =
                    |bytes: u64, port: &str| (bytes * self.lanes).div_ceil(self.number(port).max(1));
                let start = self.lds.max(cycle);
                let busy =
                    through(transfer.input, "lds.port-in").max(through(transfer.output, "lds.port-out"));
                self.lds = start + busy;
                start + busy + self.number("lds.latency")
            }
            _ => cycle + self.number("l2.latency"),
        };
        for (queue, count) in self.outstanding.iter_mut().zip(cost.counts) {
            // Operations of one stream complete in order.
            let last = queue.back().copied().filter(|_| cost.in_order).unwrap_or(0);
            queue.extend(std::iter::repeat_n(done.max(last), usize::from(count)));
        }
        Some(done)
    }
}
