//! Dead-code elimination: removes values, variable writes and control flow that have no effect, blocks that nothing leaves
//! included.
//!
//! The pass marks backwards from instructions with effects: the operands of a live statement are live, and a write is
//! live if a live instruction reads its variable. The order of reads and writes of a variable is ignored, so a write
//! that is overwritten before any read stays; [`super::build`] removes such writes.

use super::{Inst, Kernel, Region, Stmt, Value, flow};

/// Removes dead code from `kernel`.
pub fn run(kernel: &mut Kernel) {
    let mut live = Live::of(kernel);
    live.follow(kernel);
    kernel.rewrite(|kernel, body| sweep(kernel, &live, body));
}

/// The values and variables that are marked as live.
struct Live {
    values: Vec<bool>,
    variables: Vec<bool>,
    /// For each value, true if its instruction is in the body.
    placed: Vec<bool>,
    /// The writes of each variable.
    writes: Vec<Vec<Value>>,
    /// The worklist: live values whose operands have not been marked.
    work: Vec<Value>,
}

impl Live {
    /// Marks the statements that have an effect and the conditions that decide about control flow.
    fn of(kernel: &Kernel) -> Live {
        let (values, variables) = (kernel.values.len(), kernel.variables.len());
        let mut live = Live {
            values: vec![false; values],
            variables: vec![false; variables],
            placed: vec![false; values],
            writes: vec![Vec::new(); variables],
            work: Vec::new(),
        };
        kernel.body.each_stmt(&mut |stmt| match stmt {
            Stmt::Inst(v) => {
                live.placed[v.0 as usize] = true;
                match &kernel.def(*v).inst {
                    Inst::Write { var, .. } => live.writes[var.0 as usize].push(*v),
                    inst if inst.has_effect() => live.mark(*v),
                    _ => {}
                }
            }
            // Exits are never removed, so the conditions of all statements around an exit are live.
            other => other.condition().into_iter().for_each(|cond| live.mark(cond)),
        });
        live
    }

    fn follow(&mut self, kernel: &Kernel) {
        while let Some(v) = self.work.pop() {
            if !self.placed[v.0 as usize] {
                continue;
            }
            let inst = &kernel.def(v).inst;
            if let Inst::Read(var) = inst
                && !std::mem::replace(&mut self.variables[var.0 as usize], true)
            {
                std::mem::take(&mut self.writes[var.0 as usize]).into_iter().for_each(|w| self.mark(w));
            }
            inst.operands(|operand| self.mark(operand));
        }
    }

    fn mark(&mut self, v: Value) {
        if !std::mem::replace(&mut self.values[v.0 as usize], true) {
            self.work.push(v);
        }
    }
}

fn sweep(kernel: &Kernel, live: &Live, region: &mut Region) {
    region.rebuild(|mut stmt, out| {
        // No lane passes an exit, which may have been the last statement of a block that became part of this region.
        if let Some(Stmt::Exit(_)) = out.last() {
            return;
        }
        stmt.regions_mut().into_iter().for_each(|inner| sweep(kernel, live, inner));
        let stays = match &mut stmt {
            Stmt::Inst(v) => match &kernel.def(*v).inst {
                Inst::Write { var, .. } => live.variables[var.0 as usize],
                _ => live.values[v.0 as usize],
            },
            Stmt::If { then, els, .. } => !(then.stmts.is_empty() && els.stmts.is_empty()),
            Stmt::Block { label, body } => {
                if let [Stmt::Exit(target)] = body.stmts[..]
                    && target == *label
                {
                    return;
                }
                // Nothing jumps to the block's end, so that it is only its statements. Value numbering follows variables
                // through those.
                if !flow::leaves(body, *label) {
                    return out.append(&mut body.stmts);
                }
                true
            }
            // Loops stay even if they are empty: a loop may not terminate, and removing it would change that.
            Stmt::While { .. } | Stmt::DoWhile { .. } | Stmt::Loop { .. } | Stmt::Exit(_) => true,
        };
        if stays {
            out.push(stmt);
        }
    });
}
