//! Finds the barriers that are followed by an LDS write before the next barrier.

use super::facts::{LineFacts, Shared};
use crate::cfg::{Block, Flow};
use crate::program::Program;
use crate::table::Behaviours;

/// The first relevant event in a range of lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum First {
    Write,
    Barrier,
    Neither,
}

/// For each block, whether LDS may be written after its start before control reaches a barrier.
pub(super) struct Phases {
    written: Vec<bool>,
}

impl Phases {
    pub fn of(program: &Program, flow: &Flow, lines: &[LineFacts]) -> Phases {
        let blocks = &flow.cfg.blocks;
        let firsts: Vec<First> = blocks.iter().map(|b| first(program, lines, b.start, b)).collect();
        let mut written = vec![false; blocks.len()];
        let mut open: Vec<usize> = (0..blocks.len()).filter(|b| firsts[*b] == First::Write).collect();
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut written[block], true) {
                open.extend(blocks[block].preds.iter().filter(|p| firsts[**p] == First::Neither));
            }
        }
        Phases { written }
    }

    /// True if LDS may be written after `barrier` and before the next barrier.
    pub fn is_written_after(
        &self,
        barrier: usize,
        program: &Program,
        flow: &Flow,
        lines: &[LineFacts],
    ) -> bool {
        let block = &flow.cfg.blocks[flow.cfg.block_of(barrier)];
        match first(program, lines, barrier + 1, block) {
            First::Write => true,
            First::Barrier => false,
            First::Neither => block.succs.iter().any(|s| self.written[*s]),
        }
    }
}

/// The first relevant event in `block` from line `from` on.
fn first(program: &Program, lines: &[LineFacts], from: usize, block: &Block) -> First {
    let kind = |line: usize| match program.lines[line].inst.desc {
        desc if desc.does(Behaviours::ARRIVES_AT_BARRIER) => First::Barrier,
        _ if lines[line].writes(Shared::Lds) => First::Write,
        _ => First::Neither,
    };
    (from..block.end).map(kind).find(|k| *k != First::Neither).unwrap_or(First::Neither)
}
