//! `comptime { … }`, `comptime if` and `comptime match` are not Rust syntax. Before parsing, this module replaces the
//! word `comptime` by an attribute `#[comptime]` on the expression that follows.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote_spanned;

/// Rewrites `comptime` before `{`, `if` or `match`, at any depth. Inside a `comptime` block nothing is rewritten.
pub(crate) fn mark(input: TokenStream) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut tokens = input.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "comptime" => {
                let span = word.span();
                match tokens.peek() {
                    Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Brace => {
                        out.extend(quote_spanned!(span=> #[comptime]));
                        out.extend(tokens.next());
                    }
                    Some(TokenTree::Ident(next)) if next == "if" || next == "match" => {
                        out.extend(quote_spanned!(span=> #[comptime]));
                    }
                    _ => out.push(TokenTree::Ident(word)),
                }
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), mark(group.stream()));
                inner.set_span(group.span());
                out.push(TokenTree::Group(inner));
            }
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}
