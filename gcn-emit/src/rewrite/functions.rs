//! Rewrites many functions in one text, each after a line `func NAME:`.
//!
//! A function ends at the next such line, or at a line that begins with `===`; text from there to the next `func` line is skipped. The
//! functions are assumed to be called by others, so all counters are waited for at their entry.

use std::borrow::Cow;

use gcn_isa::counters::WaitCnt;
use gcn_isa::program::{Entry, EntryKind};

use super::edit::Edits;
use super::{File, Only, Options, RewriteError, Writer, plan};
use crate::asm::NoFiles;
use crate::code::{Code, Unit};
use crate::target_id::TargetId;

/// A function with its waits, or the reason why it was not rewritten.
#[derive(Clone, PartialEq, Debug)]
pub struct FixedFunction {
    /// The function's name.
    pub name: String,
    /// The number of its `func` line, from 1.
    pub line: usize,
    /// The lines of its code with the waits.
    pub result: Result<String, RewriteError>,
}

/// Rewrites each function of `text` separately.
///
/// ```
/// use gcn_emit::rewrite::{Only, Options, fix_functions};
///
/// let options = Options { only: Some(Only::Counters), ..Options::default() };
/// let text = "func f:\nds_read_b32 v0, v1\nv_mov_b32 v2, v0\n\nfunc g:\nno_such\n";
/// let fixed = fix_functions(text, "gfx942".parse().unwrap(), &options);
/// assert_eq!(
///     fixed[0].result.as_deref().unwrap(),
///     "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\nds_read_b32 v0, v1\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, v0\n"
/// );
/// assert!(fixed[1].result.is_err());
/// ```
pub fn fix_functions(text: &str, target: TargetId, options: &Options) -> Vec<FixedFunction> {
    pieces(text)
        .map(|(name, line, body)| {
            let result = fix_piece(name, line, body, target, options);
            FixedFunction { name: name.to_owned(), line, result }
        })
        .collect()
}

/// The name, line number and text of each function.
fn pieces(text: &str) -> impl Iterator<Item = (&str, usize, &str)> {
    let mut found: Vec<(&str, usize, usize, usize)> = Vec::new();
    let mut open = false;
    let mut at = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|feed| feed + 1);
    for (number, end) in ends.chain([text.len()]).enumerate() {
        let line = text.get(at..end).unwrap_or_default();
        if let Some(name) = function_name(line) {
            found.push((name, number + 1, end, end));
            open = true;
        } else if line.starts_with("===") {
            open = false;
        } else if let (true, Some(last)) = (open, found.last_mut()) {
            last.3 = end;
        }
        at = end;
    }
    found.into_iter().map(|(name, line, from, to)| (name, line, text.get(from..to).unwrap_or_default()))
}

/// The name in a line `func NAME:`; `None` for other lines.
fn function_name(line: &str) -> Option<&str> {
    // Quickly excludes nearly all lines by their first byte.
    let first = line.bytes().find(|b| !b.is_ascii_whitespace())?;
    if first.is_ascii() && !matches!(first, b'f' | 0x0b) {
        return None;
    }
    let name = line.trim().strip_prefix("func ")?;
    Some(name.strip_suffix(':').unwrap_or(name).trim())
}

fn fix_piece(
    name: &str,
    line: usize,
    body: &str,
    target: TargetId,
    options: &Options,
) -> Result<String, RewriteError> {
    let body = with_line_end(body);
    let shown = format!("{name} (line {line})");
    let mut file = File::read(&shown, &body, (Some(target), options.wave), &NoFiles)?;
    let loops_to_its_start = |file: &File<'_>| {
        file.unit.sections.iter().take(1).any(|c| c.program.labels.iter().any(|l| l.at == Some(0)))
    };
    // Adds an entry before a loop, so that the caller's operations are waited for once and not in every iteration.
    let with_entry;
    if options.only != Some(Only::WaitStates) && loops_to_its_start(&file) {
        let set = target.target.instruction_set();
        with_entry = format!("{}\n{body}", WaitCnt::at_calls(set).on(set).statements().join("\n"));
        file = File::read(&shown, &with_entry, (Some(target), options.wave), &NoFiles)?;
    }
    let File { source, numbered, mut unit } = file;
    let origins = std::mem::take(&mut unit.origins);
    let Some((code, numbered)) = as_function(unit, &numbered) else { return Ok(body.into_owned()) };
    let wait = options.wait(target);
    let how = plan::How { wait, strip: options.strip, only: options.only };
    let whole = 0..code.program.lines.len();
    let plan = plan::plan(&code.program, &[whole], &how);
    let mut edits = Edits::default();
    let mut writer = Writer::new(&source, (&origins, &code), numbered, &mut edits);
    writer.comment = options.comment;
    writer.write(&plan)?;
    Ok(edits.apply(source.text))
}

/// The text without trailing blank lines, ending with a line end.
fn with_line_end(text: &str) -> Cow<'_, str> {
    let code = text.trim_end();
    match text.as_bytes().get(code.len()) {
        _ if code.is_empty() => Cow::Borrowed(""),
        Some(b'\n') => Cow::Borrowed(text.get(..=code.len()).unwrap_or(text)),
        _ => Cow::Owned(format!("{code}\n")),
    }
}

/// The only section with code, treated as entered by a caller, and its branches with numeric distances; `None` if there is no code.
fn as_function(unit: Unit, numbered: &[Vec<usize>]) -> Option<(Code, &[usize])> {
    let mut code = unit.sections.into_iter().next().filter(|c| !c.program.lines.is_empty())?;
    code.program.entries = vec![Entry { at: 0, kind: EntryKind::Function }];
    Some((code, numbered.first()?))
}
