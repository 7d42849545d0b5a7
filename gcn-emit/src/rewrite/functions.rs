//! Many pieces of code in one text, each behind a line `func NAME:`.
//!
//! A piece ends at the next such line or at a line that begins with `===`; what stands between that and the next `func` line is
//! skipped. Pieces are functions that others call, so that counters are waited for where they begin.

use gcn_isa::counters::WaitCnt;
use gcn_isa::program::{Entry, EntryKind};

use super::edit::Edits;
use super::{Only, Options, RewriteError, Writer, plan, wait_options};
use crate::code::{Code, Unit};
use crate::target_id::TargetId;

/// A piece of code with its waits, or why it has none.
#[derive(Clone, PartialEq, Debug)]
pub struct FixedFunction {
    /// Its name.
    pub name: String,
    /// Line of its `func` line, from 1.
    pub line: usize,
    /// The lines of its code with the waits.
    pub result: Result<String, RewriteError>,
}

/// Fixes each piece of `text` by itself.
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

/// Name, line and text of each piece.
fn pieces(text: &str) -> impl Iterator<Item = (&str, usize, &str)> {
    let mut found: Vec<(&str, usize, usize, usize)> = Vec::new();
    let mut open = false;
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let name =
            line.trim().strip_prefix("func ").map(|name| name.strip_suffix(':').unwrap_or(name).trim());
        let end = at + line.len();
        if let Some(name) = name {
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

fn fix_piece(
    name: &str,
    line: usize,
    body: &str,
    target: TargetId,
    options: &Options,
) -> Result<String, RewriteError> {
    let body = body.trim_end();
    let body = if body.is_empty() { String::new() } else { format!("{body}\n") };
    let shown = format!("{name} (line {line})");
    let mut file = super::File::read(&shown, &body, Some(target))?;
    let loops_to_its_start = |file: &super::File<'_>| {
        file.unit.sections.iter().take(1).any(|c| c.program.labels.iter().any(|l| l.at == Some(0)))
    };
    // The caller's operations are waited for once, not each time around.
    let with_entry;
    if options.only != Some(Only::WaitStates) && loops_to_its_start(&file) {
        with_entry = format!("s_waitcnt {}\n{body}", WaitCnt::ALL);
        file = super::File::read(&shown, &with_entry, Some(target))?;
    }
    let Some(code) = as_function(&file.unit) else { return Ok(body) };
    let wait = wait_options(target, options.rules);
    let how = plan::How { wait, strip: options.strip, only: options.only };
    let whole = 0..code.program.lines.len();
    let plan = plan::plan(&code.program, &[whole], &how);
    let (mut edits, mut changes) = (Edits::default(), Vec::new());
    let numbered = file.numbered(&code);
    let mut writer = Writer {
        source: &file.source,
        code: &code,
        numbered: &numbered,
        comment: options.comment,
        edits: &mut edits,
        changes: &mut changes,
    };
    writer.write(&plan)?;
    Ok(edits.apply(file.source.text))
}

/// The only section with code, entered by a caller.
fn as_function(unit: &Unit) -> Option<Code> {
    let mut code = unit.sections.first().filter(|c| !c.program.lines.is_empty())?.clone();
    code.program.entries = vec![Entry { at: 0, kind: EntryKind::Function }];
    Some(code)
}
