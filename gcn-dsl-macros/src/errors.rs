//! Collects errors, so that all of a kernel's mistakes are reported at once.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// Errors found so far.
#[derive(Default)]
pub(crate) struct Errors {
    found: Vec<syn::Error>,
    spoilt: bool,
}

impl Errors {
    /// Records an error at `tokens` that prevents the expansion of the kernel's body.
    pub fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Records a parser error that prevents the expansion of the kernel's body.
    pub fn push(&mut self, error: syn::Error) {
        self.spoilt = true;
        self.found.push(error);
    }

    /// Records an error at `tokens` that does not prevent the expansion of the body. rustc can then report its own
    /// errors in the body as well.
    pub fn beside(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.found.push(syn::Error::new_spanned(tokens, message));
    }

    /// As [`Errors::beside`], but at the span `span`.
    pub fn beside_at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.found.push(syn::Error::new(span, message));
    }

    /// True if the body cannot be expanded.
    pub fn spoilt(&self) -> bool {
        self.spoilt
    }

    /// True if an error since the last call prevents the expansion.
    pub fn take_spoilt(&mut self) -> bool {
        std::mem::take(&mut self.spoilt)
    }

    /// True if there are no errors.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub fn append(&mut self, other: Errors) {
        self.found.extend(other.found);
        self.spoilt |= other.spoilt;
    }

    /// A `compile_error!` for each error.
    pub fn into_compile_errors(self) -> TokenStream {
        self.found.into_iter().map(syn::Error::into_compile_error).collect()
    }
}
