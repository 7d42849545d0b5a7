//! Labels, symbols, macros and kernels: where they are defined and used.

use std::ops::Range;

use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, GotoDefinitionParams,
    GotoDefinitionResponse, Location, ReferenceParams, SymbolKind,
};

use super::diagnose::Settings;
use super::document::{Document, is_name, without_comment, words};

/// What a definition defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Label,
    Symbol,
    Macro,
    Kernel,
}

impl Kind {
    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Label => "label",
            Kind::Symbol => "symbol",
            Kind::Macro => "macro",
            Kind::Kernel => "kernel",
        }
    }
}

/// A definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition<'d> {
    pub name: &'d str,
    pub kind: Kind,
    /// From 0.
    pub line: u32,
    /// The name's place in the line.
    pub bytes: Range<usize>,
}

/// Directives that define the name after them.
const DEFINING: [(&str, Kind); 4] = [
    (".set", Kind::Symbol),
    (".equ", Kind::Symbol),
    (".macro", Kind::Macro),
    (".amdhsa_kernel", Kind::Kernel),
];

/// The definitions of a file in order.
pub fn definitions(document: &Document) -> impl Iterator<Item = Definition<'_>> {
    document.lines().flat_map(|(line, text)| in_line(line, text))
}

fn in_line(line: u32, text: &str) -> Vec<Definition<'_>> {
    let text = without_comment(text);
    let mut found = Vec::new();
    let mut labels = true;
    let mut names = words(text).peekable();
    while let Some((name, bytes)) = names.next() {
        let after = text[bytes.end..].trim_start();
        if labels && after.starts_with(':') {
            found.push(Definition { name, kind: Kind::Label, line, bytes });
            continue;
        }
        let defines = DEFINING.iter().find(|d| labels && d.0 == name);
        if let (Some((_, kind)), Some((name, bytes))) = (defines, names.peek().cloned()) {
            found.push(Definition { name, kind: *kind, line, bytes });
        } else if labels && after.starts_with('=') && !after.starts_with("==") {
            found.push(Definition { name, kind: Kind::Symbol, line, bytes });
        }
        labels = false;
    }
    found
}

/// The definitions of the word at a position.
pub fn definition(
    document: &Document,
    _: &Settings,
    params: GotoDefinitionParams,
) -> Option<GotoDefinitionResponse> {
    let (word, _) = document.word(params.text_document_position_params.position)?;
    // `1b` and `1f` mean the nearest label `1` before and after.
    let line = params.text_document_position_params.position.line;
    let numbered = |suffix: char| word.strip_suffix(suffix).filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let all = definitions(document).filter(|d| d.kind != Kind::Kernel);
    let found: Vec<Definition<'_>> = if let Some(number) = numbered('b').filter(|n| !n.is_empty()) {
        all.filter(|d| d.name == number && d.line <= line).last().into_iter().collect()
    } else if let Some(number) = numbered('f').filter(|n| !n.is_empty()) {
        all.into_iter().find(|d| d.name == number && d.line > line).into_iter().collect()
    } else {
        all.filter(|d| d.name == word).collect()
    };
    let places = found.into_iter().map(|d| location(document, d.line, d.bytes));
    Some(GotoDefinitionResponse::Array(places.collect()))
}

/// Every place that names the word at a position.
pub fn references(document: &Document, _: &Settings, params: ReferenceParams) -> Option<Vec<Location>> {
    let (wanted, _) = document.word(params.text_document_position.position)?;
    let defines = |line: u32, bytes: &Range<usize>| {
        in_line(line, document.line(line)).iter().any(|d| d.name == wanted && d.bytes == *bytes)
    };
    let mut found = Vec::new();
    for (line, text) in document.lines() {
        for (word, bytes) in words(without_comment(text)) {
            if word == wanted && (params.context.include_declaration || !defines(line, &bytes)) {
                found.push(location(document, line, bytes));
            }
        }
    }
    Some(found)
}

fn location(document: &Document, line: u32, bytes: Range<usize>) -> Location {
    Location::new(document.uri.clone(), document.range(line, bytes))
}

/// The definitions of a file, for an outline.
pub fn outline(document: &Document, _: &Settings, _: DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
    let symbols = definitions(document).map(|d| {
        let range = document.range(d.line, d.bytes);
        #[expect(deprecated, reason = "a deprecated field of the protocol's type has to be given")]
        DocumentSymbol {
            name: d.name.to_owned(),
            detail: Some(d.kind.name().to_owned()),
            kind: match d.kind {
                Kind::Label => SymbolKind::KEY,
                Kind::Symbol => SymbolKind::CONSTANT,
                Kind::Macro | Kind::Kernel => SymbolKind::FUNCTION,
            },
            tags: None,
            deprecated: None,
            range: document.statement(d.line),
            selection_range: range,
            children: None,
        }
    });
    Some(DocumentSymbolResponse::Nested(symbols.filter(|s| s.name.chars().all(is_name)).collect()))
}
