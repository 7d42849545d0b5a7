//! Quick fixes: insert the missing wait of one finding, or all missing waits of a file.

use std::collections::HashMap;

use gcn_emit::asm;
use gcn_emit::rewrite::{self, fix_with};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Diagnostic, Position, Range, TextEdit,
    WorkspaceEdit,
};

use super::diagnose::{Remedy, SOURCE, Settings};
use super::document::Document;

/// The quick fixes for the findings that the editor sends along with its request.
pub fn actions(
    document: &Document,
    settings: &Settings,
    params: CodeActionParams,
) -> Option<Vec<CodeActionOrCommand>> {
    let wanted = |kind: &CodeActionKind| {
        let only = params.context.only.as_deref();
        only.is_none_or(|only| only.iter().any(|o| kind.as_str().starts_with(o.as_str())))
    };
    let ours = params.context.diagnostics.iter().filter(|d| d.source.as_deref() == Some(SOURCE));
    let mut found = Vec::new();
    if wanted(&CodeActionKind::QUICKFIX) {
        found.extend(ours.clone().filter_map(|d| insertion(document, d)));
    }
    let explicit = params.context.only.is_some();
    if wanted(&CodeActionKind::SOURCE_FIX_ALL) && (explicit || !found.is_empty()) {
        found.extend(everything(document, settings));
    }
    Some(found.into_iter().map(CodeActionOrCommand::CodeAction).collect())
}

fn action(document: &Document, title: String, kind: CodeActionKind, edit: TextEdit) -> CodeAction {
    #[expect(
        clippy::mutable_key_type,
        reason = "the protocol's type; its cell holds nothing that the hash reads"
    )]
    let changes = HashMap::from([(document.uri.clone(), vec![edit])]);
    CodeAction {
        title,
        kind: Some(kind),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    }
}

/// Inserts the statements that a finding requires, before its instruction.
fn insertion(document: &Document, diagnostic: &Diagnostic) -> Option<CodeAction> {
    let remedy: Remedy = serde_json::from_value(diagnostic.data.clone()?).ok()?;
    if remedy.statements.is_empty() {
        return None;
    }
    let line = document.line(remedy.line);
    let statement = document.statement(remedy.line).start;
    let indent = &line[..line.len() - line.trim_start().len()];
    // If the line has a label before the instruction, the wait is inserted between the two.
    let has_label =
        line.split_once(':').is_some_and(|(label, _)| label.trim().chars().all(gcn_report::editing::is_name));
    let (at, text) = if has_label {
        let after = line.find(':').map_or(0, |colon| colon + 1);
        let range = document.range(remedy.line, after..after);
        (range.start, format!("\n\t{}\n\t", remedy.statements.join("\n\t")))
    } else {
        let joined = remedy.statements.join(&format!("\n{indent}"));
        (statement, format!("{joined}\n{indent}"))
    };
    let title = format!("Insert `{}`", remedy.statements.join("; "));
    let edit = TextEdit { range: Range::new(at, at), new_text: text };
    let mut action = action(document, title, CodeActionKind::QUICKFIX, edit);
    action.diagnostics = Some(vec![diagnostic.clone()]);
    action.is_preferred = Some(true);
    Some(action)
}

/// Inserts all waits that `gcn fix` inserts.
fn everything(document: &Document, settings: &Settings) -> Option<CodeAction> {
    let target = settings.target.filter(|_| asm::named_target(&document.text).is_none());
    let options = rewrite::Options {
        target,
        wave: settings.wave,
        xnack: settings.xnack.choice(),
        rules: settings.rules,
        ..rewrite::Options::default()
    };
    let fixed = fix_with(document.name(), &document.text, &options, &settings.folders).ok()?;
    if fixed.text == document.text {
        return None;
    }
    let all = Range::new(Position::new(0, 0), document.end());
    let edit = TextEdit { range: all, new_text: fixed.text };
    Some(action(document, "Insert all missing waits".to_owned(), CodeActionKind::SOURCE_FIX_ALL, edit))
}
