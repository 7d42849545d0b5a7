//! What may stand at a position: mnemonics, directives, modifiers, labels and named registers.

use std::collections::BTreeMap;

use gcn_emit::asm;
use gcn_isa::mods::Word;
use gcn_isa::table::{self, InstDesc};
use gcn_isa::{SrcSpecial, Target};
use lsp_types::{CompletionItem, CompletionItemKind, CompletionList, CompletionParams};

use super::diagnose::Settings;
use super::document::{Document, is_name, without_comment};
use super::symbols;

/// Registers with a name of their own.
const REGISTERS: [&str; 6] = ["vcc", "exec", "m0", "scc", "flat_scratch", "off"];

/// What may stand at the position.
pub fn complete(
    document: &Document,
    settings: &Settings,
    params: CompletionParams,
) -> Option<CompletionList> {
    let before = document.before(params.text_document_position.position);
    if without_comment(before).len() < before.len() {
        return None;
    }
    let target = settings.target_of(&document.text).map(|id| id.target);
    let statement = after_labels(before);
    let typed = &statement[statement.rfind(|c| !is_name(c)).map_or(0, |at| at + 1)..];
    let mut words = statement.split_ascii_whitespace();
    let items = match words.next() {
        Some(word) if word.len() < statement.trim_start().len() => operands(document, target, word),
        _ if typed.starts_with('.') => directives(),
        _ => mnemonics(target, typed),
    };
    Some(CompletionList { is_incomplete: false, items })
}

/// The statement without the labels before it.
fn after_labels(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some((label, after)) = rest.split_once(':')
        && !label.is_empty()
        && label.chars().all(is_name)
    {
        rest = after.trim_start();
    }
    rest
}

fn item(label: &str, kind: CompletionItemKind, detail: &str) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail: Some(detail.to_owned()).filter(|d| !d.is_empty()),
        ..CompletionItem::default()
    }
}

fn mnemonics(target: Option<Target>, typed: &str) -> Vec<CompletionItem> {
    let exists = |name: &&str| target.is_none_or(|t| table::find_mnemonic(t, name).next().is_some());
    let wanted = table::mnemonics().filter(|name| name.starts_with(typed)).filter(exists);
    wanted.map(|name| item(name, CompletionItemKind::FUNCTION, meaning(name))).collect()
}

/// The meaning of a mnemonic in one line.
fn meaning(mnemonic: &str) -> &'static str {
    gcn_isa::semantics::of(mnemonic).map_or("", |s| s.line)
}

fn directives() -> Vec<CompletionItem> {
    asm::directives().map(|name| item(name, CompletionItemKind::KEYWORD, "")).collect()
}

/// After a mnemonic: its modifiers, registers, labels and symbols.
fn operands(document: &Document, target: Option<Target>, mnemonic: &str) -> Vec<CompletionItem> {
    let rows: Vec<&InstDesc> = target
        .into_iter()
        .flat_map(|t| table::find_mnemonic(t, mnemonic).chain(table::find(t, mnemonic)))
        .collect();
    let words: BTreeMap<&str, &Word> =
        rows.iter().flat_map(|row| row.words(target)).map(|word| (word.name, word)).collect();
    let modifier = |word: &Word| item(word.name, CompletionItemKind::PROPERTY, word.modifier.meaning());
    let mut items: Vec<CompletionItem> = words.into_values().map(modifier).collect();
    let special = SrcSpecial::ALL.into_iter().map(SrcSpecial::name);
    items.extend(REGISTERS.into_iter().chain(special).map(|r| item(r, CompletionItemKind::VARIABLE, "")));
    let symbols = symbols::definitions(document);
    items.extend(symbols.map(|s| item(s.name, CompletionItemKind::REFERENCE, s.kind.name())));
    items
}
