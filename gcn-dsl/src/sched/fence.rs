//! Points of a finished program across which instructions must keep the user's order, so that no instruction may be
//! moved across them to fill wait states.

use std::collections::BTreeSet;

use gcn_isa::Program;
use gcn_isa::cfg::Cfg;

use crate::ir::mark::Mark;

/// The indices of instructions across whose start nothing may move, in ascending order: all instructions of a manual
/// schedule, all instructions of a block with an `interleave!`, and the instructions at other marks.
pub fn fences(program: &Program, marks: &[(usize, Mark)]) -> Vec<usize> {
    let mut found = BTreeSet::new();
    let mut manual: Option<usize> = None;
    let mut depth = 0u32;
    for (line, mark) in marks {
        found.insert(*line);
        match mark {
            Mark::ManualBegin => {
                depth += 1;
                manual = manual.or(Some(*line));
            }
            Mark::ManualEnd => {
                depth = depth.saturating_sub(1);
                if let (0, Some(begin)) = (depth, manual) {
                    found.extend(begin..=*line);
                    manual = None;
                }
            }
            _ => {}
        }
    }
    if marks.iter().any(|m| matches!(m.1, Mark::Interleave(_))) {
        let cfg = Cfg::build(program);
        for (line, mark) in marks {
            if let Mark::Interleave(_) = mark {
                // A mark at the end of a block has the index of the next block's first instruction, so the mark may
                // belong to either block.
                let beside = [line.checked_sub(1), Some(*line)].into_iter().flatten();
                for block in beside.filter(|l| *l < program.lines.len()).map(|l| cfg.block_of(l)) {
                    found.extend(cfg.blocks[block].start..cfg.blocks[block].end);
                }
            }
        }
    }
    found.into_iter().collect()
}
