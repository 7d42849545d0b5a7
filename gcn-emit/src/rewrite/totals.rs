//! Totals of a function's waits: wait states and `s_waitcnt`, plain and weighted by loop depth.

use std::ops::{AddAssign, Range};

use gcn_isa::Program;
use gcn_isa::cfg::Cfg;
use gcn_isa::hazards::wait_states;
use gcn_isa::table::Class;
use gcn_isa::wait::LOOP_WEIGHT;
use serde::Serialize;

use super::loops::depths;

/// The loop depth above which the weight no longer increases.
const DEEPEST: u32 = 9;

/// The total waits of some code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Waits {
    /// The wait states of all `s_nop`: N + 1 for `s_nop N`.
    pub wait_states: u64,
    /// The number of `s_waitcnt`.
    pub waitcnts: u64,
    /// The wait states, each multiplied by [`LOOP_WEIGHT`] for each loop around it.
    pub weighted_wait_states: u64,
    /// The number of `s_waitcnt`, each multiplied by [`LOOP_WEIGHT`] for each loop around it.
    pub weighted_waitcnts: u64,
}

impl Waits {
    /// The total waits of a whole program.
    pub fn of(program: &Program) -> Waits {
        Weighted::new(program).count(0..program.lines.len())
    }

    /// The key by which alternatives are compared; less is better.
    pub(super) fn cost(&self) -> (u64, u64, u64) {
        (self.weighted_wait_states, self.wait_states, self.weighted_waitcnts)
    }

    /// True if there are more wait states than in `other`, weighted or not.
    pub(super) fn is_worse_than(&self, other: &Waits) -> bool {
        self.wait_states > other.wait_states || self.weighted_wait_states > other.weighted_wait_states
    }
}

impl AddAssign for Waits {
    fn add_assign(&mut self, other: Waits) {
        self.wait_states += other.wait_states;
        self.waitcnts += other.waitcnts;
        self.weighted_wait_states = self.weighted_wait_states.saturating_add(other.weighted_wait_states);
        self.weighted_waitcnts = self.weighted_waitcnts.saturating_add(other.weighted_waitcnts);
    }
}

/// A program with the weight of each line.
pub(super) struct Weighted<'a> {
    program: &'a Program,
    weights: Vec<u64>,
}

impl<'a> Weighted<'a> {
    /// Computes the weights from the loops.
    pub fn new(program: &'a Program) -> Weighted<'a> {
        let cfg = Cfg::build(program);
        let mut weights = vec![1; program.lines.len()];
        for (block, depth) in cfg.blocks.iter().zip(depths(&cfg, DEEPEST)) {
            let lines = weights.iter_mut().take(block.end).skip(block.start);
            lines.for_each(|w| *w = LOOP_WEIGHT.pow(depth));
        }
        Weighted { program, weights }
    }

    /// The total waits in some lines.
    pub fn count(&self, lines: Range<usize>) -> Waits {
        let mut total = Waits::default();
        for at in lines {
            let (Some(line), Some(weight)) = (self.program.lines.get(at), self.weights.get(at)) else {
                break;
            };
            total += match line.inst.desc.class {
                Class::Nop => {
                    let states = u64::from(wait_states(&line.inst));
                    Waits { wait_states: states, weighted_wait_states: states * weight, ..Waits::default() }
                }
                Class::Waitcnt => Waits { waitcnts: 1, weighted_waitcnts: *weight, ..Waits::default() },
                _ => continue,
            };
        }
        total
    }
}
