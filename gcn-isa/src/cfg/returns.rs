//! Connects returns to the calls of their own functions.
//!
//! A return belongs to a function if control can reach the return from the function's entry without leaving the function. The search
//! continues after a call at the instruction after the call. It follows jumps to other functions, because such a function returns to this
//! function's caller (a tail call). The result is context-insensitive: a return leads to all calls of its function, and not only to the
//! call from which control came.

use std::collections::BTreeMap;

use super::Cfg;
use super::flow::{Callee, End, Flow, Hub};
use crate::program::Program;

/// The number of block visits that all searches together may make for each block of the program. Without this limit, functions that share
/// much code would take quadratic time, because every search visits the shared code again.
const BUDGET_PER_BLOCK: usize = 16;

/// Connects the returns of each function to the instructions after its calls, through one hub per function.
pub(super) fn connect(flow: &mut Flow, program: &Program, entries: &[usize], guesses: bool) {
    let mut search = Search::new(program, &flow.cfg, &flow.ends);
    let mut unsure: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    for (function, after) in calls(flow, program) {
        match search.from(&[function]) {
            // An open function may also return from code outside the program, so the instructions after its calls are
            // connected a second time, below.
            Some(body) => {
                if body.is_open {
                    unsure.extend(&after);
                }
                found.push((body.returns, after));
            }
            None => unsure.extend(after),
        }
    }
    let everything = |ends: &[End]| (0..ends.len()).filter(|b| is_return(ends[*b])).collect::<Vec<_>>();
    let unknown: Vec<usize> = called_unknown(flow, program);
    let of_unknown = (guesses && !unknown.is_empty())
        .then(|| search.from(entries).filter(|body| !body.is_open))
        .map(|body| body.map_or_else(|| everything(&flow.ends), |body| body.returns));
    for (returns, after) in found {
        add(flow, program, Hub::Returns, &returns, after);
    }
    if let Some(returns) = of_unknown {
        add(flow, program, Hub::Guess, &returns, unknown);
    }
    unsure.sort_unstable();
    unsure.dedup();
    if guesses {
        let all = everything(&flow.ends);
        add(flow, program, Hub::Guess, &all, unsure);
    } else {
        flow.add_roots(&unsure);
    }
}

fn is_return(end: End) -> bool {
    matches!(end, End::Return | End::TailCall)
}

/// For each function that is known to be called, the blocks after its calls.
fn calls(flow: &Flow, program: &Program) -> BTreeMap<usize, Vec<usize>> {
    let mut calls: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (block, end) in flow.ends.iter().enumerate() {
        if let End::Call(Callee::Block(callee)) = end
            && let Some(after) = after(program, &flow.cfg, block)
        {
            calls.entry(*callee).or_default().push(after);
        }
    }
    calls
}

/// The blocks after calls with unknown destinations.
fn called_unknown(flow: &Flow, program: &Program) -> Vec<usize> {
    let unknown = flow.ends.iter().enumerate().filter(|(_, e)| **e == End::Call(Callee::Unknown));
    unknown.filter_map(|(block, _)| after(program, &flow.cfg, block)).collect()
}

/// The block to which the call at the end of a block returns; `None` if the program ends there, or if undecoded bytes follow.
pub(super) fn after(program: &Program, cfg: &Cfg, block: usize) -> Option<usize> {
    let end = cfg.blocks[block].end;
    (end < program.lines.len() && program.gaps.binary_search(&end).is_err()).then_some(block + 1)
}

fn add(flow: &mut Flow, program: &Program, hub: Hub, returns: &[usize], after: Vec<usize>) {
    if !returns.is_empty() && !after.is_empty() {
        flow.add_hub(program, hub, returns, after);
    }
}

/// The part of a function's blocks that matters to the callers of the function.
pub(super) struct Body {
    pub blocks: Vec<usize>,
    returns: Vec<usize>,
    /// True if control may leave to an unknown destination and return from there.
    pub is_open: bool,
}

/// The search for the blocks of functions.
pub(super) struct Search {
    /// The successors of each block within its function, and how the block ends.
    next: Vec<(Vec<usize>, End)>,
    /// For each block, the number of the last search that visited the block. With numbers instead of flags, the entries need not be cleared
    /// before each search.
    seen: Vec<usize>,
    searches: usize,
    budget: usize,
}

impl Search {
    pub fn new(program: &Program, cfg: &Cfg, ends: &[End]) -> Search {
        let next = |(block, end): (usize, &End)| {
            let next = match end {
                End::Call(_) => after(program, cfg, block).into_iter().collect(),
                End::Shown => cfg.blocks[block].succs.clone(),
                _ => Vec::new(),
            };
            (next, *end)
        };
        let next: Vec<_> = ends.iter().enumerate().map(next).collect();
        let budget = next.len().saturating_mul(BUDGET_PER_BLOCK);
        Search { seen: vec![0; next.len()], next, searches: 0, budget }
    }

    /// The blocks that are reachable from `entries`, or `None` if the budget is used up.
    pub fn from(&mut self, entries: &[usize]) -> Option<Body> {
        self.searches += 1;
        let mut body = Body { blocks: Vec::new(), returns: Vec::new(), is_open: false };
        let mut open = entries.to_vec();
        while let Some(block) = open.pop() {
            if std::mem::replace(&mut self.seen[block], self.searches) == self.searches {
                continue;
            }
            self.budget = self.budget.checked_sub(1)?;
            body.blocks.push(block);
            let (next, end) = &self.next[block];
            open.extend(next);
            if is_return(*end) {
                body.returns.push(block);
            }
            let into_gap = matches!(end, End::Call(_)) && next.is_empty();
            body.is_open |= *end == End::Unknown || into_gap;
        }
        body.returns.sort_unstable();
        Some(body)
    }
}
