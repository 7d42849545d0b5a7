//! What an instruction or a modifier means.

use gcn_emit::target_id::TargetId;
use gcn_isa::{mods, reference, semantics, table};
use serde_json::{Value, json};

/// The most mnemonics that are offered at a time.
const OFFERED: usize = 50;

/// The page of an instruction, or the meaning of a modifier; `null` for other words.
pub fn word(word: &str, target: Option<TargetId>) -> Value {
    let target = target.map(|id| id.target);
    if let Ok(page) = reference::page(word, target).or_else(|_| reference::page(word, None)) {
        return json!({ "page": page });
    }
    match mods::word_named(word) {
        Some(word) => json!({ "modifier": word.name, "meaning": word.modifier.meaning() }),
        None => Value::Null,
    }
}

/// Mnemonics of the target that begin like this, each with its meaning in a line.
pub fn complete(start: &str, target: Option<TargetId>) -> Value {
    let target = target.map(|id| id.target);
    let exists = |name: &&str| target.is_none_or(|t| table::find_mnemonic(t, name).next().is_some());
    let wanted = table::mnemonics().filter(|name| name.starts_with(start)).filter(exists);
    let row = |name: &str| json!({ "name": name, "meaning": semantics::of(name).map_or("", |s| s.line) });
    wanted.take(OFFERED).map(row).collect()
}
