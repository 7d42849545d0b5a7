//! `asm! { … }` in a kernel: lines of assembly whose operands are device values. Each line becomes a call of the typed
//! function of its instruction, so that the compiler handles registers, encodings and waits as usual.

mod argument;
mod constant;
mod field;
mod line;
mod meant;
mod modifiers;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, Macro, Token};

use crate::expand::Cx;
use modifiers::Modifier;

/// The direction of an operand.
enum Way {
    In(Expr),
    InOut(Expr),
    Out,
}

/// An operand declaration, such as `name = in(value)`.
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
            What::Number(..) | What::Off | What::Pair(..) | What::Text(_) => None,
        })
    }
}

/// An operand as parsed.
struct Operand {
    span: Span,
    /// Source modifiers: `-x`, `|x|`, `sext(x)`.
    neg: bool,
    abs: bool,
    sext: bool,
    what: What,
}

impl Operand {
    fn plain(span: Span, what: What) -> Operand {
        Operand { span, neg: false, abs: false, sext: false, what }
    }

    /// Applies the operand's source modifiers to `value`.
    fn modified(&self, mut value: TokenStream) -> TokenStream {
        // In the order of the hardware: first the absolute value, then the negation.
        for (is, name) in [(self.sext, "sext"), (self.abs, "abs"), (self.neg, "neg")] {
            if is {
                let name = Ident::new(name, self.span);
                value = quote_spanned!(self.span=> ::gcn_dsl::isa::#name(#value));
            }
        }
        value
    }
}

enum What {
    /// `{name}`, or one of the fixed names `vcc`, `m0` and `scc`.
    Name(Ident),
    /// A number; true if it is negative.
    Number(bool, syn::Lit),
    /// `[{index}, {offset}]`.
    Pair(Box<Operand>, Box<Operand>),
    /// Text for the assembler to parse, such as `hwreg(…)`.
    Text(String),
    /// `off`, written where the instruction has no address.
    Off,
}

/// The parsed content of `asm! { … }`.
pub(in crate::expand) struct Block {
    operands: Vec<Named>,
    lines: Vec<Line>,
}

impl Block {
    pub fn parse(input: ParseStream<'_>) -> syn::Result<Block> {
        let mut operands = Vec::new();
        // No instruction has a `=` after its first word, so this declares an operand.
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
    let mut more = !input.peek(Token![;]) && meant::has_operands(&mnemonic.to_string());
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
        return Ok(Operand::plain(span, What::Number(neg, input.parse()?)));
    }
    let abs = input.parse::<Option<Token![|]>>()?.is_some();
    let inner = primary(input)?;
    if abs {
        input.parse::<Token![|]>()?;
    }
    // Two negations cancel, as in LLVM's assembler.
    let (abs, neg) = (inner.abs || abs, inner.neg ^ neg);
    Ok(Operand { span, neg, abs, ..inner })
}

/// Parses an operand that does not start with `-` or `|`.
fn primary(input: ParseStream<'_>) -> syn::Result<Operand> {
    let span = input.span();
    if input.peek(syn::Lit) {
        return Ok(Operand::plain(span, What::Number(false, input.parse()?)));
    }
    let token: TokenTree = input.parse()?;
    let what = match token {
        TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => {
            let name = syn::parse2::<Ident>(g.stream());
            What::Name(
                name.map_err(|_| syn::Error::new(g.span(), "braces hold the name of an operand: `{x}`"))?,
            )
        }
        TokenTree::Group(g) if g.delimiter() == Delimiter::Bracket => pair(&g)?,
        // Before plain names, since `neg` and `abs` are modifiers only if a parenthesis follows.
        TokenTree::Ident(name) if input.peek(syn::token::Paren) => {
            let inner: Group = input.parse()?;
            return function(&name, &inner, input);
        }
        TokenTree::Ident(name) if ["vcc", "m0", "scc"].iter().any(|known| name == known) => What::Name(name),
        TokenTree::Ident(name) if name == "off" => What::Off,
        TokenTree::Ident(name) => {
            let message = if name.to_string().starts_with("exec") {
                "EXEC is the language's; `ballot(true)` is the lanes that run".to_owned()
            } else {
                format!(
                    "`{name}` is not an operand of `asm!`: registers are chosen by the compiler; name operands in braces, `{{x}}`"
                )
            };
            return Err(syn::Error::new(name.span(), message));
        }
        other => return Err(syn::Error::new(other.span(), FORM)),
    };
    Ok(Operand::plain(span, what))
}

/// Parses `[{a}, {b}]`.
fn pair(list: &Group) -> syn::Result<What> {
    let both = |input: ParseStream<'_>| {
        let first = operand(input)?;
        input.parse::<Token![,]>()?;
        let second = operand(input)?;
        Ok(What::Pair(Box::new(first), Box::new(second)))
    };
    let form = "two operands in one are `[{index}, {offset}]`";
    syn::parse::Parser::parse2(both, list.stream()).map_err(|_| syn::Error::new(list.span(), form))
}

