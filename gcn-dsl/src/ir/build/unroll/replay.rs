//! Copies of statements, for unrolling.

use hashbrown::HashMap;

use super::super::if_conversion;
use super::{Loop, MOST_TRIPS};
use crate::ir::build::Builder;
use crate::ir::{Inst, Label, Place, Region, Stmt, Value, Variable};

/// Appends copies of statements with new values.
#[derive(Default)]
pub(super) struct Replay {
    names: HashMap<Value, Value>,
    labels: HashMap<Label, Label>,
    variables: HashMap<Variable, Variable>,
}

impl Replay {
    /// Makes copies in which `var` is replaced by `other`.
    pub fn with(var: Variable, other: Variable) -> Replay {
        Replay { variables: HashMap::from([(var, other)]), ..Replay::default() }
    }

    fn variable(&self, var: Variable) -> Variable {
        self.variables.get(&var).copied().unwrap_or(var)
    }

    /// The copy of `v` in the iteration that is being appended; `v` itself if it has not been copied.
    pub fn renamed(&self, v: Value) -> Value {
        self.names.get(&v).copied().unwrap_or(v)
    }

    /// Appends the iterations of a loop as long as the conditions are known. If a condition is not known, appends the
    /// loop itself after them.
    pub fn looped(&mut self, b: &mut Builder, looped: Loop<'_>) {
        for _ in 0..MOST_TRIPS {
            if let Some(head) = looped.head {
                self.region(b, head);
                match b.as_const(self.renamed(looped.cond)) {
                    Some(0) => return,
                    Some(_) => {}
                    None => break,
                }
            }
            self.region(b, looped.body);
            if b.is_dead() {
                return;
            }
            if looped.head.is_none() {
                match b.as_const(self.renamed(looped.cond)) {
                    Some(0) => return,
                    Some(_) => {}
                    None => break,
                }
            }
        }
        match looped.head {
            Some(head) => {
                let head = self.nested(b, head, true);
                let cond = self.renamed(looped.cond);
                let body = self.nested(b, looped.body, false);
                b.stmt(Stmt::While { head, cond, body });
            }
            None => {
                let again = self.renamed(looped.cond);
                b.open(false);
                let body = self.nested(b, looped.body, false);
                b.stmt(Stmt::DoWhile { body, cond: self.renamed(looped.cond) });
                let then = b.close(false);
                b.stmt(Stmt::If { cond: again, then, els: Region::default() });
            }
        }
    }

    /// Appends a copy of a region's statements.
    pub fn region(&mut self, b: &mut Builder, region: &Region) {
        region.stmts.iter().for_each(|stmt| self.stmt(b, stmt));
    }

    /// Copies a region into a new one.
    fn nested(&mut self, b: &mut Builder, region: &Region, varying: bool) -> Region {
        b.open(varying);
        self.region(b, region);
        b.close(varying)
    }

    /// Copies a region into a new one that runs at most once for each execution of the current one.
    fn branch(&mut self, b: &mut Builder, region: &Region, varying: bool) -> Region {
        b.open_branch(varying);
        self.region(b, region);
        b.close(varying)
    }

    fn stmt(&mut self, b: &mut Builder, stmt: &Stmt) {
        let varies = |b: &Builder, cond: Value| b.kernel().ty(cond).place == Place::Varying;
        match stmt {
            Stmt::Inst(v) => self.inst(b, *v),
            Stmt::If { cond, then, els } => {
                let cond = self.renamed(*cond);
                if let Some(bits) = b.as_const(cond) {
                    return self.region(b, if bits != 0 { then } else { els });
                }
                let varying = varies(b, cond);
                let then = self.branch(b, then, varying);
                let els = self.branch(b, els, varying);
                b.branch(cond, varying, then, els);
            }
            Stmt::DoWhile { body, cond } => {
                let body = self.nested(b, body, false);
                b.looped(None, self.renamed(*cond), body);
            }
            Stmt::While { head, cond, body } => {
                let varying = varies(b, *cond);
                let head = self.nested(b, head, true);
                let cond = self.renamed(*cond);
                let body = self.nested(b, body, varying);
                b.looped(Some(head), cond, body);
            }
            Stmt::Loop { body } => {
                let body = self.nested(b, body, true);
                b.stmt(Stmt::Loop { body });
            }
            Stmt::Block { label, body } => {
                let copy = b.open_block();
                self.labels.insert(*label, copy);
                self.region(b, body);
                b.close_block(copy);
            }
            Stmt::Exit(label) => b.exit(self.labels.get(label).copied().unwrap_or(*label)),
        }
    }

    fn inst(&mut self, b: &mut Builder, v: Value) {
        let def = b.kernel().def(v).clone();
        match def.inst {
            Inst::Write { var, value, .. } => b.write(self.variable(var), self.renamed(value), def.loc),
            Inst::Read(var) => {
                let new = b.read(self.variable(var), def.loc);
                self.names.insert(v, new);
            }
            mut inst if def.ty.is_none() => {
                inst.operands_mut(|operand| *operand = self.renamed(*operand));
                b.effect(inst, def.loc);
            }
            _ => if_conversion::append(b, v, &mut self.names),
        }
    }
}
