//! Helpers for passes that replace statements: taking the body out of the kernel, rebuilding a region statement by
//! statement, and counting the readers of each value.

use super::{Kernel, Region, Stmt, Value};

impl Kernel {
    /// Rewrites the body: calls `pass` with the kernel, whose body is empty during the call, and the body.
    pub(super) fn rewrite<T>(&mut self, pass: impl FnOnce(&mut Kernel, &mut Region) -> T) -> T {
        let mut body = std::mem::take(&mut self.body);
        let result = pass(self, &mut body);
        self.body = body;
        result
    }

    /// For each value, the number of instructions and conditions that read it. An instruction that reads the value
    /// twice counts twice.
    pub(crate) fn readers(&self) -> Vec<u32> {
        let mut readers = vec![0; self.values.len()];
        self.body.each_stmt(&mut |stmt| match stmt {
            Stmt::Inst(v) => self.def(*v).inst.operands(|operand| readers[operand.0 as usize] += 1),
            other => other.condition().into_iter().for_each(|cond| readers[cond.0 as usize] += 1),
        });
        readers
    }
}

impl Region {
    /// Rebuilds the region: calls `replace` with each statement in order, and with the list to which it appends the
    /// replacement.
    pub(super) fn rebuild(&mut self, mut replace: impl FnMut(Stmt, &mut Vec<Stmt>)) {
        let mut stmts = Vec::with_capacity(self.stmts.len());
        std::mem::take(&mut self.stmts).into_iter().for_each(|stmt| replace(stmt, &mut stmts));
        self.stmts = stmts;
    }

    /// The instructions of the region itself, without those of nested regions.
    pub(super) fn insts(&self) -> impl Iterator<Item = Value> + Clone + '_ {
        self.stmts.iter().filter_map(|stmt| if let Stmt::Inst(v) = stmt { Some(*v) } else { None })
    }
}
