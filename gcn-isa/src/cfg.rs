//! Basic blocks and control-flow edges of a [`Program`]: [`Cfg`] has the edges that are visible in the program, and
//! [`Flow`] adds all other edges that control may take.

mod connect;
mod entries;
mod flow;
mod image;
mod own_address;
mod resolve;
mod returns;
mod values;
mod written;

pub use flow::{Flow, Root, is_call, is_return};
pub use image::{AddressPlace, Image};
pub use own_address::OwnAddress;
pub use resolve::resolve;

use crate::operand::Operand;
use crate::program::{Jump, Label, Line, Program};
use crate::reg::Reg;
use crate::table::Class;

/// The register pair that holds the return address in LLVM's calling convention.
const RETURN_ADDRESS: Reg = Reg::s(30, 2);

/// A basic block: a range of instruction indices, with its predecessors and successors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The index of the first instruction.
    pub start: usize,
    /// One more than the index of the last instruction.
    pub end: usize,
    /// The blocks that may execute next. For a conditional branch, the fall-through comes first.
    pub succs: Vec<usize>,
    /// The blocks that may execute immediately before this block.
    pub preds: Vec<usize>,
    /// True if control may leave to an address that is not visible in the program: by `s_setpc` or `s_swappc` with an
    /// unknown destination, by a branch with a raw offset, or because undecodable bytes follow the block.
    pub unknown_exit: bool,
}

/// The control-flow graph, with blocks in program order. [`Flow`] adds the entries from outside and the targets of
/// unknown jumps.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Cfg {
    /// The blocks.
    pub blocks: Vec<Block>,
}

impl Cfg {
    /// Splits `program` into basic blocks.
    pub fn build(program: &Program) -> Cfg {
        let n = program.lines.len();
        if n == 0 {
            return Cfg::default();
        }
        let mut leader = vec![false; n + 1];
        leader[0] = true;
        for def in &program.labels {
            if let Some(at) = def.at {
                leader[at] = true;
            }
        }
        for at in program.entries.iter().map(|e| e.at).chain(program.gaps.iter().copied()) {
            if let Some(leader) = leader.get_mut(at) {
                *leader = true;
            }
        }
        for (i, line) in program.lines.iter().enumerate() {
            if line.inst.ends_block() {
                leader[i + 1] = true;
            }
        }
        let starts: Vec<usize> = (0..n).filter(|&i| leader[i]).collect();
        let block_of = |at: usize| starts.partition_point(|&s| s <= at) - 1;
        let mut blocks: Vec<Block> = starts
            .iter()
            .enumerate()
            .map(|(b, &start)| Block {
                start,
                end: starts.get(b + 1).copied().unwrap_or(n),
                succs: Vec::new(),
                preds: Vec::new(),
                unknown_exit: false,
            })
            .collect();
        for b in 0..blocks.len() {
            let line = &program.lines[blocks[b].end - 1];
            let last = &line.inst;
            if line.falls_through() {
                // Control falls through into undecodable bytes.
                if program.gaps.binary_search(&blocks[b].end).is_ok() {
                    blocks[b].unknown_exit = true;
                } else if b + 1 < blocks.len() {
                    blocks[b].succs.push(b + 1);
                }
            }
            if last.desc.class == Class::Branch {
                match destination(line).and_then(|l| program.labels.get(l.0 as usize)?.at) {
                    Some(at) if at < n => {
                        let target = block_of(at);
                        if !blocks[b].succs.contains(&target) {
                            blocks[b].succs.push(target);
                        }
                    }
                    // A branch to the very end leaves the program, as falling off its end does.
                    Some(_) => {}
                    None => blocks[b].unknown_exit = true,
                }
            }
        }
        for b in 0..blocks.len() {
            for s in blocks[b].succs.clone() {
                blocks[s].preds.push(b);
            }
        }
        Cfg { blocks }
    }

    /// The block that contains instruction `index`.
    pub fn block_of(&self, index: usize) -> usize {
        self.blocks.partition_point(|b| b.start <= index) - 1
    }
}

/// The label to which a branch or a resolved jump leads; `None` for a line that is neither.
fn destination(line: &Line) -> Option<Label> {
    let named = line.inst.operands.iter().find_map(|o| match o {
        Operand::Label(label) => Some(*label),
        _ => None,
    });
    named.or(match line.jump {
        Some(Jump::To(label)) => Some(label),
        _ => None,
    })
}
