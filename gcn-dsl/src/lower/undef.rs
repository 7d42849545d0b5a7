//! Determines where the live ranges of joined variables start. A joined variable merges the results of several branches
//! or exits.
//!
//! Such a variable is written in each branch, by the lanes that take the branch. A masked write keeps the other lanes'
//! values and therefore reads the variable, which would make it live from the kernel's entry on. But the variable has
//! no value before the innermost statement that encloses all its accesses. So it is marked as undefined there, which
//! starts its live range.

use hashbrown::HashMap;

use crate::ir::{Inst, Kernel, Region, Stmt, Variable};

/// For each statement, by its address: the variables that are undefined before it.
pub(super) type Undefined = HashMap<*const Stmt, Vec<Variable>>;

/// The joined variables of `kernel`, by the statement before which their live ranges start.
pub(super) fn before(kernel: &Kernel) -> Undefined {
    let begins = kernel.joined.iter().map(|var| (*var, None)).collect();
    let mut walk = Walk { kernel, path: Vec::new(), begins };
    walk.region(&kernel.body);
    let mut found = Undefined::new();
    for var in &kernel.joined {
        if let Some(Some(begin)) = walk.begins.remove(var) {
            // In the innermost region that contains all accesses, take the statement that contains the first access.
            found.entry(begin.first[begin.common.min(begin.first.len() - 1)]).or_default().push(*var);
        }
    }
    found
}

/// The first access of a variable, and the nesting that all its accesses have in common.
struct Begin {
    /// The statements that enclose the first access, outermost first, and the access itself.
    first: Vec<*const Stmt>,
    /// The number of these statements that also enclose all other accesses.
    common: usize,
}

struct Walk<'k> {
    kernel: &'k Kernel,
    path: Vec<*const Stmt>,
    begins: HashMap<Variable, Option<Begin>>,
}

impl Walk<'_> {
    fn region(&mut self, region: &Region) {
        for stmt in &region.stmts {
            self.path.push(stmt);
            if let Stmt::Inst(v) = stmt
                && let Inst::Read(var) | Inst::Write { var, .. } = self.kernel.def(*v).inst
            {
                self.access(var);
            }
            stmt.regions().into_iter().for_each(|r| self.region(r));
            self.path.pop();
        }
    }

    fn access(&mut self, var: Variable) {
        let path = &self.path;
        match self.begins.get_mut(&var) {
            Some(Some(begin)) => {
                // The common prefix of two paths is the nesting that encloses both accesses.
                let same = begin.first.iter().zip(path).take_while(|(a, b)| a == b).count();
                begin.common = begin.common.min(same);
            }
            Some(begin) => *begin = Some(Begin { first: path.clone(), common: path.len() }),
            None => {}
        }
    }
}
