//! Divergent exits: `break`, `continue` and `return`, which the IR represents as exits from blocks.
//!
//! No mask of active lanes is kept except EXEC. A *frame* is a construct in which lanes can be inactive until its end.
//! Each frame has a saved mask, which becomes EXEC at the frame's end. When lanes leave several frames, they are
//! removed from the masks of all frames that they leave, but not from the mask of the outermost one, at whose end they
//! continue. So they become active again at that end and not before:
//!
//! ```text
//!   s_mov_b64 outer, exec                 ; block: lanes that leave it wait in `outer`
//! loop:
//!   …
//!   s_and_saveexec_b64 inner, mask        ; if
//!   s_cbranch_execz endif
//!   …
//!   s_andn2_b64 inner, inner, exec        ; break: not active again at the end of the `if`
//! endif:
//!   s_mov_b64 exec, inner
//!   s_cbranch_execz end                   ; all have left
//!   …
//!   s_branch loop
//! end:
//!   s_mov_b64 exec, outer
//! ```
//!
//! An `if` that contains only an exit becomes `s_andn2_b64 exec, exec, mask` and a branch. An `if` whose body ends in
//! an exit saves only the lanes that do not enter the body. If all active lanes of the block exit together, the exit is
//! just a branch.

use gcn_isa::table;

use super::{Lower, Lowered, Pending, mask};
use crate::ir::{Label, Region, Stmt, Value};
use crate::mir::{MOperand, Op, VSlice};

/// A frame: an enclosing construct, see the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// The label, if the construct is a labelled block.
    label: Option<Label>,
    /// True if fewer lanes may be active inside the frame than at its start.
    varying: bool,
    /// The mask of the lanes that become active again at the frame's end. `None` if the next enclosing varying frame,
    /// which ends immediately afterwards, restores EXEC.
    saved: Option<VSlice>,
    /// The branches to the frame's end.
    pub joins: Vec<Pending>,
    /// True if lanes may have been removed from `saved`.
    lost_lanes: bool,
    /// True if `saved` contains none of the lanes that are active inside, because all of them leave the frame.
    left_by_all: bool,
}

impl Frame {
    /// The frame of the kernel's body, after which no lane runs.
    pub fn root() -> Frame {
        Frame { varying: true, ..Frame::default() }
    }

    pub fn varying(label: Option<Label>, saved: Option<VSlice>) -> Frame {
        Frame { label, varying: true, saved, ..Frame::default() }
    }

    fn uniform(label: Label) -> Frame {
        Frame { label: Some(label), ..Frame::default() }
    }
}

