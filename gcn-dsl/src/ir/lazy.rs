//! Evaluates code without a branch if all lanes may run it, for lazily evaluated expressions.
//!
//! For the DSL's `&&`, `||` and closures of `Option`, a branch computes values that only some lanes need. If the branch
//! is short and contains no effect, memory read, division or instruction that depends on the set of active lanes, its
//! instructions move to the current region: a branch would cost more, and would hide values that could be shared.

use hashbrown::HashMap;

use super::build::Builder;
use super::build::if_conversion::{BRANCH_FROM, append, cost};
use super::{Bin, Inst, Kernel, Region, Stmt, Value, Variable};
use crate::scalar::Elem;

impl Builder {
    /// If all lanes may run the instructions of a closed region that compute `values`, moves them to the current region
    /// and returns the new values; `None` otherwise.
    pub fn flattened(&mut self, region: &Region, values: &[Value]) -> Option<Vec<Value>> {
        if !is_for_all(self.kernel(), region) {
            return None;
        }
        let mut renamed = HashMap::new();
        for stmt in &region.stmts {
            if let Stmt::Inst(v) = stmt {
                append(self, *v, &mut renamed);
            }
        }
        Some(values.iter().map(|v| renamed.get(v).copied().unwrap_or(*v)).collect())
    }

    /// Declares a variable for each value that a branch computes; `None` for undefined values. Variables for conditions
    /// are set to `otherwise`, or `false`, before the branch, because a lane mask is written as a whole.
    pub fn joined_variables(&mut self, values: &[Value], otherwise: Option<Value>) -> Vec<Option<Variable>> {
        let joined = |b: &mut Builder, v: Value| {
            let ty = b.kernel().ty(v);
            if b.is_undefined(v) {
                return None;
            }
            if ty.elem != Elem::Bool {
                return Some(b.declare_joined(ty));
            }
            let (var, before) = (b.declare(ty), otherwise.unwrap_or_else(|| b.constant(0, ty)));
            b.write(var, before, None);
            Some(var)
        };
        values.iter().map(|v| joined(self, *v)).collect()
    }
}

/// True if all lanes may run the region, and it is short.
fn is_for_all(kernel: &Kernel, region: &Region) -> bool {
    let mut computed = 0;
    region.stmts.iter().all(|stmt| {
        let Stmt::Inst(v) = *stmt else { return false };
        let inst = &kernel.def(v).inst;
        let free = match inst {
            Inst::Read(_) => true,
            Inst::Bin(Bin::Div | Bin::Rem, ..) => kernel.ty(v).elem.is_float(),
            _ => inst.is_pure(),
        };
        computed += if free { cost(kernel, v).unwrap_or(2 * u32::from(kernel.ty(v).dwords())) } else { 0 };
        free && computed < BRANCH_FROM
    })
}
