//! Modifiers after the operands of a line: `clamp`, `offset:16`, `op_sel:[0, 1]`, `dst_sel:BYTE_0`.

use gcn_isa::table::Modifiers;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{LitInt, Token};

use crate::errors::Errors;

/// A modifier as parsed.
pub(super) struct Modifier {
    pub name: Ident,
    pub value: Value,
}

pub(super) enum Value {
    None,
    Number(bool, LitInt),
    List(Vec<LitInt>),
    Word(Ident),
    /// `{name}`, a number that is known when the kernel is built.
    Name(Ident),
    /// Text for the assembler to parse.
    Text(String),
}

impl Value {
    /// The modifier as assembly text.
    pub(super) fn text(&self) -> String {
        match self {
            Value::None => String::new(),
            Value::Number(negative, n) => {
                format!("{}{}", if *negative { "-" } else { "" }, n.base10_digits())
            }
            Value::List(list) => {
                let list: Vec<&str> = list.iter().map(LitInt::base10_digits).collect();
                format!("[{}]", list.join(","))
            }
            Value::Word(word) | Value::Name(word) => word.to_string(),
            Value::Text(text) => text.clone(),
        }
    }
}

impl Modifier {
    pub(super) fn parse(input: ParseStream<'_>) -> syn::Result<Modifier> {
        let name = input.call(Ident::parse_any)?;
        if input.parse::<Option<Token![:]>>()?.is_none() {
            return Ok(Modifier { name, value: Value::None });
        }
        let value = if input.peek(syn::token::Bracket) {
            let list;
            syn::bracketed!(list in input);
            if list.peek(syn::Ident::peek_any) {
                Value::Text(format!("[{}]", super::text(list.parse()?)))
            } else {
                Value::List(list.parse_terminated(LitInt::parse, Token![,])?.into_iter().collect())
            }
        } else if input.peek(syn::token::Brace) {
            let inner;
            syn::braced!(inner in input);
            Value::Name(inner.parse()?)
        } else if input.peek(syn::Ident::peek_any) && input.peek2(syn::token::Paren) {
            let (name, inner) = (input.call(Ident::parse_any)?, input.parse::<proc_macro2::Group>()?);
            Value::Text(format!("{name}({})", super::text(inner.stream())))
        } else if input.peek(syn::Ident::peek_any) {
            Value::Word(input.call(Ident::parse_any)?)
        } else {
            let negative = input.parse::<Option<Token![-]>>()?.is_some();
            Value::Number(negative, input.parse()?)
        };
        Ok(Modifier { name, value })
    }

    /// The assembler's modifier of this name; `None` if the assembler has none.
    pub(super) fn flag(&self) -> Option<Modifiers> {
        gcn_emit::text::modifier(&self.name.to_string())
    }

    /// True if the modifier states the format of a typed buffer instruction.
    pub(super) fn is_format(&self) -> bool {
        ["format", "dfmt", "nfmt"].iter().any(|name| self.name == name)
    }

    /// The value, a list of bits, as a number. The first bit is the lowest.
    pub(super) fn bits(&self) -> Option<u8> {
        let Value::List(list) = &self.value else { return None };
        let bits = list.iter().enumerate().map(|(at, n)| Some((n.base10_parse::<u8>().ok()? & 1) << at));
        bits.sum()
    }

    /// False if the modifier makes the instruction write only a part of its destination.
    pub(super) fn writes_all(&self) -> bool {
        let is = |n: &LitInt, number: u32| n.base10_parse::<u32>().is_ok_and(|n| n == number);
        match (self.name.to_string().as_str(), &self.value) {
            ("row_mask" | "bank_mask", Value::Number(false, n)) => is(n, 0xf),
            ("row_mask" | "bank_mask", _) => false,
            ("dst_sel", Value::Word(word)) => word == "DWORD",
            // The last bit of the list applies to the destination.
            ("op_sel", Value::List(list)) => list.last().is_none_or(|n| is(n, 0)),
            _ => true,
        }
    }

