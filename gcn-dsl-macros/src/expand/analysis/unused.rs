//! Triggers rustc's lints about variables for a body that rustc sees only in expanded form.
//!
//! In the expansion, library calls read and write every variable, so lints about variables would be wrong and are
//! disabled. This module analyses the body as written and finds unused variables, unread values and needless `mut`. For
//! each, the expansion contains a few tokens of plain Rust with the same mistake and the user's spans, so that rustc's
//! own lint reports it, at the user's lint level. A body without such mistakes costs rustc no time.

mod events;
mod read;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, Block};

use crate::parse::KernelFn;

/// A variable of the body.
pub(in crate::expand) struct Variable {
    name: Ident,
    /// The position of the keyword `mut`; `None` for an immutable variable.
    mutable: Option<Span>,
    form: Form,
    /// The numbers of reads and writes, not counting the initial value.
    reads: usize,
    writes: usize,
    /// True if the variable is changed other than by assignment, for example through `&mut`.
    lent: bool,
    /// True if the variable is used in a way that this analysis does not understand.
    hidden: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::expand) enum Form {
    /// Declared by `let x` or `(x, y)`.
    Plain,
    /// Declared by `P { x }`, where `x` is also the name of the field.
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

/// True for a lint-level attribute that concerns these lints.
pub(crate) fn is_level(attr: &Attribute) -> bool {
    let level = ["allow", "expect", "warn", "deny"].iter().any(|name| attr.path().is_ident(name));
    level
        && quote!(#attr)
            .to_string()
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|w| LINTS.contains(&w))
}

/// Code for which rustc reports the same lints about variables as for the body of `function`.
pub(crate) fn lints(function: &KernelFn, body: &Block) -> TokenStream {
    let (variables, event) = read::body(function, body);
    let dead = events::dead(&event, variables.len());
    let mut found = Vec::new();
    for (id, variable) in variables.iter().enumerate().filter(|(_, v)| v.is_watched()) {
        let dead = dead.iter().filter(|w| w.variable == id && variable.reads > 0);
        // Anything that changes a variable other than by assignment may also read it.
        let dead = dead.filter(|_| !variable.lent).filter(|w| !(w.first && variable.form == Form::Parameter));
        found.extend(of_variable(variable).map(|of| with_name(&variable.name, of)));
        found.extend(dead.map(|write| with_name(&write.at, value_not_read(write))));
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

/// The code, in which `name` is a name to be bound even if a kernel, a unit struct, has the same name.
fn with_name(name: &Ident, code: TokenStream) -> TokenStream {
    quote!(#[allow(dead_code, non_snake_case)] fn #name() {} #code)
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

/// All tokens have the user's spans, because rustc does not lint code with a macro's span.
fn value_not_read(write: &events::Write) -> TokenStream {
    let (name, at) = (&write.at, write.at.span());
    let read = quote_spanned!(at=> #[allow(unused_braces)] let _ = { #name };);
    match write.first {
        true => quote_spanned!(at=> let mut #name = 0u8; #name = 1u8; #read),
        false => quote_spanned!(at=> let mut #name = 0u8; #read #name = 1u8;),
    }
}
