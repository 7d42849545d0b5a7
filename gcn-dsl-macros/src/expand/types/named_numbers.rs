//! In `let n = 64;` followed by `for k in 0..n` or `let mut i = n / 2;`, Rust infers the type of `n` from the uses of
//! `k` and `i`. The expansion infers types only for literals, so in such expressions it replaces the name by the
//! number.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Pat, parse_quote_spanned};

use crate::expand::types::typed::{inferred, is_bare_number};
use crate::expand::{Cx, Kind};
use crate::syntax::name_of;

struct Numbers<'c, 'e> {
    of: &'c Cx<'e>,
    used: Vec<Ident>,
}

impl VisitMut for Numbers<'_, '_> {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        let name = name_of(e).cloned();
        let number = name.as_ref().and_then(|name| self.of.name(name)?.number.clone());
        if let (Some(name), Some(number)) = (name, number) {
            *e = parse_quote_spanned!(name.span()=> (#number));
            self.used.push(name);
        } else {
            visit_mut::visit_expr_mut(self, e);
        }
    }
}

impl Cx<'_> {
    /// Records the untyped number that `let pattern = number;` names.
    pub(in crate::expand) fn name_number(&mut self, pat: &Pat, number: &Expr) {
        if let (Pat::Ident(p), Some(last)) = (pat, self.names.last_mut())
            && p.mutability.is_none()
            && p.ident == last.text
            && last.kind == Kind::Value
            && is_bare_number(number)
        {
            last.number = Some(number.clone());
        }
    }

    /// Records that `let name = 4 * N;` declares a host value that may be a `usize`.
    pub(in crate::expand) fn name_size(&mut self, pat: &Pat, value: &Expr) {
        let of_size = |e: &Expr| self.may_be_size(e).then_some(true);
        let size = crate::expand::types::counted::all(value, &of_size) == Some(true);
        if let (Pat::Ident(p), true, Some(last)) = (pat, size, self.names.last_mut()) {
            last.size = p.mutability.is_none() && p.ident == last.text;
        }
    }

    /// Records that the index in `for (i, e) in v.iter().enumerate()` is a `usize`.
    pub(in crate::expand) fn enumerated(&mut self, pat: &Pat, of: &Expr) {
        let (Pat::Tuple(pair), Expr::MethodCall(call)) = (pat, of) else { return };
        let Some(Pat::Ident(number)) = pair.elems.first().filter(|_| call.method == "enumerate") else {
            return;
        };
        if let Some(name) = self.names.iter_mut().rev().find(|name| number.ident == name.text) {
            name.size = true;
        }
    }

    /// As [`inferred`], but also replaces names of untyped numbers by the numbers. Also returns code that uses these
    /// names, so that rustc does not report them as unused.
    pub(in crate::expand) fn inferred_by_name(&self, e: &Expr) -> (Expr, TokenStream) {
        let (mut numbers, mut with) = (Numbers { of: self, used: Vec::new() }, e.clone());
        numbers.visit_expr_mut(&mut with);
        if numbers.used.is_empty() || !is_bare_number(&with) {
            return (inferred(e), TokenStream::new());
        }
        let uses = numbers.used.iter().map(|name| quote_spanned!(name.span()=> let _ = &#name;));
        (inferred(&with), uses.collect())
    }
}
