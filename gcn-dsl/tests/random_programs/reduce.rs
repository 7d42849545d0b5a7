//! Minimizes a failing program.

use super::ast::{Expr, Op, Place, Program, Stmt};
use super::typing;

/// The smallest program found for which `fails` returns true. Removes statements first, then parts of expressions,
/// until nothing more can be removed.
pub fn reduce(program: &Program, fails: impl Fn(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let mut progress = false;
        for step in [drop_statements, flatten_statements, shrink_expressions, shrink_shape] {
            progress |= pass(&mut best, step, &fails);
        }
        if !progress {
            return best;
        }
    }
}

/// Makes the `n`th change of a kind. Returns false if there is no such change.
type Change = fn(&mut Program, n: usize) -> bool;

fn pass(best: &mut Program, change: Change, fails: &impl Fn(&Program) -> bool) -> bool {
    let (mut n, mut progress) = (0, false);
    loop {
        let mut candidate = best.clone();
        if !change(&mut candidate, n) {
            return progress;
        }
        if candidate != *best && typing::is_valid(&candidate) && fails(&candidate) {
            *best = candidate;
            progress = true;
        } else {
            n += 1;
        }
    }
}

/// Calls `f` on each block until it returns true.
fn blocks(stmts: &mut Vec<Stmt>, f: &mut impl FnMut(&mut Vec<Stmt>) -> bool) -> bool {
    if f(stmts) {
        return true;
    }
    stmts.iter_mut().any(|s| s.bodies_mut().into_iter().any(|b| blocks(b, f)))
}

/// Removes statements, long runs of them first.
fn drop_statements(program: &mut Program, mut n: usize) -> bool {
    blocks(&mut program.body, &mut |block| {
        let mut len = block.len();
        while len > 0 {
            let starts = block.len() - len + 1;
            if n < starts {
                block.drain(n..n + len);
                return true;
            }
            n -= starts;
            len /= 2;
        }
        false
    })
}

/// Replaces a statement by its nested statements.
fn flatten_statements(program: &mut Program, mut n: usize) -> bool {
    blocks(&mut program.body, &mut |block| {
        for i in 0..block.len() {
            let bodies: Vec<Vec<Stmt>> = block[i].bodies().into_iter().cloned().collect();
            if n < bodies.len() {
                block.splice(i..=i, bodies[n].clone());
                return true;
            }
            n -= bodies.len();
        }
        false
    })
}

/// Calls `f` on each expression, outer ones first, until it returns true.
fn expressions(stmts: &mut [Stmt], f: &mut impl FnMut(&mut Expr) -> bool) -> bool {
    fn inside(e: &mut Expr, f: &mut impl FnMut(&mut Expr) -> bool) -> bool {
        f(e) || e.args.iter_mut().any(|a| inside(a, f))
    }
    stmts.iter_mut().any(|s| {
        s.exprs_mut().into_iter().any(|e| inside(e, f))
            || s.bodies_mut().into_iter().any(|b| expressions(b, f))
    })
}

/// Replaces an expression by a part of it or by a literal.
fn shrink_expressions(program: &mut Program, mut n: usize) -> bool {
    let types = program.clone();
    expressions(&mut program.body, &mut |e| {
        let Some(ty) = typing::ty(&types, e) else { return false };
        let mut candidates: Vec<Expr> = [0, 1]
            .into_iter()
            .map(|bits| Expr::leaf(Op::Lit(ty.elem, bits)))
            .filter(|_| !matches!(e.op, Op::Lit(_, 0 | 1)))
            .collect();
        candidates.extend(e.args.iter().cloned());
        candidates
            .retain(|c| typing::ty(&types, c).is_some_and(|t| t.elem == ty.elem && t.place <= ty.place));
        let wrap = |c: &Expr| typing::ty(&types, c).is_some_and(|t| t.place < ty.place) && e.op != Op::Splat;
        let splat = |c: &Expr| Expr::new(Op::Splat, [c.clone()]);
        let wrapped: Vec<Expr> =
            candidates.iter().filter(|c| ty.place == Place::Lane && wrap(c)).map(splat).collect();
        candidates.extend(wrapped);
        if n < candidates.len() {
            *e = candidates.swap_remove(n);
            return true;
        }
        n -= candidates.len();
        false
    })
}

/// Reduces the number of lanes and of arrays.
fn shrink_shape(program: &mut Program, n: usize) -> bool {
    match n {
        0 => program.groups = 1,
        1 => program.workgroup = 64,
        2 => _ = program.lds.pop(),
        3 => _ = program.private.pop(),
        _ => return false,
    }
    true
}
