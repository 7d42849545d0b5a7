//! Inserts `s_delay_alu` into the text. They are performance hints, and are inserted after all other changes.

use gcn_isa::delay::insert_delays;
use gcn_isa::immediate::Immediate;
use gcn_isa::{Inst, Program};

use super::apply::Writer;
use super::edit::Edits;
use super::{File, Options, RewriteError};
use crate::asm::Files;

/// The text with new hints instead of the existing ones, and the number of new hints. Instructions that the text does not contain as such
/// get no hint, which only costs a little time.
pub(super) fn renewed(
    file: &str,
    text: &str,
    options: &Options,
    files: &dyn Files,
) -> Result<(String, usize), RewriteError> {
    let (bare, _) = edited(file, text, options, files, |program| (hints(program), Vec::new()))?;
    edited(file, &bare, options, files, |program| (Vec::new(), new_hints(program)))
}

/// The text with changes to each section: lines to remove, and instructions to insert before lines.
fn edited(
    file: &str,
    text: &str,
    options: &Options,
    files: &dyn Files,
    what: impl Fn(&Program) -> (Vec<usize>, Vec<(usize, Inst)>),
) -> Result<(String, usize), RewriteError> {
    let file = File::read(file, text, (options.target, options.wave), files)?;
    let (mut edits, mut count) = (Edits::default(), 0);
    for (code, numbered) in file.unit.sections.iter().zip(&file.numbered) {
        let (removed, put) = what(&code.program);
        let mut writer = Writer::new(&file.source, (&file.unit.origins, code), numbered, &mut edits);
        count += writer.hints(&removed, &put)?;
    }
    Ok((edits.apply(text), count))
}

fn is_hint(inst: &Inst) -> bool {
    inst.desc.entry.immediate == Immediate::Delay
}

/// The lines with `s_delay_alu`.
fn hints(program: &Program) -> Vec<usize> {
    (0..program.lines.len()).filter(|line| is_hint(&program.lines[*line].inst)).collect()
}

/// The hints for a program that has none, each with the line before which it must be inserted.
fn new_hints(program: &Program) -> Vec<(usize, Inst)> {
    if program.lines.iter().any(|line| is_hint(&line.inst)) {
        return Vec::new();
    }
    let mut with = program.clone();
    insert_delays(&mut with, &mut []);
    let lines = with.lines.iter().enumerate().filter(|(_, line)| is_hint(&line.inst));
    lines.enumerate().map(|(earlier, (at, line))| (at - earlier, (*line.inst).clone())).collect()
}
