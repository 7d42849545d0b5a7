//! `asm! { … }` in a kernel: lines of assembly whose operands are device values. Each line becomes a call of the typed
//! function of its instruction, so that registers, encodings and waits are the compiler's business as everywhere.

mod line;
mod modifiers;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, Macro, Token};

use super::Cx;
use modifiers::Modifier;

/// How an operand is used.
enum Way {
    In(Expr),
    InOut(Expr),
    Out,
}

/// `name = in(value)`.
struct Named {
    name: Ident,
    way: Way,
}

/// One instruction.
struct Line {
    mnemonic: Ident,
    operands: Vec<Operand>,
    modifiers: Vec<Modifier>,
}

impl Line {
    fn names(&self) -> impl Iterator<Item = &Ident> {
        self.operands.iter().filter_map(|operand| match &operand.what {
            What::Name(name) => Some(name),
            What::Number(..) | What::Off => None,
        })
    }
}

/// An operand as it is written.
struct Operand {
    span: Span,
    /// `-x`, `|x|`.
    neg: bool,
    abs: bool,
    what: What,
}

enum What {
    /// `{name}`; `vcc` is a name too.
    Name(Ident),
    /// A number, negative or not.
    Number(bool, syn::Lit),
    /// `off`: no address here.
    Off,
}

/// The block.
pub(super) struct Block {
    operands: Vec<Named>,
    lines: Vec<Line>,
}

impl Block {
    pub fn parse(input: ParseStream<'_>) -> syn::Result<Block> {
        let mut operands = Vec::new();
        while input.peek(syn::Ident::peek_any) && input.peek2(Token![=]) {
            operands.push(named(input)?);
            if input.parse::<Option<Token![,]>>()?.is_none() {
                break;
            }
        }
        if !operands.is_empty() {
            input.parse::<Token![;]>().map_err(|e| {
                syn::Error::new(e.span(), "operands end with `;`, then come the instructions")
            })?;
        }
        let mut lines = Vec::new();
        while !input.is_empty() {
            lines.push(line(input)?);
        }
        Ok(Block { operands, lines })
    }
}

fn named(input: ParseStream<'_>) -> syn::Result<Named> {
    const FORMS: &str = "an operand is `name = in(value)`, `name = inout(value)` or `name = out`";
    let name = input.call(Ident::parse_any)?;
    input.parse::<Token![=]>()?;
    let way = input.call(Ident::parse_any)?;
    let value = |input: ParseStream<'_>| {
        let inner;
        syn::parenthesized!(inner in input);
        inner.parse::<Expr>()
    };
    let way = match way.to_string().as_str() {
        "in" => Way::In(value(input)?),
        "inout" => Way::InOut(value(input)?),
        "out" => Way::Out,
        _ => return Err(syn::Error::new(way.span(), FORMS)),
    };
    Ok(Named { name, way })
}

fn line(input: ParseStream<'_>) -> syn::Result<Line> {
    let mnemonic = input.call(Ident::parse_any)?;
    let mut operands = Vec::new();
    let mut more = !input.peek(Token![;]);
    while more && !input.is_empty() {
        operands.push(operand(input)?);
        more = input.parse::<Option<Token![,]>>()?.is_some();
    }
    let mut modifiers = Vec::new();
    while input.peek(syn::Ident::peek_any) {
        modifiers.push(Modifier::parse(input)?);
    }
    input.parse::<Token![;]>().map_err(|e| syn::Error::new(e.span(), FORM))?;
    Ok(Line { mnemonic, operands, modifiers })
}

const FORM: &str = "operands are separated by `,`, modifiers such as `clamp` and `offset:16` follow, and the instruction ends with `;`";

fn operand(input: ParseStream<'_>) -> syn::Result<Operand> {
    let span = input.span();
    let neg = input.parse::<Option<Token![-]>>()?.is_some();
    if input.peek(syn::Lit) {
        let what = What::Number(neg, input.parse()?);
        return Ok(Operand { span, neg: false, abs: false, what });
    }
    let abs = input.parse::<Option<Token![|]>>()?.is_some();
    let token: TokenTree = input.parse()?;
    let name = match token {
        TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => syn::parse2::<Ident>(g.stream())
            .map_err(|_| syn::Error::new(g.span(), "braces hold the name of an operand: `{x}`"))?,
        TokenTree::Ident(name) if name == "vcc" => name,
        TokenTree::Ident(name) if name == "off" => {
            return Ok(Operand { span, neg: false, abs: false, what: What::Off });
        }
        TokenTree::Ident(name) => {
            let message = format!(
                "`{name}` is no operand of `asm!`: registers are chosen by the compiler; name operands in braces, `{{x}}`"
            );
            return Err(syn::Error::new(name.span(), message));
        }
        other => return Err(syn::Error::new(other.span(), FORM)),
    };
    if abs {
        input.parse::<Token![|]>()?;
    }
    Ok(Operand { span, neg, abs, what: What::Name(name) })
}

