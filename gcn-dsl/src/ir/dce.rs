//! Drops values, variable writes and empty control flow that have no effect.
//!
//! Marks backwards from effects: a statement's operands are live if it is; a write is live if its variable is read by
//! anything live. Runs to a fixpoint over variables, which takes as many rounds as writes feed each other in a chain of
//! variables (two or three in practice), each linear.

use super::{Inst, Kernel, Region, Stmt, Value};

/// Removes dead code from `kernel`.
pub fn run(kernel: &mut Kernel) {
    let mut live =
        Live { values: vec![false; kernel.values.len()], variables: vec![false; kernel.variables.len()] };
    loop {
        let before = live.variables.clone();
        live.region(kernel, &kernel.body);
        if live.variables == before {
            break;
        }
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = sweep(kernel, &live, body);
}

struct Live {
    values: Vec<bool>,
    variables: Vec<bool>,
}

impl Live {
    fn region(&mut self, kernel: &Kernel, region: &Region) {
        for stmt in region.stmts.iter().rev() {
            match stmt {
                Stmt::Inst(v) => self.inst(kernel, *v),
                // Exits stay, so the condition of each branch around one is needed.
                other => {
                    other.condition().into_iter().for_each(|cond| self.mark(cond));
                    other.regions().into_iter().rev().for_each(|r| self.region(kernel, r));
                }
            }
        }
    }

    fn inst(&mut self, kernel: &Kernel, v: Value) {
        let inst = &kernel.def(v).inst;
        let needed = match inst {
            Inst::Write { var, .. } => self.variables[var.0 as usize],
            _ => inst.has_effect() || self.values[v.0 as usize],
        };
        if !needed {
            return;
        }
        self.mark(v);
        if let Inst::Read(var) = inst {
            self.variables[var.0 as usize] = true;
        }
        inst.operands(|operand| self.mark(operand));
    }

    fn mark(&mut self, v: Value) {
        self.values[v.0 as usize] = true;
    }
}

fn sweep(kernel: &Kernel, live: &Live, region: Region) -> Region {
    let keep = |v: Value| match &kernel.def(v).inst {
        Inst::Write { var, .. } => live.variables[var.0 as usize],
        _ => live.values[v.0 as usize],
    };
    let stmts = region
        .stmts
        .into_iter()
        .filter_map(|stmt| match stmt {
            Stmt::Inst(v) => keep(v).then_some(Stmt::Inst(v)),
            Stmt::If { cond, then, els } => {
                let (then, els) = (sweep(kernel, live, then), sweep(kernel, live, els));
                let empty = then.stmts.is_empty() && els.stmts.is_empty();
                (!empty).then_some(Stmt::If { cond, then, els })
            }
            // A loop may not end; dropping it would change that.
            Stmt::While { head, cond, body } => {
                Some(Stmt::While { head: sweep(kernel, live, head), cond, body: sweep(kernel, live, body) })
            }
            Stmt::DoWhile { body, cond } => Some(Stmt::DoWhile { body: sweep(kernel, live, body), cond }),
            Stmt::Loop { body } => Some(Stmt::Loop { body: sweep(kernel, live, body) }),
            Stmt::Block { label, body } => {
                let body = sweep(kernel, live, body);
                let empty = match body.stmts[..] {
                    [] => true,
                    [Stmt::Exit(target)] => target == label,
                    _ => false,
                };
                (!empty).then_some(Stmt::Block { label, body })
            }
            Stmt::Exit(label) => Some(Stmt::Exit(label)),
        })
        .collect();
    Region { stmts }
}
