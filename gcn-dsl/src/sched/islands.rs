//! Lets branches lead further than the 16 bits of their distance permit.
//!
//! Such a branch gets an *island*: an `s_branch` on the way to the target, to which the branch leads instead. If the island is still too far
//! from the target, it gets an island in turn. Control that comes from above branches over the islands.
//!
//! ```text
//!   s_cbranch_scc1 .far              s_cbranch_scc1 .island
//!   …                                …
//!   v_mov_b32 v0, v1                 v_mov_b32 v0, v1
//!   …                                s_branch .past
//!   …                              .island:
//!   …                                s_branch .far
//!   …                              .past:
//!   …                                …
//! .far:                            .far:
//! ```
//!
//! LLVM computes the target's address instead (`s_getpc_b64`, additions, `s_setpc_b64`). That needs two free scalar registers and, before
//! GFX12, overwrites SCC. An island needs neither, is the same on all targets, and remains an ordinary branch for all analyses.

use gcn_emit::encode::{self, BRANCH_REACH};
use gcn_isa::program::SourceLoc;
use gcn_isa::table::{self, Class};
use gcn_isa::{Inst, Label, Line, Operand, Program};
use smallvec::smallvec;

use super::fence;
use crate::ir::mark::Mark;

/// The number of bytes over which every branch reaches in both directions.
pub const REACH: u32 = (*BRANCH_REACH.end() * 4) as u32;

/// The part of the reach that new islands leave unused, because the islands that follow move them away from their branches.
const SPARE: u32 = REACH / 64;

/// True if all branches of a finished program reach their targets.
pub fn suffices(program: &Program) -> bool {
    if is_shorter(program, REACH) {
        return true;
    }
    // The encoder reports an instruction that has no encoding.
    let Ok(offsets) = encode::offsets(program) else { return true };
    let mut branches = (0..program.lines.len()).filter_map(|line| Branch::of(program, &offsets, line));
    branches.all(|branch| branch.length() <= REACH)
}

/// True if the program has so few instructions that it is certainly not longer than `reach` bytes.
fn is_shorter(program: &Program, reach: u32) -> bool {
    const LONGEST: usize = 16;
    program.lines.len() * LONGEST <= reach as usize
}

/// Adds islands, so that no branch of an unfinished program is longer than `reach` bytes. A smaller reach than [`REACH`] leaves room for
/// instructions that are inserted later. Marks stay at their instructions.
pub fn place(program: &mut Program, marks: &mut [(usize, Mark)], reach: u32) {
    if is_shorter(program, reach) {
        return;
    }
    let Ok(offsets) = encode::offsets(program) else { return };
    if !(program.entries.is_empty() && program.gaps.is_empty()) {
        return;
    }
    let sizes: Vec<u32> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut fixed = vec![false; program.lines.len() + 1];
    fence::fences(program, marks).into_iter().for_each(|line| fixed[line] = true);
    let mut code = Code { program, marks, sizes, fixed, islands: Vec::new() };
    while let Some(branch) = code.too_long(reach) {
        match (code.island_of(branch, reach), code.shore(branch, reach)) {
            (Some(island), _) => code.redirect(branch.line, island),
            (None, Some(at)) => code.add_island(at, branch),
            (None, None) => return,
        }
    }
}

/// A branch to a label.
#[derive(Clone, Copy)]
struct Branch {
    line: usize,
    to: Label,
    /// The offset of the instruction after the branch.
    from: u32,
    /// The offset of the label.
    place: u32,
}

impl Branch {
    fn of(program: &Program, offsets: &[u32], line: usize) -> Option<Branch> {
        let inst = &program.lines[line].inst;
        let Some(&Operand::Label(to)) = inst.operands.get(inst.desc.branch_operand()?) else { return None };
        let place = program.labels.get(to.0 as usize)?.at?;
        Some(Branch { line, to, from: offsets[line + 1], place: offsets[place] })
    }

    fn length(&self) -> u32 {
        self.from.abs_diff(self.place)
    }

    /// True if an island at this offset is within `reach` of the branch, and nearer to the target than the branch is.
    fn is_on_the_way(&self, offset: u32, reach: u32) -> bool {
        let between = if self.from < self.place { self.from..self.place } else { self.place..self.from };
        between.contains(&offset) && offset.abs_diff(self.from) <= reach && offset != self.from
    }
}

/// An `s_branch` that continues other branches.
struct Island {
    label: Label,
    to: Label,
}

/// A program while islands are added.
struct Code<'p> {
    program: &'p mut Program,
    marks: &'p mut [(usize, Mark)],
    /// The size of each line in bytes.
    sizes: Vec<u32>,
    /// For each line, whether an instruction directly before it would be within a manual schedule or at another mark.
    fixed: Vec<bool>,
    islands: Vec<Island>,
}

