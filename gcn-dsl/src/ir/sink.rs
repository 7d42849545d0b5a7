//! Moves the computation of a value that overwrites a variable down to the write.
//!
//! The written value is computed directly in the variable's register, unless the old value is used after that point. In
//! `let t = x + 1.0; y = x * y; x = t` the value is computed before the last use of the old value, so the write costs a
//! copy. This pass moves the computation down to the write, past the last readers of the old value.

use super::{Inst, Kernel, Region, Stmt, Value, Variable};

/// The largest distance, in statements, over which a computation is moved. The bound matters because the operands stay
/// live until the new position.
const FARTHEST: usize = 32;

/// Sinks values of `kernel` to their writes.
pub fn run(kernel: &mut Kernel) {
    let readers = kernel.readers();
    kernel.rewrite(|kernel, body| region(kernel, &readers, body));
}

fn region(kernel: &Kernel, readers: &[u32], region_: &mut Region) {
    for at in 0..region_.stmts.len() {
        for inner in region_.stmts[at].regions_mut() {
            region(kernel, readers, inner);
        }
        if let Some(from) = sinks(kernel, readers, &region_.stmts, at) {
            region_.stmts[from..at].rotate_left(1);
        }
    }
}

/// The index of the instruction that can be moved down to the write at index `at`; `None` if there is none.
fn sinks(kernel: &Kernel, readers: &[u32], stmts: &[Stmt], at: usize) -> Option<usize> {
    let Stmt::Inst(write) = stmts[at] else { return None };
    let Inst::Write { var, value, .. } = kernel.def(write).inst else { return None };
    let computes = matches!(kernel.def(value).inst, Inst::Bin(..) | Inst::Fma(..));
    if !computes || readers[value.0 as usize] != 1 {
        return None;
    }
    let mut operands = Vec::new();
    kernel.def(value).inst.operands(|operand| operands.push(operand));
    let read_from = |v: Value| match kernel.def(v).inst {
        Inst::Read(var) => Some(var),
        _ => None,
    };
    let sources: Vec<Variable> = operands.into_iter().filter_map(read_from).collect();
    let mut needed = false;
    for from in (at.saturating_sub(FARTHEST)..at).rev() {
        // Move only across instructions without control flow.
        let Stmt::Inst(v) = stmts[from] else { return None };
        if v == value {
            return needed.then_some(from);
        }
        match kernel.def(v).inst {
            // The operand would have to be kept in another register, because this statement overwrites its variable.
            Inst::Write { var, .. } if sources.contains(&var) => return None,
            // The user's order must be kept, and machine instructions that the kernel names may change the
            // floating-point mode.
            Inst::Schedule(_) | Inst::Machine(_) => return None,
            ref inst => inst.operands(|operand| needed |= read_from(operand) == Some(var)),
        }
    }
    None
}