impl Lower<'_> {
    /// The innermost frame.
    pub(super) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().unwrap_or_else(|| unreachable!("the root stays"))
    }

    /// The innermost frame in which lanes can be inactive. If no lane is left, control continues at its end.
    fn innermost_varying(&mut self) -> &mut Frame {
        let found = self.frames.iter_mut().rev().find(|f| f.varying);
        found.unwrap_or_else(|| unreachable!("the root is varying"))
    }

    /// Ends the innermost frame: resolves the branches to its end, and reactivates its lanes.
    pub(super) fn close_frame(&mut self) -> Lowered {
        let frame = self.frames.pop().unwrap_or_else(|| unreachable!("who opens a frame closes it"));
        match frame.saved {
            Some(saved) => {
                self.resolve_here(frame.joins);
                self.exec_op(self.mask_op(mask::MOVE), &[MOperand::Virt(saved)]);
                // If lanes have left across this frame, perhaps none of the saved ones remain. Code must not run with
                // EXEC = 0 (see [`super`]), so the wave then continues at the end of the next enclosing varying frame.
                if frame.lost_lanes {
                    let none_left = self.branch("s_cbranch_execz")?;
                    self.innermost_varying().joins.push(none_left);
                    self.new_block();
                }
            }
            // The next varying frame restores EXEC, so branches to this end can go there directly.
            None if frame.varying => self.innermost_varying().joins.extend(frame.joins),
            None => self.resolve_here(frame.joins),
        }
        Ok(())
    }

    /// Ends the kernel's body.
    pub(super) fn close_root(&mut self) {
        let joins = std::mem::take(&mut self.frame().joins);
        self.resolve_here(joins);
    }

    pub(super) fn lower_block(&mut self, label: Label, body: &Region, tail: bool) -> Lowered {
        if !self.varying_blocks.contains(&label) {
            self.frames.push(Frame::uniform(label));
            self.region(body, tail)?;
            return self.close_frame();
        }
        let saved = (!tail).then(|| self.new_mask());
        saved.into_iter().for_each(|saved| self.copy(saved, super::Src::Fixed(self.exec().into())));
        self.frames.push(Frame::varying(Some(label), saved));
        self.region(body, true)?;
        self.close_frame()
    }

    /// The index of the block's frame if no frame inside it is varying, so that all active lanes can exit by a branch;
    /// `None` otherwise.
    pub(super) fn plain_exit(&self, label: Label) -> Option<usize> {
        let target = self.target_of(label);
        self.frames[target + 1..].iter().all(|f| !f.varying).then_some(target)
    }

    fn target_of(&self, label: Label) -> usize {
        let found = self.frames.iter().rposition(|f| f.label == Some(label));
        found.unwrap_or_else(|| unreachable!("an exit is inside its block"))
    }

    pub(super) fn lower_exit(&mut self, label: Label) -> Lowered {
        let out = self.branch_of_exit(label)?;
        match self.plain_exit(label) {
            Some(target) => self.frames[target].joins.push(out),
            None => self.innermost_varying().joins.push(out),
        }
        Ok(())
    }

    fn branch_of_exit(&mut self, label: Label) -> Lowered<Pending> {
        if self.plain_exit(label).is_none() {
            self.take_from_frames(label, MOperand::Fixed(self.exec().into()));
        }
        self.branch("s_branch")
    }

    /// Removes `lanes` from the saved masks of the frames inside the block.
    fn take_from_frames(&mut self, label: Label, lanes: MOperand) {
        let first = self.target_of(label) + 1;
        for i in first..self.frames.len() {
            let frame = &mut self.frames[i];
            frame.lost_lanes |= frame.varying;
            if let (Some(saved), false) = (frame.saved, frame.left_by_all) {
                let saved = MOperand::Virt(saved);
                self.scalar_op(self.mask_op(mask::AND_NOT), saved, &[saved, lanes]);
            }
        }
    }

    /// Lowers `if cond { exit }` for a varying condition.
    pub(super) fn exit_where(&mut self, cond: Value, label: Label) -> Lowered {
        let mask = MOperand::Virt(self.mask_of(cond));
        let exec = MOperand::Fixed(self.exec().into());
        if self.frames[self.target_of(label) + 1..].iter().any(|f| f.saved.is_some()) {
            // The bits of inactive lanes in a condition's mask are undefined, and the frames' masks contain lanes that
            // are inactive here, so remove only active lanes.
            let leaving = MOperand::Virt(self.new_mask());
            self.scalar_op(self.mask_op(mask::AND), leaving, &[mask, exec]);
            self.take_from_frames(label, leaving);
        }
        self.exec_op(self.mask_op(mask::AND_NOT), &[exec, mask]);
        let none_left = self.branch("s_cbranch_execz")?;
        self.innermost_varying().joins.push(none_left);
        self.new_block();
        Ok(())
    }

    /// Lowers `if cond { …; exit }` for a varying condition. Saves the lanes that do not enter the body; the lanes in
    /// the body are not restored at its end.
    pub(super) fn leave_where(&mut self, cond: Value, first: &[Stmt], label: Label) -> Lowered {
        let mask = MOperand::Virt(self.mask_of(cond));
        let exec = MOperand::Fixed(self.exec().into());
        let others = self.new_mask();
        self.scalar_op(self.mask_op(mask::AND_NOT), MOperand::Virt(others), &[exec, mask]);
        self.exec_op(self.mask_op(mask::AND), &[exec, mask]);
        let skip = self.branch("s_cbranch_execz")?;
        self.frames.push(Frame { left_by_all: true, ..Frame::varying(None, Some(others)) });
        self.new_block();
        self.statements(first, false)?;
        self.take_from_frames(label, exec);
        if !self.drop_skip(skip) {
            self.frame().joins.push(skip);
        }
        self.close_frame()
    }

    /// If the last instruction is a conditional branch out of the loop, inverts it: the exit becomes the fall-through
    /// path, and the inverted branch, which is returned, goes to the loop's start. This saves a branch in each
    /// iteration.
    pub(super) fn invert_last_exit(&mut self) -> Option<Pending> {
        let last = self.func.blocks.len() - 1;
        if !self.func.blocks[last].insts.is_empty() || last == 0 {
            return None;
        }
        let (block, inst) = (last - 1, self.func.blocks[last - 1].insts.len().checked_sub(1)?);
        let Op::Machine(row, _) = self.func.blocks[block].insts[inst].op else { return None };
        let is_last = |p: &Pending| p.block == block && p.inst == inst;
        let (frame, join) =
            self.frames.iter().enumerate().find_map(|(i, f)| Some((i, f.joins.iter().position(is_last)?)))?;
        let row = table::find_operation(self.func.on(), row.entry.inverse).next()?;
        self.func.blocks[block].insts[inst].op = Op::Machine(row, row.default_mods());
        let out = self.branch("s_branch").ok()?;
        self.frames[frame].joins[join] = out;
        Some(Pending { block, inst })
    }
}