impl Code<'_> {
    fn offsets(&self) -> Vec<u32> {
        let ends = self.sizes.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }

    /// The first branch that is longer than `reach`.
    fn too_long(&self, reach: u32) -> Option<Branch> {
        let offsets = self.offsets();
        let mut branches = (0..self.sizes.len()).filter_map(|line| Branch::of(self.program, &offsets, line));
        branches.find(|branch| branch.length() > reach)
    }

    /// The island nearest to the branch's target among those that lead there and that the branch reaches.
    fn island_of(&self, branch: Branch, reach: u32) -> Option<Label> {
        let offsets = self.offsets();
        let same = self.islands.iter().filter(|island| island.to == branch.to);
        let placed = same.filter_map(|island| {
            let at = self.program.labels[island.label.0 as usize].at?;
            let suits = at != branch.line && branch.is_on_the_way(offsets[at], reach);
            suits.then_some((offsets[at].abs_diff(branch.place), island.label))
        });
        placed.min_by_key(|(rest, _)| *rest).map(|(_, label)| label)
    }

    /// The line before which an island of this branch costs least. Only the further half of the reach is searched, so that a long way does
    /// not need many islands. `None` if the reach is too small for that.
    fn shore(&self, branch: Branch, reach: u32) -> Option<usize> {
        let offsets = self.offsets();
        let depths = self.loop_depths();
        let furthest = reach - SPARE.min(reach / 4);
        let suitable = (1..self.sizes.len()).filter(|line| {
            let offset = offsets[*line];
            branch.is_on_the_way(offset, furthest) && offset.abs_diff(branch.from) > furthest / 2
        });
        suitable.min_by_key(|line| {
            // Control does not come from above, so nothing is executed in addition.
            let is_free = !self.program.lines[line - 1].inst.desc.falls_through();
            let cost = if is_free { 0 } else { 1 + depths[*line] };
            (self.fixed[*line], cost, offsets[*line].abs_diff(branch.place))
        })
    }

    /// The number of backward branches over the start of each line, which is about the number of loops around it.
    fn loop_depths(&self) -> Vec<i32> {
        let mut changes = vec![0; self.sizes.len() + 1];
        for (line, Line { inst, .. }) in self.program.lines.iter().enumerate() {
            let label = inst.operands.iter().find_map(|operand| match operand {
                Operand::Label(label) if inst.desc.class == Class::Branch => Some(label),
                _ => None,
            });
            let start = label.and_then(|label| self.program.labels[label.0 as usize].at);
            if let Some(start) = start.filter(|start| *start <= line) {
                changes[start + 1] += 1;
                changes[line + 1] -= 1;
            }
        }
        let mut depth = 0;
        changes.iter_mut().for_each(|change| {
            depth += *change;
            *change = depth;
        });
        changes
    }

    /// Adds an island of the branch before a line. Labels at the line stay with its instruction, so branches to it do not execute the branch
    /// over the island.
    fn add_island(&mut self, at: usize, branch: Branch) {
        let loc = self.program.lines[branch.line].loc;
        let island = self.label("island");
        self.redirect(branch.line, island);
        let passes = self.program.lines[at - 1].inst.desc.falls_through();
        let added = if passes { 2 } else { 1 };
        let moved = |line: usize| if line >= at { line + added } else { line };
        self.program.labels.iter_mut().for_each(|label| label.at = label.at.map(moved));
        self.marks.iter_mut().for_each(|(line, _)| *line = moved(*line));
        self.program.labels[island.0 as usize].at = Some(at + added - 1);
        let mut lines = Vec::new();
        if passes {
            let past = self.label("past");
            self.program.labels[past.0 as usize].at = Some(at + added);
            lines.extend(self.jump(past, loc, "past the branches on the way to distant targets"));
        }
        lines.extend(self.jump(branch.to, loc, "on the way to a target that is too far for one branch"));
        self.sizes.splice(at..at, lines.iter().map(|_| 4));
        self.fixed.splice(at..at, lines.iter().map(|_| false));
        self.program.lines.splice(at..at, lines);
        self.islands.push(Island { label: island, to: branch.to });
    }

    /// A label that is not placed yet.
    fn label(&mut self, what: &str) -> Label {
        let number = self.program.labels.len();
        self.program.new_label(format!(".LBB0_{what}{number}"))
    }

    fn jump(&self, to: Label, loc: Option<SourceLoc>, why: &str) -> Option<Line> {
        let desc = table::find(self.program.target, "s_branch").next()?;
        let inst = Inst { desc, operands: smallvec![Operand::Label(to)], mods: desc.default_mods() };
        Some(Line { loc, note: Some(why.into()), ..Line::new(inst) })
    }

    fn redirect(&mut self, line: usize, to: Label) {
        let inst = self.program.lines[line].inst_mut();
        if let Some(at) = inst.desc.branch_operand() {
            inst.operands[at] = Operand::Label(to);
        }
    }
}
