//! Properties of expressions and patterns that follow from their syntax.

use proc_macro2::Ident;
use syn::{Expr, Pat, Stmt};

use crate::attrs;

/// The name, if the expression is a plain name.
pub(crate) fn name_of(e: &Expr) -> Option<&Ident> {
    match e {
        Expr::Path(p) if p.qself.is_none() => p.path.get_ident(),
        Expr::Paren(p) => name_of(&p.expr),
        _ => None,
    }
}

/// The name that a pattern binds, if the pattern is a plain name.
pub(crate) fn bound_name(pat: &Pat) -> Option<&Ident> {
    match pat {
        Pat::Ident(p) => Some(&p.ident),
        _ => None,
    }
}

/// True if no lane continues after these statements, as far as syntax shows.
pub(crate) fn diverges(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|s| matches!(s, Stmt::Expr(e, _) if leaves(e)))
}

/// True if no lane continues after the expression, as far as syntax shows.
pub(crate) fn leaves(e: &Expr) -> bool {
    match e {
        Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) => true,
        Expr::Paren(p) => leaves(&p.expr),
        Expr::Block(b) if b.label.is_none() => {
            !b.attrs.iter().any(attrs::is_comptime) && diverges(&b.block.stmts)
        }
        Expr::If(e) => {
            e.else_branch.as_ref().is_some_and(|(_, els)| diverges(&e.then_branch.stmts) && leaves(els))
        }
        Expr::Match(m) => !m.arms.is_empty() && m.arms.iter().all(|a| leaves(&a.body)),
        _ => false,
    }
}
