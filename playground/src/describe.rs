//! Explanations of instructions and modifiers.

use gcn_emit::target_id::TargetId;
use gcn_isa::{mods, reference};
use serde_json::{Value, json};

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
