//! Splits the body of `gcn_asm!` into instructions and labels.
//!
//! The body may mix two notations. As *tokens*, each statement ends with `;`, as in `v_add_f32 v0, |v1|, 0x3f800000;`,
//! and an error points at the exact operand. As a *string* of one or several lines, such as `"v_add_f32 v0, |v1|,
//! 1.0"`, statements have the syntax of an assembly file. rustc can only point at a whole string, so an error in a
//! string of several lines quotes the line and its number.

use std::ops::Range;

use gcn_emit::text::source_lines;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote;

use crate::errors::Errors;

/// A label or an instruction.
pub(crate) struct Item {
    pub kind: ItemKind,
    /// The label's name, or the instruction's text.
    pub text: String,
    /// The origin of the text: byte ranges of it in ascending order, each with the span of its token.
    pieces: Vec<(Range<usize>, Span)>,
    /// Line and column, counted from 1, at which the item starts in the user's file; `None` if unknown.
    pub place: Option<(usize, usize)>,
    in_string: Option<InString>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ItemKind {
    Label,
    Instruction,
}

/// A position in a string of several lines.
#[derive(Clone)]
struct InString {
    line: usize,
    /// The byte offset of the item in this line.
    at: usize,
    text: String,
}

impl Item {
    /// The tokens to which an error about this range of the text points; all tokens if the range is `None`.
    pub fn tokens(&self, range: Option<&Range<usize>>) -> TokenStream {
        let meant = |piece: &&(Range<usize>, Span)| {
            range.is_none_or(|r| piece.0.start < r.end.max(r.start + 1) && r.start < piece.0.end)
        };
        let mut found = self.pieces.iter().filter(meant).map(|p| p.1);
        let first = found.next().or_else(|| self.pieces.last().map(|p| p.1)).unwrap_or_else(Span::call_site);
        let last = found.next_back().unwrap_or(first);
        let [first, last] = [first, last].map(|span| Ident::new("x", span));
        quote!(#first #last)
    }

    /// The end of an error message: where the error is in a string of several lines. Empty for other items.
    pub fn note(&self, range: Option<&Range<usize>>) -> String {
        let Some(place) = &self.in_string else { return String::new() };
        let at = place.at + range.map_or(0, |r| r.start);
        let column = place.text.get(..at).map_or(at, |before| before.chars().count()) + 1;
        format!("\nin line {}, column {column} of the text: `{}`", place.line, place.text.trim())
    }

    /// The description of this item, the `index`th of the body, in a message.
    pub fn name(&self, index: usize) -> String {
        match (&self.in_string, self.place) {
            (Some(place), _) => format!("line {} of the text", place.line),
            (None, Some((line, _))) => format!("line {line}"),
            (None, None) => format!("statement {}", index + 1),
        }
    }
}

/// Splits the body into items.
pub(crate) fn items(body: TokenStream, errors: &mut Errors) -> Vec<Item> {
    let mut items = Vec::new();
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let mut rest = tokens.as_slice();
    while let Some(first) = rest.first() {
        if let Some(string) = string(first) {
            strings(&string, &mut items, errors);
            rest = &rest[1..];
            let separator = |t: &&TokenTree| is_punct(t, ',') || is_punct(t, ';');
            rest = &rest[usize::from(rest.first().filter(separator).is_some())..];
        } else if is_punct(first, ';') {
            rest = &rest[1..];
        } else if let Some(length) = label(rest) {
            items.push(from_tokens(ItemKind::Label, &rest[..length]));
            rest = &rest[length + 1..];
        } else {
            let end = rest.iter().position(|t| is_punct(t, ';')).unwrap_or(rest.len());
            items.push(from_tokens(ItemKind::Instruction, &rest[..end]));
            rest = &rest[end..];
        }
    }
    items
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == wanted)
}

fn string(token: &TokenTree) -> Option<syn::LitStr> {
    match token {
        TokenTree::Literal(_) => syn::parse2(token.clone().into()).ok(),
        // Arguments that a `macro_rules!` macro forwards are wrapped in invisible delimiters.
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => syn::parse2(group.stream()).ok(),
        _ => None,
    }
}

/// The number of tokens in the name of a label definition, without the colon; `None` if the tokens do not start with one.
fn label(tokens: &[TokenTree]) -> Option<usize> {
    let mut after_word = false;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(_) if !after_word => after_word = true,
            TokenTree::Punct(p) if matches!(p.as_char(), '.' | '$') => after_word = false,
            TokenTree::Punct(p) if p.as_char() == ':' && after_word => return Some(index),
            _ => return None,
        }
    }
    None
}

