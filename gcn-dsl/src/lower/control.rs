//! Branches and EXEC.
//!
//! Uniform conditions branch on SCC. A varying `if`:
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
//! A varying loop saves EXEC before it, narrows it by the condition on each trip, leaves when no lane is left, and restores.

use gcn_isa::operand::Operand;
use gcn_isa::program::Label;
use gcn_isa::reg::{EXEC, RegFile};
use gcn_isa::table;

use super::{Lower, Lowered, Src};
use crate::ir::{Inst, Kernel, Place, Region, Stmt, Value};
use crate::mir::{MOperand, Op};
use crate::scalar::Elem;

/// A branch whose target is not known yet.
struct Pending {
    block: usize,
    inst: usize,
}

impl Lower<'_> {
    fn is_varying(&self, cond: Value) -> bool {
        self.kernel.ty(cond).place == Place::Varying
    }

    pub(super) fn lower_if(&mut self, cond: Value, then: &Region, els: &Region) -> Lowered {
        if self.is_varying(cond) {
            return self.divergent_if(cond, then, els);
        }
        self.condition_to_scc(cond)?;
        let skip = self.branch("s_cbranch_scc0")?;
        self.new_block();
        self.region(then)?;
        if els.stmts.is_empty() {
            let end = self.new_block();
            self.resolve(skip, end);
            return Ok(());
        }
        let over = self.branch("s_branch")?;
        let else_block = self.new_block();
        self.resolve(skip, else_block);
        self.region(els)?;
        let end = self.new_block();
        self.resolve(over, end);
        Ok(())
    }

    fn divergent_if(&mut self, cond: Value, then: &Region, els: &Region) -> Lowered {
        let mask = self.operand(cond);
        let mask = self.in_sgpr(mask, 2);
        let saved = self.new_reg(RegFile::Sgpr, 2);
        self.machine("s_and_saveexec_b64", &[saved], &[Src::Reg(mask)])?;
        let skip = self.branch("s_cbranch_execz")?;
        self.new_block();
        self.region(then)?;
        let next = self.new_block();
        self.resolve(skip, next);
        if !els.stmts.is_empty() {
            self.exec_op("s_andn2_b64", &[MOperand::Virt(saved), MOperand::Virt(mask)]);
            let skip = self.branch("s_cbranch_execz")?;
            self.new_block();
            self.region(els)?;
            let end = self.new_block();
            self.resolve(skip, end);
        }
        self.exec_op("s_mov_b64", &[MOperand::Virt(saved)]);
        Ok(())
    }

    pub(super) fn lower_while(&mut self, head: &Region, cond: Value, body: &Region) -> Lowered {
        let saved = self.is_varying(cond).then(|| self.new_reg(RegFile::Sgpr, 2));
        if let Some(saved) = saved {
            self.copy(saved, Src::Fixed(EXEC.into()));
        }
        self.loop_depth += 1;
        let top = self.new_block();
        self.region(head)?;
        let exit = match saved {
            Some(_) => {
                let mask = self.operand(cond);
                let mask = self.in_sgpr(mask, 2);
                self.exec_op("s_and_b64", &[MOperand::Fixed(EXEC.into()), MOperand::Virt(mask)]);
                self.branch("s_cbranch_execz")?
            }
            None => {
                self.condition_to_scc(cond)?;
                self.branch("s_cbranch_scc0")?
            }
        };
        self.new_block();
        self.region(body)?;
        let back = self.branch("s_branch")?;
        self.resolve(back, top);
        self.loop_depth -= 1;
        let end = self.new_block();
        self.resolve(exit, end);
        if let Some(saved) = saved {
            self.exec_op("s_mov_b64", &[MOperand::Virt(saved)]);
        }
        Ok(())
    }

    pub(super) fn lower_do_while(&mut self, body: &Region, cond: Value) -> Lowered {
        self.loop_depth += 1;
        let top = self.new_block();
        self.region(body)?;
        self.condition_to_scc(cond)?;
        let back = self.branch("s_cbranch_scc1")?;
        self.resolve(back, top);
        self.loop_depth -= 1;
        self.new_block();
        Ok(())
    }

    /// Appends a branch to nowhere yet.
    fn branch(&mut self, mnemonic: &str) -> Lowered<Pending> {
        self.machine(mnemonic, &[], &[Src::Fixed(Operand::Label(Label(u32::MAX)))])?;
        let block = self.func.blocks.len() - 1;
        Ok(Pending { block, inst: self.func.blocks[block].insts.len() - 1 })
    }

    fn resolve(&mut self, branch: Pending, target: u32) {
        let inst = &mut self.func.blocks[branch.block].insts[branch.inst];
        inst.operands[0] = MOperand::Fixed(Operand::Label(Label(target)));
    }

    /// `exec = op srcs`.
    fn exec_op(&mut self, printed: &str, srcs: &[MOperand]) {
        let Some(row) = table::find(self.target, printed).next() else {
            unreachable!("every target has {printed}")
        };
        let dst = MOperand::Fixed(EXEC.into());
        self.push(Op::Machine(row, row.default_mods()), [dst].into_iter().chain(srcs.iter().copied()));
    }
}

/// Uniform comparisons that are used as branch conditions and by scalar selections only: they are made where SCC is
/// needed, so that no 0/1 value has to be kept.
pub(super) fn comparisons_at_use(kernel: &Kernel) -> Vec<bool> {
    let mut at_use: Vec<bool> = kernel
        .values
        .iter()
        .map(|def| match def.inst {
            Inst::Cmp(_, a, _) => {
                let operand = kernel.ty(a);
                let scalar = def.ty.is_some_and(|t| t.place == Place::Uniform);
                scalar && matches!(operand.elem, Elem::I32 | Elem::U32)
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
                    // The condition itself is the first operand; the same value again is a real use.
                    if first == Some(operand) {
                        first = None;
                    } else {
                        at_use[operand.0 as usize] = false;
                    }
                });
            }
            Stmt::If { then, els, .. } => {
                region_uses(kernel, then, at_use);
                region_uses(kernel, els, at_use);
            }
            Stmt::While { head, body, .. } => {
                region_uses(kernel, head, at_use);
                region_uses(kernel, body, at_use);
            }
            Stmt::DoWhile { body, .. } => region_uses(kernel, body, at_use),
        }
    }
}