    /// The modifier's value as an argument of the function.
    pub(super) fn number(&self, errors: &mut Errors) -> Option<TokenStream> {
        let Value::Number(negative, number) = &self.value else {
            errors.at(&self.name, format!("`{}` has a number: `{}:16`", self.name, self.name));
            return None;
        };
        let sign = negative.then(|| quote!(-));
        Some(quote_spanned!(number.span()=> #sign #number))
    }

    /// The method call on `Options` that sets the modifier.
    pub(super) fn call(&self, errors: &mut Errors) -> Option<TokenStream> {
        let (name, text) = (&self.name, self.name.to_string());
        let number = |number: &LitInt| number.base10_parse::<u32>().ok();
        let call = match (text.as_str(), &self.value) {
            ("mul" | "div", Value::Number(false, n)) => {
                let kind = match (text.as_str(), number(n)) {
                    ("mul", Some(2)) => "Mul2",
                    ("mul", Some(4)) => "Mul4",
                    ("div", Some(2)) => "Div2",
                    _ => {
                        errors.at(n, "output multipliers are `mul:2`, `mul:4` and `div:2`".to_owned());
                        return None;
                    }
                };
                let kind = Ident::new(kind, n.span());
                quote_spanned!(name.span()=> .omod(::gcn_dsl::isa::Omod::#kind))
            }
            // For historical reasons, `bound_ctrl:0` in assembly sets the bit to 1.
            ("bound_ctrl", Value::Number(false, _)) => quote_spanned!(name.span()=> .bound_ctrl()),
            ("row_bcast", Value::Number(false, n)) => {
                let method = format_ident!("row_bcast{}", n.base10_digits(), span = name.span());
                quote!(.#method())
            }
            ("wave_shl" | "wave_rol" | "wave_shr" | "wave_ror", Value::Number(false, _)) => {
                quote_spanned!(name.span()=> .#name())
            }
            ("quad_perm", Value::List(list)) => quote_spanned!(name.span()=> .#name([#(#list),*])),
            (_, Value::List(list)) => {
                let bit = |(at, n): (usize, &LitInt)| number(n).filter(|n| *n < 2).map(|n| (n as u8) << at);
                let Some(bits) = list.iter().enumerate().map(bit).collect::<Option<Vec<u8>>>() else {
                    errors.at(name, format!("`{text}` has a 0 or 1 for each operand: `{text}:[0, 1]`"));
                    return None;
                };
                let bits = bits.iter().fold(0u8, |all, bit| all | bit);
                quote_spanned!(name.span()=> .#name(#bits))
            }
            (_, Value::Word(word)) => {
                let (ty, variant) = selection(&text, &word.to_string()).or_else(|| {
                    errors.at(word, format!("`{word}` is nothing that `{text}` selects"));
                    None
                })?;
                let (ty, variant) = (Ident::new(ty, word.span()), Ident::new(variant, word.span()));
                quote_spanned!(name.span()=> .#name(::gcn_dsl::isa::#ty::#variant))
            }
            (_, Value::Number(..)) => {
                let number = self.number(errors)?;
                quote_spanned!(name.span()=> .#name(#number))
            }
            (_, Value::Name(value)) => {
                errors.at(value, format!("`{text}` is a part of the instruction: write the number"));
                return None;
            }
            (_, Value::Text(_)) => {
                errors.at(name, format!("`{text}` has a number: `{text}:1`"));
                return None;
            }
            (_, Value::None) => quote_spanned!(name.span()=> .#name()),
        };
        Some(call)
    }
}

/// The Rust type and variant for an SDWA selection such as `BYTE_0`.
fn selection(modifier: &str, word: &str) -> Option<(&'static str, &'static str)> {
    let parts = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"];
    let variants = ["Byte0", "Byte1", "Byte2", "Byte3", "Word0", "Word1", "Dword"];
    match (modifier, word) {
        ("dst_unused", "UNUSED_PAD") => Some(("DstUnused", "Pad")),
        ("dst_unused", "UNUSED_SEXT") => Some(("DstUnused", "Sext")),
        ("dst_unused", "UNUSED_PRESERVE") => Some(("DstUnused", "Preserve")),
        ("dst_sel" | "src0_sel" | "src1_sel", word) => {
            parts.iter().position(|part| *part == word).map(|at| ("Sel", variants[at]))
        }
        _ => None,
    }
}
