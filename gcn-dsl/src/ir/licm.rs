//! Takes integer arithmetic that is the same on each trip out of loops: addresses, mostly.
//!
//! Arithmetic has no effect, so that it may also run where a loop makes no trip. Scalar loads go along: they are checked
//! against the slice's bounds wherever they run, and nothing writes what they read.

use hashbrown::HashSet;

use super::{Bin, Inst, Kernel, Region, Stmt, Value};
use crate::scalar::Elem;

/// Moves what does not change out of the loops of `kernel`.
pub fn run(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    region(kernel, &mut body);
    kernel.body = body;
}

/// Inner loops first, so that what leaves them may go on.
fn region(kernel: &Kernel, region_: &mut Region) {
    let mut stmts = Vec::with_capacity(region_.stmts.len());
    for mut stmt in std::mem::take(&mut region_.stmts) {
        for inner in stmt.regions_mut() {
            region(kernel, inner);
        }
        let repeats = matches!(stmt, Stmt::While { .. } | Stmt::DoWhile { .. } | Stmt::Loop { .. });
        if repeats {
            let mut inside = HashSet::new();
            for inner in stmt.regions() {
                inner.each_inst(&mut |v| _ = inside.insert(v));
            }
            for inner in stmt.regions_mut() {
                hoist(kernel, inner, &mut inside, &mut stmts);
            }
        }
        stmts.push(stmt);
    }
    region_.stmts = stmts;
}

/// Moves from the loop's own statements, not from branches within, what depends on nothing inside.
fn hoist(kernel: &Kernel, region: &mut Region, inside: &mut HashSet<Value>, out: &mut Vec<Stmt>) {
    let mut rest = Vec::with_capacity(region.stmts.len());
    for mut stmt in std::mem::take(&mut region.stmts) {
        match &mut stmt {
            Stmt::Inst(v) if moves(kernel, *v) && !depends(kernel, *v, inside) => {
                inside.remove(v);
                out.push(stmt);
                continue;
            }
            Stmt::Block { body, .. } => hoist(kernel, body, inside, out),
            _ => {}
        }
        rest.push(stmt);
    }
    region.stmts = rest;
}

fn depends(kernel: &Kernel, v: Value, inside: &HashSet<Value>) -> bool {
    let mut depends = false;
    kernel.def(v).inst.operands(|operand| depends |= inside.contains(&operand));
    depends
}

fn moves(kernel: &Kernel, v: Value) -> bool {
    let ty = kernel.ty(v);
    let integer = ty.count == 1 && matches!(ty.elem, Elem::I32 | Elem::U32 | Elem::I64 | Elem::U64);
    match &kernel.def(v).inst {
        Inst::Const(_) => true,
        Inst::Splat(_) | Inst::Bitcast(_) | Inst::Cast(_) => integer,
        // Division takes many instructions, and is worth its place where it stands only if it runs.
        Inst::Bin(op, ..) => integer && !matches!(op, Bin::Div | Bin::Rem),
        Inst::LoadUniform { resource, .. } => kernel.read_only.contains(resource),
        _ => false,
    }
}
