//! A path on which an operation is still outstanding, for the report.

use std::collections::{HashMap, VecDeque};

use super::counters::LineFacts;
use super::outstanding::Outstanding;
use crate::cfg::Cfg;

/// Lines that all searches together may look at: so many for each line of the program, and so many at least. A broken program
/// can have as many findings as lines; the paths of the first ones are enough to mend it.
const LOOKS: (usize, usize) = (32, 1 << 20);

/// Searches paths for the report, within a budget that keeps the whole check linear in the program's length.
pub(super) struct PathSearch<'a> {
    cfg: &'a Cfg,
    lines: &'a [LineFacts],
    looks: usize,
}

impl<'a> PathSearch<'a> {
    pub(super) fn new(cfg: &'a Cfg, lines: &'a [LineFacts]) -> PathSearch<'a> {
        PathSearch { cfg, lines, looks: lines.len().saturating_mul(LOOKS.0).max(LOOKS.1) }
    }

    /// The lines at which the shortest path (in blocks) from `first` to `second` on which the operation of `first` is not
    /// waited for enters its blocks. Empty if both stand in one block and the path is straight, and when the budget is
    /// spent.
    pub(super) fn unfinished(&mut self, first: usize, second: usize) -> Vec<usize> {
        let start = self.cfg.block_of(first);
        let mut alone = Outstanding::default();
        self.lines[first].step(&mut alone, first);
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::new();
        if let Reached::End(state) = self.follow(alone, first, first + 1..self.cfg.blocks[start].end, second)
        {
            queue.push_back((start, state));
        }
        while let Some((block, state)) = queue.pop_front() {
            for &succ in &self.cfg.blocks[block].succs {
                if came_from.contains_key(&succ) {
                    continue;
                }
                came_from.insert(succ, block);
                let range = self.cfg.blocks[succ].start..self.cfg.blocks[succ].end;
                match self.follow(state.clone(), first, range, second) {
                    Reached::Second => return back(self.cfg, &came_from, start, succ),
                    Reached::End(state) => queue.push_back((succ, state)),
                    Reached::Finished => {}
                }
            }
        }
        Vec::new()
    }

    fn follow(
        &mut self,
        mut state: Outstanding,
        first: usize,
        range: std::ops::Range<usize>,
        second: usize,
    ) -> Reached {
        let lines = self.lines;
        for line in range {
            if line == second {
                return Reached::Second;
            }
            let Some(looks) = self.looks.checked_sub(1) else { return Reached::Finished };
            self.looks = looks;
            if let Some(wait) = lines[line].wait {
                state.wait(wait);
            }
            // Operations that nobody asks about leave no trace in the state; they are followed by their counter alone.
            let mut counters = lines[first].events.iter().map(|e| e.stream.counter());
            if !lines[first].events.is_empty() && counters.all(|c| state.any_on(c).is_none()) {
                return Reached::Finished;
            }
            let awaited = lines[first].events.iter().any(|e| e.writes.is_some() || !e.holds.is_empty());
            if awaited && !state.operations().iter().any(|o| o.line == first) {
                return Reached::Finished;
            }
            for event in lines[line].events.iter().filter(|_| line != first) {
                state.issue_behind(line, event);
            }
        }
        Reached::End(state)
    }
}

enum Reached {
    /// The second instruction, with the operation outstanding.
    Second,
    /// The end of the range, with the operation outstanding.
    End(Outstanding),
    /// A wait that finishes the operation, or the end of the budget.
    Finished,
}

/// The entries of the blocks from behind `start` to `end`.
fn back(cfg: &Cfg, came_from: &HashMap<usize, usize>, start: usize, end: usize) -> Vec<usize> {
    let mut path = vec![cfg.blocks[end].start];
    let mut block = end;
    while let Some(&previous) = came_from.get(&block) {
        if previous == start || path.len() > cfg.blocks.len() {
            break;
        }
        path.push(cfg.blocks[previous].start);
        block = previous;
    }
    path.reverse();
    path
}
