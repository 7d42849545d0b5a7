//! Labels, symbols, macros and kernels: where they are defined and used.

use std::ops::Range;

use gcn_report::editing::{Definition, Kind, definitions, definitions_in, is_name, without_comment, words};
use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, GotoDefinitionParams,
    GotoDefinitionResponse, Location, ReferenceParams, SymbolKind,
};

use super::diagnose::Settings;
use super::document::Document;

/// The definitions of the word at a position; `None` if there is no word there.
pub fn definition(
    document: &Document,
    _: &Settings,
    params: GotoDefinitionParams,
) -> Option<GotoDefinitionResponse> {
    let (word, _) = document.word(params.text_document_position_params.position)?;
    // `1b` and `1f` refer to the nearest label `1` before and after this line.
    let line = params.text_document_position_params.position.line;
    let numbered = |suffix: char| word.strip_suffix(suffix).filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let all = definitions(&document.text).filter(|d| d.kind != Kind::Kernel);
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

/// Every occurrence of the word at a position; `None` if there is no word there.
pub fn references(document: &Document, _: &Settings, params: ReferenceParams) -> Option<Vec<Location>> {
    let (wanted, _) = document.word(params.text_document_position.position)?;
    let defines = |line: u32, bytes: &Range<usize>| {
        definitions_in(line, document.line(line)).iter().any(|d| d.name == wanted && d.bytes == *bytes)
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
    let symbols = definitions(&document.text).map(|d| {
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