impl Cx<'_> {
    pub(super) fn asm(&mut self, mac: &Macro, block: &Block) -> TokenStream {
        let mut known: Vec<String> = Vec::new();
        let mut out = TokenStream::new();
        for operand in &block.operands {
            if let Way::In(value) | Way::InOut(value) = &operand.way {
                let (name, value) = (register(self, &operand.name), self.expr(value));
                out.extend(quote_spanned!(operand.name.span()=> let #name = #value;));
                known.push(operand.name.to_string());
            }
        }
        for line in &block.lines {
            match self.asm_line(line, &mut known) {
                Some(call) => out.extend(call),
                // What it was to write is not missing.
                None => known.extend(line.names().map(ToString::to_string)),
            }
        }
        let mut results = Vec::new();
        for operand in block.operands.iter().filter(|o| !matches!(o.way, Way::In(_))) {
            if !known.iter().any(|k| operand.name == k) {
                let what = format!("no instruction writes `{{{}}}`", operand.name);
                self.errors.at(&operand.name, what);
            }
            results.push(register(self, &operand.name));
        }
        let results = match results.as_slice() {
            [one] => quote!(#one),
            all => quote!((#(#all),*)),
        };
        let span = mac.path.segments.last().map_or_else(Span::call_site, |s| s.ident.span());
        quote_spanned!(span=> { #out #results })
    }

    fn source(&mut self, operand: &Operand, dwords: u8, known: &[String]) -> Option<TokenStream> {
        let mut value = match &operand.what {
            What::Number(negative, number) => literal(*negative, number, dwords),
            What::Name(name) if known.iter().any(|k| name == k) => {
                let name = register(self, name);
                quote!(#name)
            }
            What::Off => {
                let what = "`off` is no value; it stands where an address is left out";
                self.errors.push(syn::Error::new(operand.span, what));
                return None;
            }
            What::Name(name) => {
                let what = format!(
                    "`{name}` is read, but nothing before has written it; an operand that comes from outside is declared \
                     first: `{name} = in(value)`"
                );
                self.errors.at(name, what);
                return None;
            }
        };
        if operand.abs {
            value = quote_spanned!(operand.span=> ::gcn_dsl::isa::abs(#value));
        }
        if operand.neg {
            value = quote_spanned!(operand.span=> ::gcn_dsl::isa::neg(#value));
        }
        Some(value)
    }
}

/// A number without a suffix has the operand's width.
fn literal(negative: bool, number: &syn::Lit, dwords: u8) -> TokenStream {
    let (sign, span) = (negative.then(|| quote!(-)), number.span());
    let suffix = match (number, dwords, negative) {
        (syn::Lit::Int(n), 1, false) if n.suffix().is_empty() => "u32",
        (syn::Lit::Int(n), 1, true) if n.suffix().is_empty() => "i32",
        (syn::Lit::Int(n), 2, false) if n.suffix().is_empty() => "u64",
        (syn::Lit::Int(n), 2, true) if n.suffix().is_empty() => "i64",
        (syn::Lit::Float(n), 1, _) if n.suffix().is_empty() => "f32",
        (syn::Lit::Float(n), 2, _) if n.suffix().is_empty() => "f64",
        _ => return quote_spanned!(span=> #sign #number),
    };
    let typed = match number {
        syn::Lit::Float(n) => {
            syn::LitFloat::new(&format!("{}{suffix}", n.base10_digits()), span).to_token_stream()
        }
        syn::Lit::Int(n) => {
            syn::LitInt::new(&format!("{}{suffix}", n.base10_digits()), span).to_token_stream()
        }
        other => quote!(#other),
    };
    quote_spanned!(span=> #sign #typed)
}

/// The variable that holds an operand.
fn register(cx: &Cx<'_>, name: &Ident) -> Ident {
    cx.helper(&format_ident!("asm_{}", name).to_string(), name.span())
}
