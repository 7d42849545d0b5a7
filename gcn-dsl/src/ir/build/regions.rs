//! Control flow: opens and closes regions, and builds branches, loops, and blocks with exits.

use hashbrown::{HashMap, HashSet};

use super::super::{Inst, Label, Region, Stmt, Value, Variable, flow};
use super::{Builder, Open, if_conversion, unroll};

impl Builder {
    /// Opens a region. `varying` is true if possibly only some of the active lanes run it.
    pub fn open(&mut self, varying: bool) {
        self.divergence += u32::from(varying);
        self.open.push(Open::default());
    }

    /// Opens a region that runs at most once for each execution of the current one. Variables whose values are known
    /// here are known at its start as well.
    pub(in crate::ir) fn open_branch(&mut self, varying: bool) {
        let known = self.top().known.clone();
        self.open(varying);
        let constant = known.into_iter().filter(|(_, v)| self.as_const(*v).is_some()).collect();
        self.top().known = constant;
    }

    /// The variables whose value is a known constant here, each with the constant's bits.
    pub(in crate::ir) fn known_constants(&self) -> HashMap<Variable, u64> {
        let known = self.open.last().into_iter().flat_map(|top| &top.known);
        known.filter_map(|(var, v)| Some((*var, self.as_const(*v)?))).collect()
    }

    /// Records that the innermost region is never run, because its condition is a known constant.
    pub fn never_runs(&mut self) {
        self.top().never = true;
    }

    /// True in a region that is never run, and in the regions inside it.
    pub fn is_never_run(&self) -> bool {
        self.open.iter().any(|open| open.never)
    }

    /// Closes the innermost region.
    pub fn close(&mut self, varying: bool) -> Region {
        self.divergence -= u32::from(varying);
        self.top_pop()
    }

    /// Reopens a closed region to append to it.
    pub fn reopen(&mut self, region: Region, varying: bool) {
        self.divergence += u32::from(varying);
        let ended = flow::ends(&region);
        let mut written = HashSet::new();
        region.each_inst(&mut |v| {
            if let Inst::Write { var, .. } = self.kernel.def(v).inst {
                written.insert(var);
            }
        });
        self.open.push(Open { region, ended, written, ..Open::default() });
    }

    /// Appends a statement made of closed regions. The statement may have changed variables, and lanes that left it
    /// have seen earlier writes. If the known value of a variable is a constant and the statement does not write the
    /// variable, the value stays known, since using a constant takes no register.
    pub fn stmt(&mut self, stmt: Stmt) {
        let (mut known, written) =
            (std::mem::take(&mut self.top().known), std::mem::take(&mut self.top().pending));
        known.retain(|var, v| self.as_const(*v).is_some() && !written.contains(var));
        let top = self.top();
        top.known = known;
        top.unread.clear();
        if !top.ended {
            top.ended = flow::never_falls_through(&stmt);
            top.region.stmts.push(stmt);
        }
    }

    /// Appends a branch with two closed regions. If the condition is known and the same for all lanes, appends only the
    /// region that runs.
    pub fn branch(&mut self, cond: Value, varying: bool, then: Region, els: Region) {
        match self.as_const(cond).filter(|_| !varying) {
            Some(0) => els.stmts.into_iter().for_each(|stmt| self.stmt(stmt)),
            Some(_) => then.stmts.into_iter().for_each(|stmt| self.stmt(stmt)),
            None if varying && !self.is_dead() && if_conversion::run(self, cond, [&then, &els]) => {}
            None => self.stmt(Stmt::If { cond, then, els }),
        }
    }

    /// Appends a loop with closed regions. The head computes the condition; if there is no head, the body computes the
    /// condition for the next iteration. A loop with a small known trip count becomes straight-line code.
    pub fn looped(&mut self, head: Option<Region>, cond: Value, body: Region) {
        let pending = std::mem::take(&mut self.top().pending);
        if unroll::run(self, unroll::Loop { head: head.as_ref(), cond, body: &body }) {
            return;
        }
        self.top().pending = pending;
        self.stmt(match head {
            Some(head) => Stmt::While { head, cond, body },
            None => Stmt::DoWhile { body, cond },
        });
    }

    /// Returns a new label for a block.
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// Opens the body of a block. The body counts as divergent, since lanes may leave it and rejoin the others after
    /// the block.
    pub fn open_block(&mut self) -> Label {
        self.open(true);
        self.label()
    }

    /// Closes the body of a block and appends the block.
    pub fn close_block(&mut self, label: Label) {
        let body = self.close(true);
        self.stmt(Stmt::Block { label, body });
    }

    /// Appends an exit from the enclosing block `label`.
    pub fn exit(&mut self, label: Label) {
        self.stmt(Stmt::Exit(label));
    }

    /// True if no lane reaches the current point.
    pub fn is_dead(&self) -> bool {
        self.open.iter().any(|open| open.ended)
    }

    /// The number of varying conditions that enclose the current point.
    pub fn divergence(&self) -> u32 {
        self.divergence
    }

    /// The number of open regions, the kernel's body included.
    pub fn depth(&self) -> usize {
        self.open.len()
    }
}
