//! Indices that the host computes. rustc infers the type of an `#[unroll] for` variable from its uses: an index of an
//! array of values is a `usize`, an index of memory a `u32`. A variable that indexes both is a `usize`, and is
//! converted for the memory.

use std::collections::HashSet;

use proc_macro2::Ident;
use syn::visit::Visit;
use syn::{Expr, FnArg, Pat, Signature, Type};

use crate::expand::types::habits;
use crate::syntax::name_of;

/// For an expression of names, numbers and operators: true if `of` returns true for each name that it knows. `None` for
/// other expressions, and if `of` knows none of the names.
pub(in crate::expand) fn all(e: &Expr, of: &impl Fn(&Expr) -> Option<bool>) -> Option<bool> {
    match e {
        Expr::Path(_) => of(e),
        Expr::Paren(p) => all(&p.expr, of),
        Expr::Group(g) => all(&g.expr, of),
        Expr::Binary(b) if !crate::operator::is_compound(&b.op) => match (&*b.left, &*b.right) {
            (Expr::Lit(_), e) | (e, Expr::Lit(_)) => all(e, of),
            (left, right) => Some(all(left, of)? | all(right, of)?),
        },
        _ => None,
    }
}

/// True for the integer types of Rust.
pub(in crate::expand) fn is_integer(ty: &Type) -> bool {
    let Type::Path(p) = ty else { return false };
    let of_host = |name: &str| name == "usize" || name == "isize";
    p.path
        .get_ident()
        .map(ToString::to_string)
        .is_some_and(|name| of_host(&name) || habits::is_integer(&name))
}

/// True for `usize` and `isize`.
pub(in crate::expand) fn is_size(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if p.path.is_ident("usize") || p.path.is_ident("isize"))
}

/// The names of the function's parameters that are memory.
pub(in crate::expand) fn memory_of(sig: &Signature) -> impl Iterator<Item = String> + '_ {
    sig.inputs.iter().filter_map(|input| {
        let FnArg::Typed(typed) = input else { return None };
        let Pat::Ident(name) = &*typed.pat else { return None };
        let memory = match crate::ty::bare(&typed.ty) {
            Type::Reference(r) => {
                matches!(crate::ty::bare(&r.elem), Type::Slice(s) if !crate::ty::is_handle(crate::ty::bare(&s.elem)))
            }
            Type::Ptr(_) => true,
            Type::Path(p) => p.path.segments.last().is_some_and(|s| s.ident == "Lds" || s.ident == "Private"),
            _ => false,
        };
        memory.then(|| name.ident.to_string())
    })
}

/// Collects what a variable indexes in a loop's body.
struct Uses<'u> {
    name: &'u Ident,
    memory: &'u HashSet<String>,
    of_memory: bool,
    of_others: bool,
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr_index(&mut self, e: &'ast syn::ExprIndex) {
        let is_own = |e: &Expr| name_of(e).map(|name| name == self.name);
        if all(&e.index, &is_own) == Some(true) {
            match root(&e.expr).is_some_and(|name| self.memory.contains(&name.to_string())) {
                true => self.of_memory = true,
                false => self.of_others = true,
            }
        }
        syn::visit::visit_expr_index(self, e);
    }
}

/// The name of the indexed object, if `e` is an element of one.
fn root(e: &Expr) -> Option<&Ident> {
    match e {
        Expr::Index(i) => root(&i.expr),
        Expr::Paren(p) => root(&p.expr),
        e => name_of(e),
    }
}

/// True if the loop's variable indexes both memory and something else.
pub(in crate::expand) fn is_mixed(name: &Ident, body: &syn::Block, memory: &HashSet<String>) -> bool {
    let mut uses = Uses { name, memory, of_memory: false, of_others: false };
    uses.visit_block(body);
    uses.of_memory && uses.of_others
}
