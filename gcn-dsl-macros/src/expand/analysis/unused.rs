//! rustc's lints about variables, for a body that rustc does not see as it is written.
//!
//! In the expansion every variable is read and written by calls of the language, so that lints about them say nothing true and
//! are off. What they would find is found here, on the body as written: variables that nobody reads, values that nobody reads,
//! a `mut` without need. For each, the expansion has a few tokens of plain Rust with that mistake and the user's places, and
//! rustc's own lint reports it, under the user's lint levels. A body without such mistakes costs rustc nothing.

mod events;
mod read;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, Block};

use crate::parse::KernelFn;

/// A variable of the body.
pub(in crate::expand) struct Variable {
    name: Ident,
    /// The place of its `mut`.
    mutable: Option<Span>,
    form: Form,
    /// How often it is read and written; its first value does not count.
    reads: usize,
    writes: usize,
    /// Something changes it that is not an assignment.
    lent: bool,
    /// Something uses it that is not understood here.
    hidden: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::expand) enum Form {
    /// `let x`, `(x, y)`.
    Plain,
    /// `P { x }`, whose name is the field's.
    Field,
    Parameter,
}

impl Variable {
    fn is_watched(&self) -> bool {
        !self.hidden && !self.name.to_string().starts_with('_')
    }
}

/// The lints' names.
const LINTS: [&str; 4] = ["unused_variables", "unused_mut", "unused_assignments", "unused"];

/// True for a lint level that is about what is found here.
pub(crate) fn is_level(attr: &Attribute) -> bool {
    let level = ["allow", "expect", "warn", "deny"].iter().any(|name| attr.path().is_ident(name));
    level
        && quote!(#attr)
            .to_string()
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|w| LINTS.contains(&w))
}

/// The code on which rustc's lints say what is wrong with the variables of `function`.
pub(crate) fn lints(function: &KernelFn, body: &Block) -> TokenStream {
    let (variables, event) = read::body(function, body);
    let dead = events::dead(&event, variables.len());
    let mut found = Vec::new();
    for (id, variable) in variables.iter().enumerate().filter(|(_, v)| v.is_watched()) {
        let dead = dead.iter().filter(|w| w.variable == id && variable.reads > 0);
        // What is changed in a way that is not an assignment may be read in such a way too.
        let dead = dead.filter(|_| !variable.lent).filter(|w| !(w.first && variable.form == Form::Parameter));
        found.extend(of_variable(variable));
        found.extend(dead.map(value_not_read));
    }
    if found.is_empty() {
        return TokenStream::new();
    }
    let attrs = function.attrs.iter().filter(|a| is_level(a) || a.path().is_ident("cfg"));
    quote! {
        #(#attrs)*
        const _: fn() = || {
            #({ #found })*
        };
    }
}

fn of_variable(v: &Variable) -> Option<TokenStream> {
    let (name, at) = (&v.name, v.name.span());
    let needless = v.mutable.filter(|_| v.writes == 0 && !v.lent);
    let word = v.mutable.map(|span| quote_spanned!(span=> mut));
    match (v.reads, v.writes) {
        (0, 0) if v.lent => None,
        (0, 0) if v.form == Form::Field => Some(quote_spanned! {at=>
            struct Fields { #name: u8 }
            let Fields { #word #name } = Fields { #name: 0 };
        }),
        (0, 0) => Some(quote_spanned!(at=> let #word #name = 0u8;)),
        (0, _) => Some(quote_spanned! {at=>
            #[allow(unused_assignments)]
            let #word #name = 0u8;
            #[allow(unused_assignments)]
            { #name = 1u8; }
        })
        .filter(|_| v.mutable.is_some()),
        _ => needless.map(|_| {
            quote_spanned! {at=>
                let #word #name = 0u8;
                #[allow(unused_braces)]
                let _ = { #name };
            }
        }),
    }
}

/// All tokens have the user's place: rustc says nothing about code whose place is a macro's.
fn value_not_read(write: &events::Write) -> TokenStream {
    let (name, at) = (&write.at, write.at.span());
    let read = quote_spanned!(at=> #[allow(unused_braces)] let _ = { #name };);
    match write.first {
        true => quote_spanned!(at=> let mut #name = 0u8; #name = 1u8; #read),
        false => quote_spanned!(at=> let mut #name = 0u8; #read #name = 1u8;),
    }
}
