//! Names for the debugger: the expansion of a `let` tells the kernel the names that it binds and the end of their
//! scope.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Pat, Stmt};

use crate::expand::control::pattern;
use crate::expand::{Cx, lang};

/// Line and column at which the last statement ends, if known.
pub(in crate::expand) fn end(stmts: &[Stmt]) -> Option<(u32, u32)> {
    let last = stmts.last()?.to_token_stream().into_iter().last()?;
    let span = match last {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    };
    place(span)
}

/// The token's position, counted as [`std::panic::Location`] does. Outside rustc, as in the tests of this crate, tokens
/// have no position.
fn place(span: Span) -> Option<(u32, u32)> {
    if !proc_macro::is_available() {
        return None;
    }
    let place = span.unwrap().start();
    Some((place.line() as u32, place.column() as u32))
}

/// The names that a pattern binds by value.
fn names(pat: &Pat, out: &mut Vec<Ident>) {
    let mut each = |p: &Pat| names(p, out);
    match pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() && !pattern::is_constant(&p.ident) => {
            out.push(p.ident.clone());
        }
        Pat::Tuple(p) => p.elems.iter().for_each(each),
        Pat::TupleStruct(p) => p.elems.iter().for_each(each),
        Pat::Slice(p) => p.elems.iter().for_each(each),
        Pat::Struct(p) => p.fields.iter().for_each(|f| each(&f.pat)),
        Pat::Paren(p) => each(&p.pat),
        _ => {}
    }
}

impl Cx<'_> {
    /// Tells the kernel the names of a pattern. The code binds each name once more, so that rustc still detects unused
    /// names.
    pub fn named(&self, pat: &Pat, attrs: &[Attribute]) -> TokenStream {
        let Some((line, column)) = self.ends else { return TokenStream::new() };
        let mut bound = Vec::new();
        names(pat, &mut bound);
        let each = bound.into_iter().filter(|name| !name.to_string().starts_with('_')).map(|name| {
            let (text, shown) = (name.to_string(), lang("Shown", name.span()));
            quote_spanned! {name.span()=>
                #(#attrs)*
                let #name = #shown(#name).shown(#text, #line, #column);
            }
        });
        quote!(#(#each)*)
    }

    /// As [`Cx::named`], except for the names in `variables`.
    pub fn named_but(&self, pat: &Pat, variables: &[Ident]) -> TokenStream {
        let mut bound = Vec::new();
        names(pat, &mut bound);
        let rest = bound.into_iter().filter(|name| !variables.contains(name));
        rest.map(|name| self.named(&syn::parse_quote!(#name), &[])).collect()
    }

    /// A call to append to `Var::declare(…)`, which tells the kernel the variable's name.
    pub fn named_variable(&self, name: &Ident) -> TokenStream {
        let Some((line, column)) = self.ends else { return TokenStream::new() };
        let text = name.to_string();
        quote_spanned!(name.span()=> .named(#text, #line, #column))
    }
}
