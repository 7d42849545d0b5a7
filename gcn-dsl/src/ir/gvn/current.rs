//! The values of variables at the current point, where they are known.
//!
//! In inactive lanes a variable may have another value. These lanes become active again only at the end of a region,
//! where all facts that were found in the region are forgotten.

use super::super::{Inst, Kernel, Region, Stmt, Value, Variable};

/// The value of a variable, if it is known.
type Known = Option<Value>;

pub(super) struct Current {
    known: Vec<Known>,
    /// For each loop that has not been entered yet, the variables that it changes; the last loop comes first.
    loops: Vec<Vec<Variable>>,
    /// An undo log: for each change, the variable and its known value before the change.
    log: Vec<(Variable, Known)>,
    /// The variables that were written, in program order.
    written: Vec<Variable>,
}

/// A point to which the state can be reset.
pub(super) struct Mark {
    log: usize,
    written: usize,
}

impl Current {
    /// The state at the start of a body, where nothing is known.
    pub fn of(kernel: &Kernel, body: &Region) -> Current {
        let mut loops = Vec::new();
        written_in(kernel, body, &mut loops);
        loops.reverse();
        Current { known: vec![None; kernel.variables.len()], loops, log: Vec::new(), written: Vec::new() }
    }

    /// The value of the variable here, if it is known.
    pub fn get(&self, var: Variable) -> Known {
        self.known[var.0 as usize]
    }

    /// Records the value of a variable, found by a read.
    pub fn read(&mut self, var: Variable, value: Value) {
        self.set(var, Some(value));
    }

    /// Records a write.
    pub fn write(&mut self, var: Variable, known: Known) {
        self.set(var, known);
        self.written.push(var);
    }

    fn set(&mut self, var: Variable, known: Known) {
        let before = std::mem::replace(&mut self.known[var.0 as usize], known);
        self.log.push((var, before));
    }

    /// The current state, for [`Current::reset`] and [`Current::leave`].
    pub fn mark(&self) -> Mark {
        Mark { log: self.log.len(), written: self.written.len() }
    }

    /// Restores the facts that were known at `mark`.
    pub fn reset(&mut self, mark: &Mark) {
        for (var, before) in self.log.drain(mark.log..).rev() {
            self.known[var.0 as usize] = before;
        }
    }

    /// Leaves the statement that was entered at `mark`: the variables that were written since then become unknown.
    pub fn leave(&mut self, mark: &Mark) {
        self.reset(mark);
        let mut written = self.written.split_off(mark.written);
        // Remove duplicates, so that nested statements do not multiply the list.
        written.sort_unstable();
        written.dedup();
        written.iter().for_each(|var| self.set(*var, None));
        self.written.append(&mut written);
    }

    /// Enters the next loop: the variables that its earlier iterations may have changed become unknown.
    pub fn enter_loop(&mut self) {
        let changed = self.loops.pop().unwrap_or_default();
        changed.iter().for_each(|var| self.set(*var, None));
    }
}

/// The reads of variables, with their values where known.
pub(super) struct Reads {
    /// For each read whose value is known, in program order: the variable, the read and the value.
    known: Vec<(Variable, Value, Value)>,
    /// For each variable, true if it has a read whose value is unknown.
    others: Vec<bool>,
}

impl Reads {
    /// The state before any read.
    pub fn of(kernel: &Kernel) -> Reads {
        Reads { known: Vec::new(), others: vec![false; kernel.variables.len()] }
    }

    /// Records a read. `known` is the read's value, if it is known and its definition is visible there.
    pub fn add(&mut self, var: Variable, read: Value, known: Known) {
        match known {
            Some(known) => self.known.push((var, read, known)),
            None => self.others[var.0 as usize] = true,
        }
    }

    /// The reads and their values, for those variables of which every read has a known value.
    pub fn all_known(self) -> impl Iterator<Item = (Value, Value)> {
        let Reads { known, others } = self;
        known
            .into_iter()
            .filter(move |(var, ..)| !others[var.0 as usize])
            .map(|(_, read, known)| (read, known))
    }
}

/// The variables that `region` writes. For each loop in the region, in program order, the variables that the loop
/// writes are appended to `loops`.
fn written_in(kernel: &Kernel, region: &Region, loops: &mut Vec<Vec<Variable>>) -> Vec<Variable> {
    let mut written = Vec::new();
    for stmt in &region.stmts {
        let place = loops.len();
        if stmt.repeats() {
            loops.push(Vec::new());
        }
        let mut inner: Vec<Variable> =
            stmt.regions().into_iter().flat_map(|inner| written_in(kernel, inner, loops)).collect();
        if stmt.repeats() {
            inner.sort_unstable();
            inner.dedup();
            loops[place].clone_from(&inner);
        }
        written.append(&mut inner);
        if let Stmt::Inst(v) = stmt
            && let Inst::Write { var, .. } = kernel.def(*v).inst
        {
            written.push(var);
        }
    }
    written
}