fn from_tokens(kind: ItemKind, tokens: &[TokenTree]) -> Item {
    let mut item = Item {
        kind,
        text: String::new(),
        pieces: Vec::new(),
        place: tokens.first().and_then(|t| place(t.span())),
        in_string: None,
    };
    let mut written = Written { item: &mut item, apart: false, in_bars: false };
    written.all(tokens.iter().cloned());
    item
}

/// Reconstructs an item's text from tokens. A word is preceded by a blank and other tokens are not, so the text does
/// not depend on the user's spacing.
struct Written<'i> {
    item: &'i mut Item,
    /// True if the last token was a word or a closing bracket.
    apart: bool,
    /// True between the bars of an absolute value.
    in_bars: bool,
}

impl Written<'_> {
    fn all(&mut self, tokens: impl IntoIterator<Item = TokenTree>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.group(&group),
                TokenTree::Punct(punct) => {
                    let mut text = punct.as_char().to_string();
                    if self.is_mnemonic() {
                        text.insert(0, ' ');
                    }
                    if punct.as_char() == ',' {
                        text.push(' ');
                    }
                    self.in_bars ^= punct.as_char() == '|';
                    let closes = punct.as_char() == '|' && !self.in_bars;
                    self.put(&text, punct.span(), closes);
                }
                TokenTree::Ident(word) => self.word(&word.to_string(), word.span()),
                TokenTree::Literal(literal) => self.word(&literal.to_string(), literal.span()),
            }
        }
    }

    fn group(&mut self, group: &proc_macro2::Group) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => return self.all(group.stream()),
        };
        if self.is_mnemonic() {
            self.put(" ", group.span_open(), false);
        }
        self.put(open, group.span_open(), false);
        self.all(group.stream());
        self.put(close, group.span_close(), true);
    }

    fn word(&mut self, text: &str, span: Span) {
        if self.apart {
            self.item.text.push(' ');
        }
        self.put(text, span, true);
    }

    /// True if only the mnemonic of an instruction has been added so far.
    fn is_mnemonic(&self) -> bool {
        self.item.kind == ItemKind::Instruction && self.item.pieces.len() == 1
    }

    fn put(&mut self, text: &str, span: Span, apart: bool) {
        let start = self.item.text.len();
        self.item.text.push_str(text);
        self.item.pieces.push((start..self.item.text.len(), span));
        self.apart = apart;
    }
}

/// Appends the labels and instructions in a string literal.
fn strings(literal: &syn::LitStr, items: &mut Vec<Item>, errors: &mut Errors) {
    let text = literal.value();
    let lines = match source_lines(&text) {
        Ok(lines) => lines,
        Err(error) => {
            return errors.at(literal, format!("{} (line {} of the text)", error.fault, error.line));
        }
    };
    let span = literal.span();
    let begin = Begin::of(literal);
    let several =
        lines.iter().filter(|l| l.labels().next().is_some() || l.instruction().is_some()).count() > 1;
    for line in &lines {
        let item = |kind, at: usize, text: &str| Item {
            kind,
            text: text.to_owned(),
            pieces: vec![(0..text.len(), span)],
            place: begin.place(line.number, line.text, at),
            in_string: several.then(|| InString { line: line.number, at, text: line.text.to_owned() }),
        };
        items.extend(line.labels().map(|(at, name)| item(ItemKind::Label, at, name)));
        items.extend(line.instruction().map(|(at, text)| item(ItemKind::Instruction, at, text.trim_end())));
    }
}

/// The position where the text of a string literal starts.
struct Begin {
    place: Option<(usize, usize)>,
    /// True if the literal has no escapes, so that positions in its text correspond to source positions.
    plain: bool,
}

impl Begin {
    fn of(literal: &syn::LitStr) -> Begin {
        let written = literal.token().to_string();
        let opening = written.find('"').map_or(1, |quote| quote + 1);
        let plain = written.starts_with('r') || !written.contains('\\');
        let place =
            place(literal.span()).map(|(line, column)| (line, column + if plain { opening } else { 0 }));
        Begin { place, plain }
    }

    /// Line and column in the user's file of byte `at` in line `number` (from 1) of the text.
    fn place(&self, number: usize, text: &str, at: usize) -> Option<(usize, usize)> {
        let (line, column) = self.place?;
        if !self.plain {
            return Some((line, column));
        }
        let before = text.get(..at).map_or(at, |before| before.chars().count());
        Some((line + number - 1, if number == 1 { column + before } else { before + 1 }))
    }
}

/// Line and column of a span, both from 1; `None` outside a macro call, where there is no file.
fn place(span: Span) -> Option<(usize, usize)> {
    proc_macro::is_available().then(|| {
        let start = span.unwrap().start();
        (start.line(), start.column())
    })
}
