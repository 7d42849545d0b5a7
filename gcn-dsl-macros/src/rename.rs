//! Replaces `self` by another name.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Block, Ident};

/// The body with `name` in place of `self`.
pub(crate) fn renamed(block: &Block, name: &str) -> syn::Result<Block> {
    syn::parse2(tokens(block.to_token_stream(), name))
}

fn tokens(from: TokenStream, name: &str) -> TokenStream {
    from.into_iter()
        .map(|token| match token {
            TokenTree::Ident(i) if i == "self" => TokenTree::Ident(Ident::new(name, i.span())),
            TokenTree::Group(g) => {
                let mut group = Group::new(g.delimiter(), tokens(g.stream(), name));
                group.set_span(g.span());
                TokenTree::Group(group)
            }
            other => other,
        })
        .collect()
}
