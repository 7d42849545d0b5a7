//! Answers an editor's questions about text that is being edited: words, definitions, and completions. Both `gcn lsp` and the playground
//! use these functions.

mod complete;
mod definitions;

use std::ops::Range;

pub use complete::{Candidate, What, complete};
pub use definitions::{Definition, Kind, definitions, definitions_in};

/// The line without its comment. A `;` in quotes does not start a comment.
///
/// ```
/// assert_eq!(gcn_report::editing::without_comment(".ascii \"a;b\" ; c"), ".ascii \"a;b\" ");
/// ```
pub fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ';' if !quoted => return &line[..at],
            '/' if !quoted && line[at..].starts_with("//") => return &line[..at],
            _ => {}
        }
    }
    line
}

/// True for a character that may be part of a name.
pub fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}

/// The words of a line with their byte ranges.
pub fn words(line: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &line[at..];
        let start = at + rest.find(is_name)?;
        let rest = &line[start..];
        let end = start + rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        at = end;
        Some((&line[start..end], start..end))
    })
}
