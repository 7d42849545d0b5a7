//! Where the variables begin that branches and exits write.
//!
//! The variable that takes the values of an `if`, a `loop` or a block is written in each branch, by a part of the lanes: such a
//! write keeps the other lanes' value, and so reads the variable, which would make it live from the kernel's entry on. It has no value
//! before the statement that all its accesses have in common, and is said to be undefined there.

use hashbrown::HashMap;

use crate::ir::{Inst, Kernel, Region, Stmt, Variable};

/// Statements by their address, with the variables that are undefined before them.
pub(super) type Undefined = HashMap<*const Stmt, Vec<Variable>>;

/// The variables whose first access keeps the value of some lanes, by the statement before which they begin.
pub(super) fn before(kernel: &Kernel) -> Undefined {
    let mut walk = Walk { kernel, path: Vec::new(), begins: vec![None; kernel.variables.len()] };
    walk.region(&kernel.body);
    let mut found = Undefined::new();
    for (i, begin) in walk.begins.into_iter().enumerate() {
        if let Some(Begin { first, common, keeps: true }) = begin {
            // The statement of the common region in which the first access is.
            found.entry(first[common.min(first.len() - 1)]).or_default().push(Variable(i as u32));
        }
    }
    found
}

/// Where a variable is first accessed, and what all accesses have in common.
#[derive(Clone)]
struct Begin {
    /// The statements around the first access, outermost first, and itself.
    first: Vec<*const Stmt>,
    /// How many of them are around all accesses.
    common: usize,
    /// The first access is a write that keeps lanes.
    keeps: bool,
}

struct Walk<'k> {
    kernel: &'k Kernel,
    path: Vec<*const Stmt>,
    begins: Vec<Option<Begin>>,
}

impl Walk<'_> {
    fn region(&mut self, region: &Region) {
        for stmt in &region.stmts {
            self.path.push(stmt);
            if let Stmt::Inst(v) = stmt {
                match self.kernel.def(*v).inst {
                    Inst::Read(var) => self.access(var, false),
                    Inst::Write { var, keep, .. } => self.access(var, keep),
                    _ => {}
                }
            }
            stmt.regions().into_iter().for_each(|r| self.region(r));
            self.path.pop();
        }
    }

    fn access(&mut self, var: Variable, keeps: bool) {
        let path = &self.path;
        match &mut self.begins[var.0 as usize] {
            Some(begin) => {
                let same = begin.first.iter().zip(path).take_while(|(a, b)| a == b).count();
                begin.common = begin.common.min(same);
            }
            begin => *begin = Some(Begin { first: path.clone(), common: path.len(), keeps }),
        }
    }
}
