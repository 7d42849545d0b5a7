//! Explanations of the instruction, modifier, register or directive under the pointer.

use std::fmt::Write as _;

use gcn_emit::code::Unit;
use gcn_emit::rewrite::{self, ExplainedWait};
use gcn_isa::mods::{self, Word};
use gcn_isa::reference::{self, Form, Hazard, HazardStates, Page};
use gcn_isa::table;
use gcn_report::editing::{definitions, words};
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::diagnose::{self, Settings};
use super::document::Document;

/// The explanation of the word at a position; `None` if there is nothing to explain.
pub fn hover(document: &Document, settings: &Settings, params: HoverParams) -> Option<Hover> {
    let position = params.text_document_position_params.position;
    let (word, bytes) = document.word(position)?;
    let value = instruction(document, settings, word)
        .map(|page| page + &reasons(document, settings, position.line, word))
        .or_else(|| modifier(document, settings, position.line, word))
        .or_else(|| symbol(document, word))?;
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
        range: Some(document.range(position.line, bytes)),
    })
}

fn instruction(document: &Document, settings: &Settings, word: &str) -> Option<String> {
    let target = settings.target_of(&document.text).map(|id| id.target);
    let page = reference::page(word, target).or_else(|_| reference::page(word, None)).ok()?;
    Some(markdown(&page))
}

/// The reasons for a wait at this line, as in `gcn explain`; empty for other instructions.
fn reasons(document: &Document, settings: &Settings, line: u32, word: &str) -> String {
    let target = settings.target_of(&document.text).map(|id| id.target);
    let mut rows = target.into_iter().flat_map(|target| table::find_mnemonic(target, word));
    if !rows.any(rewrite::is_wait) {
        return String::new();
    }
    let unit =
        diagnose::read(document, settings).ok().and_then(|read| Unit::from_assembly(read.assembly).ok());
    let waits = unit.map(|unit| rewrite::explain(&unit, settings.rules)).unwrap_or_default();
    let here = waits.iter().filter(|wait| wait.line == Some(line + 1));
    here.flat_map(ExplainedWait::words).map(|why| format!("\nHere: {why}\n")).collect()
}

/// A short form of the page of an instruction; `gcn inst` prints all of it.
fn markdown(page: &Page) -> String {
    let mut out = format!("**{}**\n", page.mnemonic);
    if !page.semantics.is_empty() {
        let _ = write!(out, "\n`{}`\n", page.semantics);
    }
    for matrix in &page.matrix {
        let passes: Vec<String> = matrix.passes.iter().map(ToString::to_string).collect();
        let _ = write!(out, "\n{}x{}x{} on {}", matrix.m, matrix.n, matrix.k, matrix.target);
        let _ = match passes.is_empty() {
            true => writeln!(out, ", waves of {} lanes", matrix.wave),
            false => writeln!(out, ": {} passes of 4 cycles", passes.join(" or ")),
        };
    }
    out += "\n```text\n";
    for form in &page.forms {
        let _ = writeln!(out, "{}", signature(form));
    }
    out += "```\n";
    let mut counters: Vec<&str> = page.forms.iter().flat_map(|f| &f.counters).map(|c| c.counter).collect();
    counters.sort_unstable();
    counters.dedup();
    if !counters.is_empty() {
        let _ = write!(out, "\nCounted by {}.\n", counters.join(", "));
    }
    for hazard in &page.hazards {
        let _ = write!(out, "\n- [{}] {}{} ({})", hazard.id, hazard.title, states(hazard), hazard.citation);
    }
    let _ = write!(out, "\n\nOn {}.", page.targets.join(", "));
    if !page.hazards_elsewhere.is_empty() {
        out += " Its hazards are sequences of instructions: see `gcn rules --target`.";
    }
    if !page.witness.is_empty() {
        let _ = write!(out, " Meaning stated by {}.", page.witness);
    }
    out.push('\n');
    out
}

/// The number of wait states that a rule requires, as text.
fn states(hazard: &Hazard) -> String {
    let of = |states: &HazardStates| match states.after_this.as_slice() {
        [] => states.formula.clone(),
        numbers => numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "),
    };
    let mut all: Vec<String> = hazard.wait_states.iter().map(of).collect();
    all.dedup();
    if all.is_empty() { String::new() } else { format!(": {} wait states", all.join(" or ")) }
}

/// The syntax of an instruction form, with optional modifiers in brackets.
pub fn signature(form: &Form) -> String {
    let operands: Vec<&str> = form.operands.iter().map(|o| o.name).collect();
    let mut out = format!("{} {}", form.printed, operands.join(", "));
    for modifier in &form.modifiers {
        let text = &modifier.syntax;
        let _ = if modifier.required { write!(out, " {text}") } else { write!(out, " [{text}]") };
    }
    out
}

fn modifier(document: &Document, settings: &Settings, line: u32, word: &str) -> Option<String> {
    let found = mods::word_named(word)?;
    let target = settings.target_of(&document.text)?.target;
    let mut on_line = words(document.line(line)).map(|(word, _)| word);
    let row =
        on_line.find_map(|word| table::find_mnemonic(target, word).chain(table::find(target, word)).next());
    let offsets = row.and_then(|row| row.offset_range).unwrap_or((0, 0));
    let bits = row.map_or(1, |row| row.op_sel_bits().max(1).into());
    Some(describe(found, bits, offsets))
}

fn describe(word: &Word, bits: usize, offsets: (i32, i32)) -> String {
    format!("`{}`\n\n{}\n", word.syntax(bits, offsets), word.modifier.meaning())
}

/// The line that defines a label, a symbol or a macro, as text; `None` if the text defines no such name.
fn symbol(document: &Document, word: &str) -> Option<String> {
    let definition = definitions(&document.text).find(|d| d.name == word)?;
    let text = document.line(definition.line).trim();
    Some(format!("{} at line {}\n\n```text\n{text}\n```\n", definition.kind.name(), definition.line + 1))
}
