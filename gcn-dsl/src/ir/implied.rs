//! Removes branches whose condition is known, since an enclosing branch has tested it.
//!
//! Device functions test their bounds themselves, so that `if i < n { f(i) }` tests `i < n` again inside `f`. Value
//! numbering has made the two conditions one value; in each side of a branch, its condition is a constant.

use hashbrown::HashMap;

use super::{Kernel, Region, Stmt, Value};

/// Replaces such branches of `kernel` by the side that runs. Returns true if it found one.
pub fn run(kernel: &mut Kernel) -> bool {
    let mut found = false;
    kernel.rewrite(|_, body| region(body, &mut HashMap::new(), &mut found));
    found
}

/// `known` has the conditions that are the same in all lanes that run the region.
fn region(around: &mut Region, known: &mut HashMap<Value, bool>, found: &mut bool) {
    around.rebuild(|mut stmt, out| {
        // No lane passes an exit, which may have been the last statement of a branch that became part of this region.
        if let Some(Stmt::Exit(_)) = out.last() {
            return;
        }
        if let Stmt::If { cond, then, els } = &mut stmt {
            if let Some(&holds) = known.get(cond) {
                let mut side = std::mem::take(if holds { then } else { els });
                region(&mut side, known, found);
                out.append(&mut side.stmts);
                *found = true;
                return;
            }
            for (side, holds) in [(then, true), (els, false)] {
                known.insert(*cond, holds);
                region(side, known, found);
            }
            known.remove(cond);
        } else {
            stmt.regions_mut().into_iter().for_each(|inner| region(inner, known, found));
        }
        out.push(stmt);
    });
}
