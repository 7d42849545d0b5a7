//! Control flow and the management of EXEC.
//!
//! Uniform conditions branch on SCC. A varying `if` narrows EXEC:
//!
//! ```text
//!   s_and_saveexec_b64 saved, mask        ; lanes where the condition holds
//!   s_cbranch_execz else (or end)
//!   …
//! else:
//!   s_andn2_b64 exec, saved, mask         ; the others
//!   s_cbranch_execz end
//!   …
//! end:
//!   s_mov_b64 exec, saved
//! ```
//!
//! A varying loop saves EXEC before it, narrows EXEC by the condition in each iteration, ends when no lane is active,
//! and restores EXEC. If a construct is the last statement of an outer construct that restores EXEC, the inner one does
//! not restore EXEC (`tail`): its lanes become active again at the end of the outer one. `exit` handles `break`,
//! `continue` and `return`; `skip` decides which branches are omitted.

use gcn_isa::operand::Operand;
use gcn_isa::program::Label;
use gcn_isa::table;

use super::exit::Frame;
use super::{Lower, Lowered, Pending, Src, mask};
use crate::ir::{Inst, Kernel, Place, Pred, Region, Stmt, Value, flow};
use crate::mir::{MOperand, Op, VSlice};
use crate::scalar::Elem;

impl Lower<'_> {
    fn is_varying(&self, cond: Value) -> bool {
        self.kernel.ty(cond).place == Place::Varying
    }

    pub(super) fn lower_if(&mut self, cond: Value, then: &Region, els: &Region, tail: bool) -> Lowered {
        if self.is_varying(cond) {
            return match &then.stmts[..] {
                [Stmt::Exit(label)] if els.stmts.is_empty() => self.exit_where(cond, *label),
                [first @ .., Stmt::Exit(label)] if els.stmts.is_empty() => {
                    self.leave_where(cond, first, *label)
                }
                _ if els.stmts.is_empty() => self.divergent_then(cond, then, tail),
                _ => self.divergent_if(cond, then, els, tail),
            };
        }
        self.condition_to_scc(cond)?;
        if let [Stmt::Exit(label)] = then.stmts[..]
            && let Some(frame) = self.plain_exit(label)
        {
            let out = self.branch("s_cbranch_scc1")?;
            self.frames[frame].joins.push(out);
            self.new_block();
            return self.region(els, tail);
        }
        let skip = self.branch("s_cbranch_scc0")?;
        self.new_block();
        self.region(then, tail)?;
        if els.stmts.is_empty() {
            let end = self.new_block();
            self.resolve(skip, end);
            return Ok(());
        }
        // If no lane reaches the end of `then`, no jump over `else` is needed.
        let over = if flow::ends(then) { None } else { Some(self.branch("s_branch")?) };
        let else_block = self.new_block();
        self.resolve(skip, else_block);
        self.region(els, tail)?;
        let end = self.new_block();
        over.into_iter().for_each(|over| self.resolve(over, end));
        Ok(())
    }

    /// Lowers a varying `if` without `else`. If it is a tail, the old EXEC is not needed, so it is not saved.
    fn divergent_then(&mut self, cond: Value, then: &Region, tail: bool) -> Lowered {
        let mask = self.mask_of(cond);
        let saved = (!tail).then(|| self.new_mask());
        match saved {
            Some(saved) => self.machine(self.mask_op(mask::AND_SAVE), &[saved], &[Src::Reg(mask)])?,
            None => self.exec_op(
                self.mask_op(mask::AND),
                &[MOperand::Fixed(self.exec().into()), MOperand::Virt(mask)],
            ),
        }
        self.frames.push(Frame::varying(None, saved));
        let skip = self.branch("s_cbranch_execz")?;
        self.new_block();
        self.region(then, true)?;
        if !self.drop_skip(skip) {
            self.frame().joins.push(skip);
        }
        self.close_frame()
    }

    fn divergent_if(&mut self, cond: Value, then: &Region, els: &Region, tail: bool) -> Lowered {
        let mask = self.mask_of(cond);
        let saved = self.new_mask();
        self.machine(self.mask_op(mask::AND_SAVE), &[saved], &[Src::Reg(mask)])?;
        self.frames.push(Frame::varying(None, (!tail).then_some(saved)));
        let skip = self.branch("s_cbranch_execz")?;
        self.new_block();
        self.region(then, true)?;
        // A branch that is taken because no lane is left in `then` continues at the `else`, whose lanes are not active
        // at that point.
        let mut joins = std::mem::take(&mut self.frame().joins);
        if !self.drop_skip(skip) {
            joins.push(skip);
        }
        self.resolve_here(joins);
        self.exec_op(self.mask_op(mask::AND_NOT), &[MOperand::Virt(saved), MOperand::Virt(mask)]);
        let skip = self.branch("s_cbranch_execz")?;
        self.new_block();
        self.region(els, true)?;
        if !self.drop_skip(skip) {
            self.frame().joins.push(skip);
        }
        self.close_frame()
    }

    pub(super) fn lower_while(&mut self, head: &Region, cond: Value, body: &Region, tail: bool) -> Lowered {
        let varying = self.is_varying(cond);
        if varying {
            let saved = (!tail).then(|| self.new_mask());
            saved.into_iter().for_each(|saved| self.copy(saved, Src::Fixed(self.exec().into())));
            self.frames.push(Frame::varying(None, saved));
        }
        // Rotation duplicates the head but saves a branch in each iteration.
        let mut exits = if self.is_short(head) && !flow::ends(body) {
            self.rotated_while(head, cond, body)?
        } else {
            self.loop_depth += 1;
            let top = self.new_block();
            self.region(head, false)?;
            let exit = self.leave_unless(cond, varying)?;
            self.new_block();
            self.region(body, false)?;
            self.back_to(top, body)?;
            self.loop_depth -= 1;
            vec![exit]
        };
        if varying {
            self.frame().joins.append(&mut exits);
            return self.close_frame();
        }
        let end = self.new_block();
        exits.into_iter().for_each(|exit| self.resolve(exit, end));
        Ok(())
    }

    /// Lowers a loop in rotated form: the condition is evaluated before the loop and again at its bottom, so that each
    /// iteration has one branch.
    fn rotated_while(&mut self, head: &Region, cond: Value, body: &Region) -> Lowered<Vec<Pending>> {
        let varying = self.is_varying(cond);
        self.region(head, false)?;
        let never = self.leave_unless(cond, varying)?;
        self.loop_depth += 1;
        let top = self.new_block();
        self.region(body, false)?;
        self.region(head, false)?;
        let again = if varying {
            let mask = self.mask_of(cond);
            self.exec_op(
                self.mask_op(mask::AND),
                &[MOperand::Fixed(self.exec().into()), MOperand::Virt(mask)],
            );
            self.branch("s_cbranch_execnz")?
        } else {
            self.condition_to_scc(cond)?;
            self.branch("s_cbranch_scc1")?
        };
        self.resolve(again, top);
        self.loop_depth -= 1;
        self.new_block();
        Ok(vec![never])
    }

    /// Emits the branch that leaves a loop unless `cond` is true. A varying condition leaves the loop when it is false
    /// in all active lanes.
    fn leave_unless(&mut self, cond: Value, varying: bool) -> Lowered<Pending> {
        if varying {
            let mask = self.mask_of(cond);
            self.exec_op(
                self.mask_op(mask::AND),
                &[MOperand::Fixed(self.exec().into()), MOperand::Virt(mask)],
            );
            self.branch("s_cbranch_execz")
        } else {
            self.condition_to_scc(cond)?;
            self.branch("s_cbranch_scc0")
        }
    }

    /// True if a loop's head is short enough to be duplicated, and has no effect except on variables.
    fn is_short(&self, head: &Region) -> bool {
        /// The limit in IR statements, including constants: enough for two comparisons and their operands. In the
        /// timing model, the branch that rotation saves in each iteration costs as much as four vector instructions.
        const SHORT: usize = 20;
        let plain = |stmt: &Stmt| match stmt {
            Stmt::Inst(v) => {
                let inst = &self.kernel.def(*v).inst;
                (!inst.has_effect() || matches!(inst, Inst::Write { .. }))
                    && !matches!(inst, Inst::Machine(_) | Inst::Result { .. } | Inst::Atomic(_))
            }
            _ => false,
        };
        head.stmts.len() <= SHORT && head.stmts.iter().all(plain)
    }

    pub(super) fn lower_do_while(&mut self, body: &Region, cond: Value) -> Lowered {
        self.loop_depth += 1;
        let top = self.new_block();
        self.region(body, false)?;
        if !flow::ends(body) {
            self.condition_to_scc(cond)?;
            let back = self.branch("s_cbranch_scc1")?;
            self.resolve(back, top);
        }
        self.loop_depth -= 1;
        self.new_block();
        Ok(())
    }

    pub(super) fn lower_loop(&mut self, body: &Region) -> Lowered {
        self.loop_depth += 1;
        let top = self.new_block();
        self.region(body, false)?;
        self.back_to(top, body)?;
        self.loop_depth -= 1;
        self.new_block();
        Ok(())
    }

    /// Emits the branch from the end of a loop's body to its start.
    fn back_to(&mut self, top: u32, body: &Region) -> Lowered {
        if flow::ends(body) {
            return Ok(());
        }
        let back = match self.invert_last_exit() {
            Some(inverted) => inverted,
            None => self.branch("s_branch")?,
        };
        self.resolve(back, top);
        Ok(())
    }

    /// Emits a branch whose target is not known yet.
    pub(super) fn branch(&mut self, mnemonic: &str) -> Lowered<Pending> {
        self.machine(mnemonic, &[], &[Src::Fixed(Operand::Label(Label(u32::MAX)))])?;
        let block = self.func.blocks.len() - 1;
        Ok(Pending { block, inst: self.func.blocks[block].insts.len() - 1 })
    }

    pub(super) fn resolve(&mut self, branch: Pending, target: u32) {
        let inst = &mut self.func.blocks[branch.block].insts[branch.inst];
        inst.operands[0] = MOperand::Fixed(Operand::Label(Label(target)));
    }

    /// Starts a block that is the target of `branches`, if there are any. A branch to the next instruction is removed.
    pub(super) fn resolve_here(&mut self, mut branches: Vec<Pending>) {
        let last = self.func.blocks.iter().rposition(|b| !b.insts.is_empty()).unwrap_or(0);
        let at_end = |b: &Pending| b.block == last && b.inst + 1 == self.func.blocks[last].insts.len();
        // A branch to the next instruction becomes a fall-through.
        if let Some(next) = branches.iter().position(at_end) {
            self.func.blocks[last].insts.pop();
            branches.swap_remove(next);
        }
        if !branches.is_empty() {
            let here = self.new_block();
            branches.into_iter().for_each(|b| self.resolve(b, here));
        }
    }

    /// Emits `exec = op srcs`.
    pub(super) fn exec_op(&mut self, printed: &str, srcs: &[MOperand]) {
        self.scalar_op(printed, MOperand::Fixed(self.exec().into()), srcs);
    }

    /// Emits `dst = op srcs` on scalar registers, with the operands as given.
    pub(super) fn scalar_op(&mut self, printed: &str, dst: MOperand, srcs: &[MOperand]) {
        let Some(row) = table::find_operation(self.func.on(), printed).next() else {
            unreachable!("every target has {printed}")
        };
        self.push(Op::Machine(row, row.default_mods()), [dst].into_iter().chain(srcs.iter().copied()));
    }

    /// The condition as a lane mask in scalar registers.
    pub(super) fn mask_of(&mut self, cond: Value) -> VSlice {
        let mask = self.operand(cond);
        self.in_sgpr(mask, self.func.wave.mask_registers())
    }
}

