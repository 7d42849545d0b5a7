//! A path on which an operation is still outstanding, for the report.

use std::collections::VecDeque;

use super::counters::LineFacts;
use super::outstanding::Outstanding;
use crate::cfg::Cfg;

/// The lines at which the shortest path (in blocks) from `first` to `second` on which the operation of `first` is not
/// waited for enters its blocks. Empty if both stand in one block and the path is straight.
pub(super) fn unfinished(cfg: &Cfg, lines: &[LineFacts], first: usize, second: usize) -> Vec<usize> {
    let start = cfg.block_of(first);
    let mut alone = Outstanding::default();
    lines[first].step(&mut alone, first);
    let mut came_from: Vec<Option<usize>> = vec![None; cfg.blocks.len()];
    let mut queue = VecDeque::new();
    if let Reached::End(state) = follow(lines, alone, first, first + 1..cfg.blocks[start].end, second) {
        queue.push_back((start, state));
    }
    while let Some((block, state)) = queue.pop_front() {
        for &succ in &cfg.blocks[block].succs {
            if came_from[succ].is_some() {
                continue;
            }
            came_from[succ] = Some(block);
            let range = cfg.blocks[succ].start..cfg.blocks[succ].end;
            match follow(lines, state.clone(), first, range, second) {
                Reached::Second => return back(cfg, &came_from, start, succ),
                Reached::End(state) => queue.push_back((succ, state)),
                Reached::Finished => {}
            }
        }
    }
    Vec::new()
}

enum Reached {
    /// The second instruction, with the operation outstanding.
    Second,
    /// The end of the range, with the operation outstanding.
    End(Outstanding),
    /// A wait that finishes the operation.
    Finished,
}

fn follow(
    lines: &[LineFacts],
    mut state: Outstanding,
    first: usize,
    range: std::ops::Range<usize>,
    second: usize,
) -> Reached {
    for line in range {
        if line == second {
            return Reached::Second;
        }
        if let Some(wait) = lines[line].wait {
            state.wait(wait);
        }
        // Operations that nobody asks about leave no trace in the state; they are followed by their counter alone.
        let counters = lines[first].events.iter().map(|e| e.stream.counter());
        if counters.clone().count() > 0 && counters.clone().all(|c| state.any_on(c).is_none()) {
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

/// The entries of the blocks from behind `start` to `end`.
fn back(cfg: &Cfg, came_from: &[Option<usize>], start: usize, end: usize) -> Vec<usize> {
    let mut path = vec![cfg.blocks[end].start];
    let mut block = end;
    while let Some(previous) = came_from[block] {
        if previous == start || path.len() > cfg.blocks.len() {
            break;
        }
        path.push(cfg.blocks[previous].start);
        block = previous;
    }
    path.reverse();
    path
}
