//! `&mut self`: a device method that changes the variable it is called on.
//!
//! Such a method is a Rust method with `&mut self` on the value: inside, `self` is a variable, whose value goes back at the end.
//! A call takes the variable's value, calls the method on it and assigns it. A call on a value that is not a variable would lose
//! what the method changes, so the method has one more parameter, which only calls on variables give.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprMethodCall, UnOp};

use super::{Cx, Kind, lang};

/// The name of `self` in the expansion of a method with `&mut self`.
pub(super) fn name(at: Span) -> Ident {
    Ident::new("__gcn_self", at)
}

/// The body with that name for `self`.
pub(super) fn renamed(block: &Block) -> syn::Result<Block> {
    syn::parse2(tokens(block.to_token_stream()))
}

fn tokens(from: TokenStream) -> TokenStream {
    from.into_iter()
        .map(|token| match token {
            TokenTree::Ident(i) if i == "self" => TokenTree::Ident(name(i.span())),
            TokenTree::Group(g) => {
                let mut group = Group::new(g.delimiter(), tokens(g.stream()));
                group.set_span(g.span());
                TokenTree::Group(group)
            }
            other => other,
        })
        .collect()
}

impl Cx<'_> {
    /// The call of a method that changes its receiver, if it is one: `(&mut x).f()`, or `x.f()` of a method that is declared in
    /// the same macro call.
    pub(super) fn mutating_call(&mut self, e: &ExprMethodCall) -> Option<TokenStream> {
        let receiver = match strip(&e.receiver) {
            Expr::Reference(r) if r.mutability.is_some() => strip(&r.expr),
            receiver if self.known.mutating.contains(&e.method.to_string()) => receiver,
            _ => return None,
        };
        let receiver = match receiver {
            Expr::Unary(u) if matches!(u.op, UnOp::Deref(_)) && self.lendable(receiver).is_some() => {
                strip(&u.expr)
            }
            other => other,
        };
        let root = root(receiver).filter(|name| matches!(self.kind(name), Some(Kind::Variable | Kind::Lent)));
        if root.is_none() {
            let what = format!(
                "`{}` changes the value that it is called on (`&mut self`), so that has to be a variable or a part of one: \
                 declare it with `let mut`",
                e.method
            );
            self.errors.at(&e.receiver, what);
            return Some(TokenStream::new());
        }
        let span = e.method.span();
        let [value, result] = ["receiver", "result"].map(|what| self.fresh(what, span));
        let before = self.expr(receiver);
        let (method, turbofish, proof) =
            (&e.method, &e.turbofish, lang("TheReceiverWrittenAsMutBorrow", span));
        let args = self.arguments(&self.as_taken(&e.method, &e.args));
        // A method looks through `&mut`, as in Rust.
        let lent = super::place::name_of(receiver).filter(|name| self.kind(name) == Some(Kind::Lent));
        let place: Expr = match lent {
            Some(name) => syn::parse_quote_spanned!(name.span()=> *#name),
            None => receiver.clone(),
        };
        let after = self.assign_value(&place, quote_spanned!(span=> #value), span);
        let args = quote_spanned!(e.paren_token.span.join()=> (#proof::new(), #(#args),*));
        // In parentheses: an operator may follow at the start of a statement.
        Some(quote_spanned!(e.span()=> ({
            let mut #value = #before;
            let #result = #value.#method #turbofish #args;
            #after;
            #result
        })))
    }
}

fn strip(e: &Expr) -> &Expr {
    match e {
        Expr::Paren(p) => strip(&p.expr),
        Expr::Group(g) => strip(&g.expr),
        other => other,
    }
}

/// The variable whose part an expression is.
fn root(e: &Expr) -> Option<&Ident> {
    match e {
        Expr::Field(e) => root(&e.base),
        Expr::Index(e) => root(&e.expr),
        Expr::Paren(e) => root(&e.expr),
        _ => super::place::name_of(e),
    }
}
