//! Macros that have a meaning on the device: `dbg!`, `debug_assert!`, `asm!`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Macro, Token};

use crate::expand::embedded::asm;
use crate::expand::{Cx, lang};
use crate::syntax::name_of;

type List = Punctuated<Expr, Token![,]>;

/// `matches!(x, pattern if guard)` as a `match` expression.
pub(in crate::expand) fn as_match(mac: &Macro) -> Option<syn::ExprMatch> {
    if !mac.path.is_ident("matches") {
        return None;
    }
    let parts = |input: syn::parse::ParseStream<'_>| {
        let value: Expr = input.parse()?;
        input.parse::<Token![,]>()?;
        let pattern = syn::Pat::parse_multi_with_leading_vert(input)?;
        let guard = match input.parse::<Option<Token![if]>>()? {
            Some(word) => {
                let guard: Expr = input.parse()?;
                Some(quote!(#word #guard))
            }
            None => None,
        };
        input.parse::<Option<Token![,]>>()?;
        Ok((value, pattern, guard))
    };
    let (value, pattern, guard) = parts.parse2(mac.tokens.clone()).ok()?;
    let span = mac.path.span();
    Some(syn::parse_quote_spanned!(span=> match #value { #pattern #guard => true, _ => false }))
}

impl Cx<'_> {
    /// Expands a macro call. Macros without a meaning on the device stay unchanged, and run on the host.
    pub fn macro_call(&mut self, mac: &Macro) -> TokenStream {
        let name = mac.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            "dbg" => self.list(mac, |cx, args| cx.dbg(mac, args)),
            "debug_assert" => self.list(mac, |cx, args| cx.debug_assert(mac, args)),
            "debug_assert_eq" => self.list(mac, |cx, args| cx.debug_assert_compared(mac, args, "eq", "==")),
            "debug_assert_ne" => self.list(mac, |cx, args| cx.debug_assert_compared(mac, args, "ne", "!=")),
            "asm" => match asm::Block::parse.parse2(mac.tokens.clone()) {
                Ok(block) => self.asm(mac, &block),
                Err(error) => {
                    self.errors.push(error);
                    TokenStream::new()
                }
            },
            "assert" if self.comptime == 0 => {
                self.host_macro(mac, "assert");
                self.list(mac, |cx, args| cx.assert(mac, args))
            }
            "assert_eq" | "assert_ne" if self.comptime == 0 => {
                self.host_macro(mac, &name);
                self.list(mac, |cx, args| cx.assert_compared(mac, &args))
            }
            "matches" if self.comptime == 0 => match as_match(mac) {
                Some(e) => self.match_expr(&e),
                None => mac.to_token_stream(),
            },
            name => {
                self.host_macro(mac, name);
                mac.to_token_stream()
            }
        }
    }

    fn list(&mut self, mac: &Macro, f: impl FnOnce(&mut Self, List) -> TokenStream) -> TokenStream {
        match List::parse_terminated.parse2(mac.tokens.clone()) {
            Ok(args) => f(self, args),
            Err(error) => {
                self.errors.push(error);
                TokenStream::new()
            }
        }
    }

    /// Expands `dbg!(a, b)`, which has the arguments as its value and prints them when the kernel is simulated.
    fn dbg(&mut self, mac: &Macro, args: List) -> TokenStream {
        let values: Vec<TokenStream> = args
            .iter()
            .map(|arg| {
                let (value, text) = (self.expr(arg), source_of(arg));
                let call = lang("dbg", arg.span());
                quote_spanned!(arg.span()=> #call(#value, #text))
            })
            .collect();
        match values.as_slice() {
            [] => {
                self.errors.at(&mac.path, "`dbg!` in a kernel shows device values: `dbg!(x)`");
                TokenStream::new()
            }
            [one] => one.clone(),
            all => quote!((#(#all),*)),
        }
    }

    /// Expands `assert!`, which acts on the host. If its condition is a device value, rustc's message says what to
    /// write instead.
    fn assert(&mut self, mac: &Macro, args: List) -> TokenStream {
        let mut args = args.iter();
        let Some(condition) = args.next() else { return mac.to_token_stream() };
        let (span, text) = (condition.span(), source_of(condition));
        let (value, call) = (self.expr(condition), lang("on_host", condition.span()));
        let value = quote_spanned!(span=> #call(#value));
        let message: Vec<&Expr> = args.collect();
        match message.as_slice() {
            [] => quote_spanned!(span=> ::core::assert!(#value, "assertion failed: {}", #text)),
            message => quote_spanned!(span=> ::core::assert!(#value, #(#message),*)),
        }
    }

    /// `assert_eq!` and `assert_ne!` on the host; if a side is a device value, rustc's message says what to write instead.
    fn assert_compared(&mut self, mac: &Macro, args: &List) -> TokenStream {
        let mut sides = TokenStream::new();
        for side in args.iter().take(2) {
            // Whatever else a side is, it is host code, which is not expanded.
            let named = match side {
                Expr::Index(e) => {
                    name_of(&e.expr).is_some_and(|name| self.memory.contains(&name.to_string()))
                }
                side => name_of(side).is_some() && self.may_be_of_device(side),
            };
            if named {
                let (value, asserted) = (self.expr(side), lang("Asserted", side.span()));
                sides.extend(quote_spanned!(side.span()=> #asserted(&#value).is_of_host();));
            }
        }
        // Only their types are asked for.
        quote_spanned!(mac.path.span()=> {
            if false { #sides }
            #mac
        })
    }

    fn debug_assert(&mut self, mac: &Macro, args: List) -> TokenStream {
        let mut args = args.iter();
        let Some(condition) = args.next() else {
            self.errors.at(&mac.path, "`debug_assert!` needs a condition: `debug_assert!(i < n, \"…\")`");
            return TokenStream::new();
        };
        let message: Vec<&Expr> = args.collect();
        let message = match message.as_slice() {
            [] => source_of(condition).to_token_stream(),
            message => quote!(::std::format!(#(#message),*)),
        };
        let value = self.expr(condition);
        self.checked(condition.span(), &value, &message)
    }

    fn debug_assert_compared(&mut self, mac: &Macro, args: List, call: &str, sign: &str) -> TokenStream {
        let mut args = args.iter();
        let (Some(left), Some(right)) = (args.next(), args.next()) else {
            self.errors.at(&mac.path, "two values are compared: `debug_assert_eq!(a, b, \"…\")`");
            return TokenStream::new();
        };
        let message: Vec<&Expr> = args.collect();
        let message = match message.as_slice() {
            [] => format!("{} {sign} {}", source_of(left), source_of(right)).to_token_stream(),
            message => quote!(::std::format!(#(#message),*)),
        };
        let span = left.span();
        let (left, right, call) = (self.expr(left), self.expr(right), lang(call, span));
        self.checked(span, &quote_spanned!(span=> #call(#left, #right)), &message)
    }

    fn checked(
        &mut self,
        span: proc_macro2::Span,
        value: &TokenStream,
        message: &TokenStream,
    ) -> TokenStream {
        let (debugging, check) = (lang("debugging", span), lang("debug_assert", span));
        quote_spanned!(span=> if #debugging() { #check(#value, ::std::string::String::from(#message)); })
    }
}

/// The source text of the expression.
fn source_of(e: &Expr) -> String {
    let text = e.to_token_stream().to_string();
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or(' ');
    let mut out = String::new();
    for (i, c) in chars.iter().enumerate() {
        let (before, after) = (out.chars().last().unwrap_or(' '), at(i + 1));
        let word = before.is_alphanumeric() || matches!(before, '_' | ')' | ']');
        let glued = matches!(after, ',' | '.' | ')' | ']' | '?')
            || word && matches!(after, '(' | '[')
            || matches!(before, '.' | '(' | '[' | '!');
        if *c != ' ' || !glued {
            out.push(*c);
        }
    }
    out
}
