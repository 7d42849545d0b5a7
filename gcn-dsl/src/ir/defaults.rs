//! The side of a branch that only chooses values which are known before it goes before it.
//!
//! Of `let x = if i > 0 { a[i - 1] } else { 0 }` the variable of the result is 0 in all lanes, and then what was loaded in some of them:
//! the branch has one side, and nothing waits for the load in order to overwrite its register in the other lanes.

use hashbrown::HashSet;

use super::{Inst, Kernel, Region, Stmt, Value, Variable};

/// Moves such sides of the branches of `kernel`.
pub fn run(kernel: &mut Kernel) {
    let joined: HashSet<Variable> = kernel.joined.iter().copied().collect();
    kernel.rewrite(|kernel, body| region(kernel, &joined, body));
}

fn region(kernel: &mut Kernel, joined: &HashSet<Variable>, around: &mut Region) {
    around.rebuild(|mut stmt, out| {
        stmt.regions_mut().into_iter().for_each(|inner| region(kernel, joined, inner));
        if let Stmt::If { then, els, .. } = &mut stmt
            && let Some(writes) = defaults(kernel, joined, then, els)
        {
            for write in &writes {
                // Whoever reads the variable reads it after the branch, in these lanes.
                if let Inst::Write { keep, .. } = &mut kernel.values[write.0 as usize].inst {
                    *keep = false;
                }
            }
            out.extend(writes.into_iter().map(Stmt::Inst));
            els.stmts.clear();
        }
        out.push(stmt);
    });
}

/// The writes of which `els` consists, if each is of a value from before the branch to a variable that only takes the values of its
/// sides, and of which the other side makes no use but to write it.
fn defaults(kernel: &Kernel, joined: &HashSet<Variable>, then: &Region, els: &Region) -> Option<Vec<Value>> {
    if els.stmts.is_empty() || then.stmts.is_empty() {
        return None;
    }
    let mut read = HashSet::new();
    then.each_inst(&mut |v| {
        if let Inst::Read(var) = kernel.def(v).inst {
            read.insert(var);
        }
    });
    let write = |stmt: &Stmt| match stmt {
        Stmt::Inst(v) => match kernel.def(*v).inst {
            Inst::Write { var, .. } if joined.contains(&var) && !read.contains(&var) => Some(*v),
            _ => None,
        },
        _ => None,
    };
    els.stmts.iter().map(write).collect()
}
