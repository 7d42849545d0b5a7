//! Counts the branches that must go a particular way for a finding to be real.
//!
//! The analyses do not compare the conditions of branches. A path that needs at most one branch to go a particular way is assumed to be
//! feasible, because the author of the branch intended both ways. A path that needs two or more such branches, one after the other, may be
//! infeasible, because the first condition may exclude the second. A branch does not count as such a choice in three cases:
//!
//! - Both of its ways lead to the same violation.
//! - The branch is the only exit of a loop and the path leaves the loop there, because the loop ends at some time.
//! - Every path to the second instruction contains the first, and only one side of the branch leads to the second. The second instruction
//!   was written to be executed, and it can be reached in no other way.

use std::collections::HashSet;

use super::node::{End, Node};
use super::report::Caveat;
use crate::cfg::Flow;
use crate::program::Program;
use crate::table::Class;

/// The number of choices on a path: 0, 1, or more than 1. A jump to an unknown target has a separate value.
type Choices = u8;

const SEVERAL: Choices = 2;
const UNKNOWN_JUMP: Choices = 3;
const NEVER: Choices = 4;

fn one_more(choices: Choices) -> Choices {
    if choices < SEVERAL { choices + 1 } else { choices }
}

/// The assumption that the best path in `nodes` needs. The first node is the start of the path. `between` has the blocks on paths from the
/// first instruction to the second, if every path to the second contains the first.
pub(super) fn caveat(
    flow: &Flow,
    exits: &Exits,
    nodes: &[Node<'_>],
    between: Option<&HashSet<usize>>,
) -> Option<Caveat> {
    let mut preds: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (from, node) in nodes.iter().enumerate() {
        if let End::Open(next) = &node.end {
            next.iter().for_each(|(_, to)| preds[*to].push(from));
        }
    }
    let mut choices = vec![NEVER; nodes.len()];
    let mut open: Vec<usize> = (0..nodes.len()).rev().collect();
    while let Some(at) = open.pop() {
        let now = of_node(flow, exits, &nodes[at], &choices, between);
        if now < choices[at] {
            choices[at] = now;
            open.extend(&preds[at]);
        }
    }
    match choices.first() {
        Some(&SEVERAL) => Some(Caveat::Branches),
        Some(&UNKNOWN_JUMP) => Some(Caveat::UnknownJump),
        _ => None,
    }
}

fn of_node(
    flow: &Flow,
    exits: &Exits,
    node: &Node<'_>,
    choices: &[Choices],
    between: Option<&HashSet<usize>>,
) -> Choices {
    let next = match &node.end {
        End::Second => return 0,
        End::Finished(_) => return NEVER,
        End::Open(next) => next,
    };
    let best = next.iter().map(|n| choices[n.1]).min().unwrap_or(NEVER);
    if best == NEVER {
        return NEVER;
    }
    if flow.is_guess(node.block) {
        return UNKNOWN_JUMP;
    }
    if flow.is_hub(node.block) {
        return best;
    }
    if let Some(exit) = exits.only_exit[node.block] {
        return next
            .iter()
            .map(|n| if n.0 == exit { choices[n.1] } else { one_more(choices[n.1]) })
            .fold(NEVER, Choices::min);
    }
    let leads_there = |block: &usize| between.is_some_and(|b| b.contains(block));
    if flow.cfg.blocks[node.block].succs.iter().filter(|s| leads_there(s)).count() == 1
        && let Some(only) = next.iter().find(|n| leads_there(&n.0))
    {
        return choices[only.1];
    }
    let all_ways = next.len() == exits.ways[node.block];
    let worst = next.iter().map(|n| choices[n.1]).max().unwrap_or(NEVER);
    if all_ways { worst.min(one_more(best)) } else { one_more(best) }
}

/// How branches relate to loops.
pub(super) struct Exits {
    /// For each block, the successor outside the innermost loop, if the block is that loop's only exit.
    only_exit: Vec<Option<usize>>,
    /// For each block, the number of ways in which control may continue after its end.
    ways: Vec<usize>,
    /// False if loops are nested so deeply that some loops were not examined.
    pub complete: bool,
}

/// The maximum number of blocks that all loops together may have, for each block of the program. Loops that are nested more deeply are not
/// examined.
const MOST_DEPTH: usize = 64;

impl Exits {
    /// A loop is approximated by a range of the program: from the target of a backward edge to its source.
    pub fn of(program: &Program, flow: &Flow) -> Exits {
        let blocks = &flow.cfg.blocks;
        let ways = |block: usize| {
            let leaves = blocks[block]
                .end
                .checked_sub(1)
                .filter(|_| !flow.is_hub(block))
                .map(|l| &program.lines[l].inst);
            // One side of a conditional branch may lead out of the program.
            let conditional = leaves.is_some_and(|i| i.desc.class == Class::Branch && i.desc.falls_through());
            let known = blocks[block].succs.iter().filter(|s| !flow.comes_back(block, **s)).count();
            let call = known < blocks[block].succs.len();
            if conditional && !call { known.max(2) } else { known }
        };
        let ways = (0..blocks.len()).map(ways).collect();
        let mut loops: Vec<(usize, usize)> = (0..blocks.len())
            .filter(|b| !flow.is_hub(*b))
            .flat_map(|b| {
                let back = blocks[b].succs.iter().filter(move |s| **s <= b && !flow.enters(b, **s));
                back.map(move |s| (*s, b))
            })
            .collect();
        // Larger loops come first, so that the innermost loop overwrites their entries.
        loops.sort_by_key(|l| std::cmp::Reverse(l.1 - l.0));
        loops.dedup();
        let mut only_exit = vec![None; blocks.len()];
        let mut complete = true;
        let mut budget = blocks.len().saturating_mul(MOST_DEPTH);
        for (head, latch) in loops {
            let Some(left) = budget.checked_sub(latch - head + 1) else {
                complete = false;
                continue;
            };
            budget = left;
            let leaving = |b: usize| {
                blocks[b].succs.iter().filter(move |s| **s < head || **s > latch).map(move |s| (b, *s))
            };
            let mut exits = (head..=latch).flat_map(leaving);
            let (first, second) = (exits.next(), exits.next());
            only_exit[head..=latch].fill(None);
            if let (Some((from, to)), None) = (first, second) {
                only_exit[from] = Some(to);
            }
        }
        Exits { only_exit, ways, complete }
    }
}
