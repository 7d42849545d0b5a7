//! `impl AddAssign`: a kernel computes `a += b` as `a = a + b`, so an `impl Add` is needed.

use std::collections::HashSet;

use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, FnArg, Ident, parse_quote_spanned};

use super::{DeviceImpl, Item};
use crate::operator::{Sides, of_assignment, of_impl};
use crate::rename::renamed;

/// Turns every `impl AddAssign` into an `impl Add`. If the user has also written an `impl Add` for the same two types,
/// the `impl AddAssign` is dropped, since in any reasonable program both compute the same.
pub(super) fn as_operators(items: &mut Vec<Item>) {
    let plain: HashSet<Sides> = items.iter().filter_map(|item| sides(item, of_impl)).collect();
    items.retain(|item| sides(item, of_assignment).is_none_or(|operator| !plain.contains(&operator)));
    for item in items {
        if let Some((operator, _)) = sides(item, of_assignment)
            && let Item::Impl(found) = item
        {
            as_operator(found, &operator);
        }
    }
}

fn sides(item: &Item, operator: fn(&syn::Path, &syn::Type) -> Option<Sides>) -> Option<Sides> {
    let Item::Impl(found) = item else { return None };
    let (_, path, _) = found.frame.trait_.as_ref()?;
    operator(path, &found.frame.self_ty)
}

fn as_operator(found: &mut DeviceImpl, operator: &str) {
    let ty = found.frame.self_ty.clone();
    let Some((_, path, _)) = &mut found.frame.trait_ else { return };
    let Some(last) = path.segments.last() else { return };
    let (at, arguments) = (last.ident.span(), &last.arguments);
    let name = Ident::new(operator, at);
    *path = parse_quote_spanned!(at=> ::std::ops::#name #arguments);
    found.frame.items.push(parse_quote_spanned!(at=> type Output = #ty;));
    for function in &mut found.functions {
        let Some(FnArg::Receiver(receiver)) = function.sig.inputs.first_mut() else { continue };
        *receiver = parse_quote_spanned!(receiver.span()=> self);
        function.sig.ident = Ident::new(&operator.to_lowercase(), function.sig.ident.span());
        function.sig.output = parse_quote_spanned!(at=> -> #ty);
        if let Ok(body) = &function.body {
            function.body = changed(body);
        }
    }
}

/// The body of the assignment with a variable in place of `self`. The value of the new body is that variable.
fn changed(body: &Block) -> syn::Result<Block> {
    let at = body.span();
    let variable = Ident::new("__gcn_left", at);
    let mut body = renamed(body, &variable.to_string())?;
    Place(&variable).visit_block_mut(&mut body);
    let statements = &body.stmts;
    syn::parse2(quote_spanned!(at=> { let mut #variable = self; { #(#statements)* } #variable }))
}

/// Replaces `*variable` by the variable itself.
struct Place<'a>(&'a Ident);

impl VisitMut for Place<'_> {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        visit_mut::visit_expr_mut(self, e);
        if let Expr::Unary(unary) = e
            && matches!(unary.op, syn::UnOp::Deref(_))
            && matches!(&*unary.expr, Expr::Path(path) if path.path.is_ident(self.0))
        {
            *e = (*unary.expr).clone();
        }
    }
}
