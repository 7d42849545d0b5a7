//! Completions at a position: mnemonics, directives, modifiers, labels and named registers.

use std::collections::BTreeMap;

use gcn_emit::asm;
use gcn_isa::mods::Word;
use gcn_isa::table::{self, InstDesc};
use gcn_isa::target::Family;
use gcn_isa::{SrcSpecial, Target};
use serde::Serialize;

use super::{definitions, is_name, without_comment};

/// Named registers.
const REGISTERS: [&str; 6] = ["vcc", "exec", "m0", "scc", "flat_scratch", "off"];

/// A word that is possible at a position.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Candidate<'t> {
    /// The word.
    pub label: &'t str,
    /// Its kind.
    pub what: What,
    /// Its meaning in one line; empty if the word speaks for itself.
    pub detail: &'static str,
}

/// The kind of a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// An instruction.
    Mnemonic,
    /// A directive such as `.set`.
    Directive,
    /// A modifier of the line's instruction.
    Modifier,
    /// A named register.
    Register,
    /// A label, symbol, macro or kernel defined in the text.
    Definition,
}

/// The start of the word at the caret, and the words that are possible there. `before` is the line up to the caret. There are no
/// completions in comments. Without a target, all mnemonics are possible and no modifiers.
///
/// ```
/// use gcn_isa::Target;
/// use gcn_report::editing::complete;
///
/// let (typed, candidates) = complete("", "  v_mfma_f32_32x32x8", Some(Target::GFX942));
/// assert_eq!(typed, "v_mfma_f32_32x32x8");
/// assert!(candidates.iter().any(|c| c.label == "v_mfma_f32_32x32x8_f16"));
/// assert_eq!(complete("", "  v_mfma_f32_32x32x8", Some(Target::GFX900)).1, []);
/// let (_, candidates) = complete("", "  global_load_b12", Some(Target::GFX1201));
/// assert_eq!(candidates[0].label, "global_load_b128");
/// ```
pub fn complete<'t>(text: &'t str, before: &'t str, target: Option<Target>) -> (&'t str, Vec<Candidate<'t>>) {
    if without_comment(before).len() < before.len() {
        return ("", Vec::new());
    }
    let statement = after_labels(before);
    let typed = &statement[statement.rfind(|c| !is_name(c)).map_or(0, |at| at + 1)..];
    let mut words = statement.split_ascii_whitespace();
    let candidates = match words.next() {
        Some(word) if word.len() < statement.trim_start().len() => operands(text, target, word),
        _ if typed.starts_with('.') => {
            asm::directives().map(|name| candidate(name, What::Directive, "")).collect()
        }
        _ => mnemonics(target, typed),
    };
    (typed, candidates)
}

/// The statement without preceding labels.
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

fn candidate<'t>(label: &'t str, what: What, detail: &'static str) -> Candidate<'t> {
    Candidate { label, what, detail }
}

/// The mnemonics of a target, or of all targets, that begin with what is typed. The halves of a VOPD instruction are words of their own.
fn mnemonics(target: Option<Target>, typed: &str) -> Vec<Candidate<'static>> {
    let families = Family::ALL.into_iter().filter(|family| target.is_none_or(|t| t.family() == *family));
    let rows = families.flat_map(table::rows_of).filter(|row| target.is_none_or(|t| row.targets.contains(t)));
    let words = rows.flat_map(|row| match row.halves {
        Some(halves) => halves.map(|half| Some((half.mnemonic, half.entry))),
        None => [Some((row.mnemonic, row.entry)), None],
    });
    let wanted: BTreeMap<_, _> = words.flatten().filter(|(name, _)| name.starts_with(typed)).collect();
    wanted.into_iter().map(|(name, entry)| candidate(name, What::Mnemonic, entry.meaning)).collect()
}

/// The completions after a mnemonic: its modifiers, registers, labels and symbols.
fn operands<'t>(text: &'t str, target: Option<Target>, mnemonic: &str) -> Vec<Candidate<'t>> {
    let rows: Vec<&InstDesc> = target
        .into_iter()
        .flat_map(|t| table::find_mnemonic(t, mnemonic).chain(table::find(t, mnemonic)))
        .collect();
    let words: BTreeMap<&str, &Word> =
        rows.iter().flat_map(|row| row.words(target)).map(|word| (word.name, word)).collect();
    let modifier = |word: &Word| candidate(word.name, What::Modifier, word.modifier.meaning());
    let mut found: Vec<Candidate<'t>> = words.into_values().map(modifier).collect();
    let special = SrcSpecial::ALL.into_iter().map(SrcSpecial::name);
    found.extend(REGISTERS.into_iter().chain(special).map(|r| candidate(r, What::Register, "")));
    found.extend(definitions(text).map(|d| candidate(d.name, What::Definition, d.kind.name())));
    found
}
