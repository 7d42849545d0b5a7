//! Converts instructions and labels to a program for one target.

use std::collections::HashMap;

use gcn_emit::text::{ExprValue, Scope, parse_inst_in};
use gcn_isa::program::SourceLoc;
use gcn_isa::target::Subtarget;
use gcn_isa::{Program, Target, table};

use super::Options;
use super::eval::{self, Wrong};
use super::faults::Faults;
use super::source::{Item, ItemKind};

/// The program that `items` form on this target and wave size. The line number in each line's location is the item's
/// index; lines that a later stage inserts have no location. `None` if an item cannot be parsed.
pub(crate) fn program(
    on: Subtarget,
    items: &[Item],
    options: &Options,
    faults: &mut Faults,
) -> Option<Program> {
    let mut program = Program { wave: on.wave, ..Program::new(on.target, "asm") };
    let labels = labels(items, &mut program, faults);
    let mut scope = Names { labels: &labels, constants: &options.constants, target: on.target };
    for (index, item) in items.iter().enumerate() {
        match item.kind {
            ItemKind::Label => {
                if let Some(&(label, first)) = labels.get(item.text.as_str())
                    && first == index
                {
                    program.place(gcn_isa::Label(label));
                }
            }
            ItemKind::Instruction => instruction(&mut program, index, item, &mut scope, faults),
        }
    }
    if !program.lines.iter().any(|l| l.loc.is_some()) && !faults.any() {
        faults.add(None, "there is no instruction here; write for example `s_nop 0;`".to_owned());
    }
    (!faults.any()).then_some(program)
}

/// The labels by name, each with its number and the item that defines it.
fn labels<'i>(
    items: &'i [Item],
    program: &mut Program,
    faults: &mut Faults,
) -> HashMap<&'i str, (u32, usize)> {
    let mut labels: HashMap<&str, (u32, usize)> = HashMap::new();
    for (index, item) in items.iter().enumerate().filter(|i| i.1.kind == ItemKind::Label) {
        match labels.get(item.text.as_str()) {
            Some((_, first)) => {
                let place = items.get(*first).map(|i| i.name(*first)).unwrap_or_default();
                let message = format!("the label `{}` is defined already, in {place}; rename one", item.text);
                faults.syntax(index, None, message);
            }
            None => {
                let label = program.new_label(item.text.clone());
                labels.insert(&item.text, (label.0, index));
            }
        }
    }
    labels
}

fn instruction(program: &mut Program, index: usize, item: &Item, scope: &mut Names<'_>, faults: &mut Faults) {
    if item.text.starts_with('.') {
        let name = item.text.split_whitespace().next().unwrap_or_default();
        let message = format!(
            "`{name}` is a directive: there are only instructions and labels here; what directives say about a kernel is \
             worked out from the code, or stands in attributes such as `#[lds(1024)]`"
        );
        return faults.syntax(index, None, message);
    }
    match parse_inst_in(&item.text, program.subtarget(), scope) {
        Err(error) => {
            faults.syntax(index, Some(error.at..error.at + error.len), error.fault.to_string());
        }
        Ok(parsed) if !parsed.fixups.is_empty() => {
            let message = "a label may stand for the target of a branch only".to_owned();
            faults.syntax(index, None, message);
        }
        Ok(parsed) => {
            let line = u32::try_from(index).unwrap_or(u32::MAX);
            program.push(parsed.inst).loc = Some(SourceLoc::new("", line, 1));
        }
    }
}

/// The labels and constants that operands may refer to.
struct Names<'a> {
    labels: &'a HashMap<&'a str, (u32, usize)>,
    constants: &'a [(String, i64)],
    target: Target,
}

impl Scope for Names<'_> {
    fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)> {
        if let Some((label, _)) = self.labels.get(expr) {
            return Ok(ExprValue::Later(*label));
        }
        match eval::value(expr, self.constants) {
            Ok(value) => Ok(ExprValue::Known(value)),
            Err((at, Wrong::Name(name))) => Err((at, self.unknown(&name))),
            Err((at, Wrong::TooLarge)) => Err((at, format!("`{expr}` does not fit 64 bits"))),
            Err((at, Wrong::Form)) => Err((
                at,
                format!("`{expr}` is not an operand, number, label or sum of numbers and constants"),
            )),
        }
    }
}

impl Names<'_> {
    fn unknown(&self, name: &str) -> String {
        if table::find_mnemonic(self.target, name).next().is_some() {
            return format!("`{name}` is an instruction; end the one before it with `;`");
        }
        let known = self.labels.keys().copied().chain(self.constants.iter().map(|c| c.0.as_str()));
        // The same maximum edit distance, relative to the length of the word, as for mnemonics.
        let limit = 1 + name.len() / 5;
        let nearest = known.map(|k| (strsim::levenshtein(k, name), k)).filter(|n| n.0 <= limit).min();
        match nearest {
            Some((_, nearest)) => format!("`{name}` is not defined here; the nearest name is `{nearest}`"),
            None => {
                format!("`{name}` is not defined here; a label is defined by `{name}:` before an instruction")
            }
        }
    }
}