/// For each value, true if it is a uniform comparison that is used only as a branch condition or by scalar selects.
/// Such comparisons are evaluated where SCC is needed, so that no 0/1 value has to be kept in a register.
pub(super) fn comparisons_at_use(kernel: &Kernel) -> Vec<bool> {
    let mut at_use: Vec<bool> = kernel
        .values
        .iter()
        .map(|def| match def.inst {
            Inst::Cmp(pred, a, _) => {
                let scalar = def.ty.is_some_and(|t| t.place == Place::Uniform);
                scalar
                    && match kernel.ty(a).elem {
                        Elem::I32 | Elem::U32 => true,
                        Elem::I64 | Elem::U64 => matches!(pred, Pred::Eq | Pred::Ne),
                        _ => false,
                    }
            }
            _ => false,
        })
        .collect();
    region_uses(kernel, &kernel.body, &mut at_use);
    at_use
}

fn region_uses(kernel: &Kernel, region: &Region, at_use: &mut [bool]) {
    for stmt in &region.stmts {
        match stmt {
            Stmt::Inst(v) => {
                let inst = &kernel.def(*v).inst;
                let select_condition = match inst {
                    Inst::Select(c, ..) if kernel.ty(*v).place == Place::Uniform => Some(*c),
                    Inst::Splat(c) if kernel.ty(*v).elem == Elem::Bool => Some(*c),
                    Inst::Machine(call) => call.scc,
                    _ => None,
                };
                let mut first = select_condition;
                inst.operands(|operand| {
                    // One occurrence of the comparison among the operands is the condition; any other one uses its
                    // value as a number.
                    if first == Some(operand) {
                        first = None;
                    } else {
                        at_use[operand.0 as usize] = false;
                    }
                });
            }
            other => other.regions().into_iter().for_each(|r| region_uses(kernel, r, at_use)),
        }
    }
}