/// Parses `neg(x)`, `abs(x)` and `sext(x)`; any other function is text for the assembler.
fn function(name: &Ident, inner: &Group, input: ParseStream<'_>) -> syn::Result<Operand> {
    let of = || syn::parse::Parser::parse2(operand, inner.stream());
    let span = name.span();
    match name.to_string().as_str() {
        "neg" => of().map(|x| Operand { span, neg: !x.neg, ..x }),
        "abs" => of().map(|x| Operand { span, abs: true, neg: false, ..x }),
        "sext" => of().map(|x| Operand { span, sext: true, ..x }),
        _ => {
            let mut words = format!("{name}({})", text(inner.stream()));
            // The operand continues after the parentheses, as in `vmcnt(0) & lgkmcnt(0)`.
            while !input.is_empty() && !input.peek(Token![,]) && !input.peek(Token![;]) {
                words += &format!(" {}", text(input.parse::<TokenTree>()?.into()));
            }
            Ok(Operand::plain(span, What::Text(words)))
        }
    }
}

/// Tokens as the text that the assembler expects, without a blank before a parenthesis.
fn text(tokens: TokenStream) -> String {
    tokens.into_iter().fold(String::new(), |mut out, token| {
        match token {
            TokenTree::Group(g) if g.delimiter() == Delimiter::Parenthesis => {
                out += &format!("({})", text(g.stream()));
            }
            TokenTree::Ident(name) if out.ends_with(|c: char| c.is_alphanumeric() || c == ')') => {
                out += &format!(" {name}");
            }
            other => out += &other.to_string(),
        }
        out
    })
}

impl Cx<'_> {
    pub(in crate::expand) fn asm(&mut self, mac: &Macro, block: &Block) -> TokenStream {
        let mut known: Vec<String> = Vec::new();
        let mut out = TokenStream::new();
        // All inputs are evaluated before the first instruction, in the order in which they are written.
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
                // An error in this line has been reported; the line's outputs count as defined, to avoid further
                // errors.
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

    /// The value of a source operand.
    fn source(&mut self, operand: &Operand, known: &[String]) -> Option<TokenStream> {
        let value = match &operand.what {
            What::Number(negative, number) => {
                let sign = negative.then(|| quote!(-));
                quote_spanned!(number.span()=> #sign #number)
            }
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
            What::Off => {
                let what = "`off` is not a value; it stands where an address is left out";
                self.errors.push(syn::Error::new(operand.span, what));
                return None;
            }
            What::Pair(..) | What::Text(_) => {
                self.errors.push(syn::Error::new(operand.span, "a value is `{name}` or a number"));
                return None;
            }
        };
        Some(operand.modified(value))
    }
}

/// The name of the variable that holds an operand's value.
fn register(cx: &Cx<'_>, name: &Ident) -> Ident {
    cx.helper(&format_ident!("asm_{}", name).to_string(), name.span())
}
