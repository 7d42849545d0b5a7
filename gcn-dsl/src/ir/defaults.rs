//! If one side of a branch only writes values that were computed before the branch, moves these writes to before the
//! branch.
//!
//! For `let x = if i > 0 { a[i - 1] } else { 0 }`, the result is first set to 0 in all lanes, and the loaded value then
//! overwrites it in some of them. The branch is left with one side, and setting the register in the other lanes need
//! not wait for the load.

use hashbrown::HashSet;

use super::{Inst, Kernel, Region, Stmt, Value, Variable};

/// Moves such writes in the branches of `kernel`.
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
                // The variable is read only after the branch, and only in lanes that execute this write.
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

/// The writes of `els`. `None` unless all of these hold: `els` contains nothing else, all values come from before the
/// branch, all variables only merge the values of the two sides, and `then` does nothing with these variables except
/// write them.
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
