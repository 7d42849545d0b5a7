//! Completions at a position, as the types of the protocol.

use gcn_report::editing::{self, Candidate, What};
use lsp_types::{CompletionItem, CompletionItemKind, CompletionList, CompletionParams};

use super::diagnose::Settings;
use super::document::Document;

/// The completions at the position of a request.
pub fn complete(
    document: &Document,
    settings: &Settings,
    params: CompletionParams,
) -> Option<CompletionList> {
    let before = document.before(params.text_document_position.position);
    let target = settings.target_of(&document.text).map(|id| id.target);
    let (_, candidates) = editing::complete(&document.text, before, target);
    if candidates.is_empty() {
        return None;
    }
    Some(CompletionList { is_incomplete: false, items: candidates.iter().map(item).collect() })
}

fn item(candidate: &Candidate<'_>) -> CompletionItem {
    let kind = match candidate.what {
        What::Mnemonic => CompletionItemKind::FUNCTION,
        What::Directive => CompletionItemKind::KEYWORD,
        What::Modifier => CompletionItemKind::PROPERTY,
        What::Register => CompletionItemKind::VARIABLE,
        What::Definition => CompletionItemKind::REFERENCE,
    };
    CompletionItem {
        label: candidate.label.to_owned(),
        kind: Some(kind),
        detail: Some(candidate.detail.to_owned()).filter(|d| !d.is_empty()),
        ..CompletionItem::default()
    }
}
