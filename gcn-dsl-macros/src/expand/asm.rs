//! `asm! { … }` in a kernel: lines of assembly whose operands are device values. Each line becomes a call of the typed
//! function of its instruction, so that registers, encodings and waits are the compiler's business as everywhere.

use gcn_isa::Target;
use gcn_isa::table::{self, Access, Format, ImplicitRegs, InstDesc};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, Macro, Token};

use super::Cx;

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
    while !input.is_empty() && !input.peek(Token![;]) {
        operands.push(operand(input, &mnemonic)?);
        if !input.peek(Token![;]) && !input.is_empty() {
            input.parse::<Token![,]>().map_err(|e| modifier(e.span(), &mnemonic))?;
        }
    }
    input.parse::<Token![;]>().map_err(|e| syn::Error::new(e.span(), "an instruction ends with `;`"))?;
    Ok(Line { mnemonic, operands })
}

fn modifier(at: Span, mnemonic: &Ident) -> syn::Error {
    let message = format!(
        "operands are separated by `,`, and the instruction ends with `;`; modifiers are not available in `asm!`: call \
         `gcn_dsl::isa::{mnemonic}_with`"
    );
    syn::Error::new(at, message)
}

fn operand(input: ParseStream<'_>, mnemonic: &Ident) -> syn::Result<Operand> {
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
        TokenTree::Ident(name) => {
            let message = format!(
                "`{name}` is no operand of `asm!`: registers are chosen by the compiler; name operands in braces, `{{x}}`"
            );
            return Err(syn::Error::new(name.span(), message));
        }
        other => return Err(modifier(other.span(), mnemonic)),
    };
    if abs {
        input.parse::<Token![|]>()?;
    }
    Ok(Operand { span, neg, abs, what: What::Name(name) })
}

/// The row whose operands the function of the mnemonic has: the encoding with the widest choice, the newest target.
fn row_of(mnemonic: &str) -> Option<&'static InstDesc> {
    let plain = |row: &&InstDesc| {
        !matches!(
            row.format,
            Format::Vop1Dpp | Format::Vop2Dpp | Format::Vop1Sdwa | Format::Vop2Sdwa | Format::VopcSdwa
        )
    };
    let rows = Target::ALL.into_iter().flat_map(|t| table::find_mnemonic(t, mnemonic)).filter(plain);
    rows.min_by_key(|row| {
        (!matches!(row.format, Format::Vop3a | Format::Vop3b), !row.targets.contains(Target::GFX942))
    })
}

/// Registers that a line reads without naming them, by the names that they have in the block.
const IMPLICIT: [(ImplicitRegs, &str); 3] =
    [(ImplicitRegs::SCC, "scc"), (ImplicitRegs::VCC, "vcc"), (ImplicitRegs::M0, "m0")];

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
            if let Some(call) = self.asm_line(line, &mut known) {
                out.extend(call);
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

    fn asm_line(&mut self, line: &Line, known: &mut Vec<String>) -> Option<TokenStream> {
        let mnemonic = &line.mnemonic;
        let text = mnemonic.to_string();
        let Some(row) = row_of(&text) else {
            self.errors.at(mnemonic, format!("no target has an instruction `{text}`"));
            return None;
        };
        if let Some(targets) = self.targets {
            crate::check::instruction(mnemonic, targets, self.errors);
        }
        let computes = row.is_valu() || row.is_matrix() || row.is_salu() && row.format != Format::Sopp;
        let control = row.operands.iter().any(|o| o.kinds.contains(table::OperandKinds::IMM));
        if !computes || control {
            let what = format!(
                "`{text}` is not available in `asm!`; call `gcn_dsl::isa::{text}`, or write it as a \
                                `gcn_asm!` kernel"
            );
            self.errors.at(mnemonic, what);
            return None;
        }
        if row.operands.len() != line.operands.len() {
            let names: Vec<&str> = row.operands.iter().map(|o| o.name).collect();
            let (given, wanted) = (line.operands.len(), names.len());
            let what = format!("`{text}` has {wanted} operands ({}), not {given}", names.join(", "));
            self.errors.at(mnemonic, what);
            return None;
        }
        let (mut args, mut results) = (Vec::new(), Vec::new());
        for (slot, operand) in row.operands.iter().zip(&line.operands) {
            if slot.access != Access::Write {
                args.push(self.source(operand, slot.dwords, known)?);
            }
            if slot.access != Access::Read {
                let What::Name(name) = &operand.what else {
                    self.errors
                        .at(mnemonic, format!("`{text}` writes `{}`: write `{{name}}` there", slot.name));
                    return None;
                };
                results.push(name.clone());
            }
        }
        for (reg, name) in IMPLICIT {
            if row.implicit_reads.contains(reg) {
                let name = Ident::new(name, mnemonic.span());
                let operand =
                    Operand { span: mnemonic.span(), neg: false, abs: false, what: What::Name(name) };
                args.push(self.source(&operand, 1, known)?);
            }
        }
        if text.ends_with("_saveexec_b64") {
            self.errors.at(mnemonic, "EXEC is the language's own; write `if` on a `V<bool>`");
            return None;
        }
        if row.implicit_writes.contains(ImplicitRegs::SCC) {
            results.push(Ident::new("scc", mnemonic.span()));
        }
        let names: Vec<Ident> = results.iter().map(|name| register(self, name)).collect();
        known.extend(results.iter().map(ToString::to_string));
        let call = quote_spanned!(mnemonic.span()=> ::gcn_dsl::isa::#mnemonic(#(#args),*));
        Some(match names.as_slice() {
            [] => quote!(#call;),
            [one] => quote_spanned!(mnemonic.span()=> let #one = #call;),
            all => quote_spanned!(mnemonic.span()=> let (#(#all),*) = #call;),
        })
    }

    fn source(&mut self, operand: &Operand, dwords: u8, known: &[String]) -> Option<TokenStream> {
        let mut value = match &operand.what {
            What::Number(negative, number) => literal(*negative, number, dwords),
            What::Name(name) if known.iter().any(|k| name == k) => {
                let name = register(self, name);
                quote!(#name)
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
