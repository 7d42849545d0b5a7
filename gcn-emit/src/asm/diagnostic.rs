//! Diagnostics: an error, its position and its remedy, in one value for people, tools and JSON.

use std::fmt;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde::Serialize;

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// No code object can be produced.
    Error,
    /// The text may not mean what it appears to mean.
    Warning,
}

/// One problem in a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The file's name, as the caller specified it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column of the first character, from 1, in characters.
    pub column: u32,
    /// The number of characters in this line; 0 if something is missing.
    pub length: u32,
    /// The problem, in lower case, without a full stop.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// The macro calls, repetitions and included files that lead to the position, the innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// The part of the source line to display.
    #[serde(skip)]
    pub(super) shown: Shown,
    /// The sort key: the offset of the outermost call in the file itself, and the offset of the error.
    #[serde(skip)]
    pub(super) order: (u32, u32),
}

/// A position on the way to that of a diagnostic, such as a macro call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Note {
    /// The file's name.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// The error message.
    pub message: String,
}

/// A part of a source line, and the bytes in it to mark.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Shown {
    text: String,
    start: usize,
    end: usize,
}

/// The number of bytes of a line that are displayed on each side of the position.
const CONTEXT: usize = 160;

impl Shown {
    /// The bytes `at..end` of `line` with their context.
    pub fn new(line: &str, at: usize, end: usize) -> Shown {
        let end = end.min(line.len()).max(at.min(line.len())).min(at + CONTEXT);
        let from = floor(line, at.saturating_sub(CONTEXT));
        let to = floor(line, (end + CONTEXT).min(line.len()));
        let text = line.get(from..to).unwrap_or_default().to_owned();
        let last = text.len();
        Shown {
            start: (floor(line, at.min(line.len())) - from).min(last),
            end: (floor(line, end) - from).min(last),
            text,
        }
    }
}

/// The last character boundary at or before a byte offset.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl Diagnostic {
    /// A diagnostic without a position.
    pub(super) fn nowhere(severity: Severity, message: String) -> Diagnostic {
        let (file, help, notes, shown) = (String::new(), None, Vec::new(), Shown::default());
        Diagnostic {
            severity,
            file,
            line: 1,
            column: 1,
            length: 0,
            message,
            help,
            notes,
            shown,
            order: (0, 0),
        }
    }

    /// The message, then the place, the source line with carets, the notes, and the help; optionally with terminal
    /// colours.
    pub fn render(&self, colours: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let span = self.shown.start..self.shown.end.max(self.shown.start);
        let snippet = Snippet::source(self.shown.text.as_str())
            .line_start(self.line as usize)
            .fold(false)
            .annotation(AnnotationKind::Primary.span(span));
        let mut group = level.primary_title(self.message.as_str()).element(snippet);
        for note in &self.notes {
            group =
                group.element(Level::NOTE.message(format!("{}:{}: {}", note.file, note.line, note.message)));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
        // The position comes first, in the form that editors and build tools recognise. The renderer would count
        // columns from the displayed part of the line.
        format!("{}:{}:{}: {}", self.file, self.line, self.column, renderer.render(&[group]))
    }
}

impl fmt::Display for Diagnostic {
    /// [`Diagnostic::render`] without colours.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// All problems in a file, in the order of its lines.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Diagnostics {
    /// The first diagnostics, at most [`Diagnostics::LIMIT`].
    pub list: Vec<Diagnostic>,
    /// The number of further errors.
    pub more: usize,
}

impl Diagnostics {
    /// The largest number of diagnostics that are kept. A file that is not assembly would cause one for every line.
    pub const LIMIT: usize = 20;

    /// True if further errors are only counted.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= Diagnostics::LIMIT
    }

    /// Sorts by position in the file. Errors that are found only during layout would otherwise come last.
    #[must_use]
    pub(super) fn in_order(mut self) -> Diagnostics {
        self.list.sort_by_key(|d| d.order);
        self
    }

    /// All diagnostics as text, optionally with terminal colours.
    pub fn render(&self, colours: bool) -> String {
        let mut text = self.list.iter().map(|d| d.render(colours)).collect::<Vec<_>>().join("\n\n");
        if self.more > 0 {
            text += &format!("\n\nand {} more", self.more);
        }
        text
    }
}

impl fmt::Display for Diagnostics {
    /// [`Diagnostics::render`] without colours.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}
