//! Completions at the caret.

use gcn_emit::asm;
use gcn_report::editing::{self, Candidate};
use serde_json::{Value, json};

use super::Source;

/// The maximum number of words that are shown.
const SHOWN: usize = 60;

/// The words that may complete the last word of `before`, a line of the text up to the caret.
pub fn complete(source: &Source, before: &str) -> Result<Value, String> {
    let target = asm::named_target(&source.text).or(source.target()?).map(|id| id.target);
    let (typed, candidates) = editing::complete(&source.text, before, target);
    let begins = |c: &&Candidate<'_>| c.label.starts_with(typed) && c.label != typed;
    let mut shown: Vec<&Candidate<'_>> = candidates.iter().filter(begins).collect();
    shown.sort_by_key(|c| (c.what, c.label));
    shown.dedup_by_key(|c| c.label);
    shown.truncate(SHOWN);
    Ok(json!({ "typed": typed, "candidates": shown }))
}
