//! Sums that overwrite a variable move down to the write.
//!
//! A value that is written to a variable is computed in the variable's register, unless the old value is still needed after it. If it
//! is computed earlier than that, as in `let t = x + 1.0; y = x * y; x = t`, the write costs a copy. Here such a value moves down to
//! the write, past the last readers of the old one.

use super::{Inst, Kernel, Region, Stmt, Value, Variable};

/// How far a value moves, in statements. Its operands live on until there.
const FARTHEST: usize = 32;

/// Moves values of `kernel` to where they are written.
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

/// Where the value is computed that moves to the write at `at`, if it does.
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
        // Only straight code is looked through.
        let Stmt::Inst(v) = stmts[from] else { return None };
        if v == value {
            return needed.then_some(from);
        }
        match kernel.def(v).inst {
            // The operand would need a register of its own.
            Inst::Write { var, .. } if sources.contains(&var) => return None,
            // The user's order, and what may set the mode of floats.
            Inst::Schedule(_) | Inst::Machine(_) => return None,
            ref inst => inst.operands(|operand| needed |= read_from(operand) == Some(var)),
        }
    }
    None
}
