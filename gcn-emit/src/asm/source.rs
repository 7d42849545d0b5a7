//! The source texts of statements: comments that span lines, lines and columns of byte offsets, and the nesting of
//! texts.

use std::borrow::Cow;
use std::cell::Cell;

use super::diagnostic::{Diagnostic, Note, Severity, Shown};
use super::span::Span;

/// The text with blanks in place of `/* … */`, so that offsets stay the same, and the offset of an unterminated
/// comment. A comment joins the lines that it spans, as in LLVM. Comment delimiters inside a string or another comment
/// are ignored.
pub(crate) fn without_block_comments(text: &str) -> (Cow<'_, str>, Option<usize>) {
    if memchr::memmem::find(text.as_bytes(), b"/*").is_none() {
        return (Cow::Borrowed(text), None);
    }
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at, mut open) = (0, 0, None);
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr::memchr3(b'/', b';', b'"', rest)) {
        at += next;
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'*')) => {
                let end = memchr::memmem::find(&bytes[at + 2..], b"*/").map(|n| at + n + 4);
                if end.is_none() {
                    open = Some(at);
                }
                let end = end.unwrap_or(bytes.len());
                out.push_str(&text[copied..at]);
                out.extend(std::iter::repeat_n(' ', end - at));
                (copied, at) = (end, end);
            }
            (b'/', Some(b'/')) | (b';', _) => at = line_end(bytes, at),
            (b'"', _) => at = string_end(bytes, at).0,
            _ => at += 1,
        }
    }
    out.push_str(&text[copied..]);
    (Cow::Owned(out), open)
}

/// The offset of the first line feed from `at` on; if there is none, the length of the text.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(bytes.len(), |n| at + n)
}

/// The offset after the string whose opening quote is at `at`, and whether the string is closed. A string ends with its
/// line at the latest.
pub(super) fn string_end(bytes: &[u8], at: usize) -> (usize, bool) {
    let mut at = at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return (at + 1, true),
            b'\n' => return (at, false),
            b'\\' if bytes.get(at + 1).is_some_and(|next| *next != b'\n') => at += 2,
            _ => at += 1,
        }
    }
    (bytes.len(), false)
}

/// A source text of statements: the file itself, an included file, or the expansion of a macro or repetition.
///
/// All sources share one space of offsets, in which each begins where the previous one ends, so that a [`Span`] alone
/// identifies a position.
pub(super) struct Source<'s> {
    /// The offset of the source's first byte among all sources.
    base: u32,
    /// The original text, in which comments still have their line feeds.
    text: &'s str,
    /// The file that contains these lines. The lines of an expansion are those of the body.
    file: &'s str,
    /// The line in that file of the source's first byte.
    first_line: u32,
    /// The statement that started the source; `None` for the file itself.
    call: Option<Call<'s>>,
    /// A cached offset in the text and its line. Counting starts there, because lines are mostly queried in ascending order.
    counted: Cell<(u32, u32)>,
}

/// The statement that started an expansion or an included file.
#[derive(Clone, Copy)]
pub(super) struct Call<'s> {
    /// The statement.
    pub span: Span,
    /// The macro or directive; for an included file, its path.
    pub name: &'s str,
    /// True for an included file.
    pub is_file: bool,
}

/// All texts, in the order in which they were entered.
pub(super) struct Sources<'s> {
    list: Vec<Source<'s>>,
}

impl<'s> Sources<'s> {
    /// The file itself.
    pub fn new(file: &'s str, text: &'s str) -> Sources<'s> {
        let main = Source { base: 0, text, file, first_line: 1, call: None, counted: Cell::new((0, 1)) };
        Sources { list: vec![main] }
    }

    /// Adds a text and returns its base, or `None` if all texts together exceed 4 GiB.
    pub fn push(&mut self, text: &'s str, file: &'s str, first_line: u32, call: Call<'s>) -> Option<u32> {
        let last = self.list.last()?;
        // The base is one more than the end of the previous source, so that the offset of that end is unique.
        let base = u32::try_from(last.base as usize + last.text.len() + 1).ok()?;
        u32::try_from(base as usize + text.len()).ok()?;
        let counted = Cell::new((0, first_line));
        self.list.push(Source { base, text, file, first_line, call: Some(call), counted });
        Some(base)
    }

    /// The original text of the file itself.
    pub fn main(&self) -> &'s str {
        self.list.first().map_or("", |main| main.text)
    }

    /// The original text between these offsets among all sources.
    pub fn written(&self, from: usize, to: usize) -> &'s str {
        let Some(source) = self.of(from) else { return "" };
        let base = source.base as usize;
        source.text.get(from - base..to.saturating_sub(base)).unwrap_or_default()
    }

    fn of(&self, at: usize) -> Option<&Source<'s>> {
        let next = self.list.partition_point(|source| source.base as usize <= at);
        self.list.get(next.checked_sub(1)?)
    }

    /// The corresponding offset in the file itself: `at`, or the offset of the outermost call.
    pub fn outermost(&self, at: u32) -> u32 {
        let mut at = at;
        while let Some(call) = self.of(at as usize).and_then(|source| source.call) {
            at = call.span.at;
        }
        at
    }

    /// File and line, from 1, of an offset. An expansion has the lines of the body.
    pub fn line(&self, at: usize) -> (&'s str, u32) {
        self.of(at).map_or(("", 1), |source| (source.file, source.line(at - source.base as usize)))
    }

    /// A diagnostic for a span, with the calls that lead to it as notes.
    pub fn diagnostic(
        &self,
        severity: Severity,
        span: Span,
        message: String,
        help: Option<String>,
    ) -> Diagnostic {
        let at = span.at as usize;
        let mut notes = Vec::new();
        let mut call = self.of(at).and_then(|source| source.call);
        while let Some(inner) = call {
            notes.push(self.note(inner));
            call = self.of(inner.span.at as usize).and_then(|source| source.call);
        }
        let Some(source) = self.of(at) else { return Diagnostic::nowhere(severity, message) };
        let order = (self.outermost(span.at), span.at);
        Diagnostic {
            severity,
            message,
            help,
            notes,
            order,
            ..source.place(at - source.base as usize, span.len)
        }
    }

    fn note(&self, call: Call<'s>) -> Note {
        let (file, line) = self.line(call.span.at as usize);
        let name = call.name;
        let message = if call.is_file {
            format!("in `{name}`, which is included here")
        } else {
            format!("in the expansion of `{name}` here")
        };
        Note { file: file.to_owned(), line, message }
    }
}

impl Source<'_> {
    /// The line of a byte offset in the text.
    fn line(&self, at: usize) -> u32 {
        let bytes = self.text.as_bytes();
        let at = at.min(bytes.len());
        let (from, line) = match self.counted.get() {
            (from, line) if from as usize <= at => (from as usize, line),
            _ => (0, self.first_line),
        };
        let feeds = memchr::memchr_iter(b'\n', bytes.get(from..at).unwrap_or_default()).count();
        let line = line + feeds as u32;
        self.counted.set((at as u32, line));
        line
    }

    /// A diagnostic without a message: file, line and column of an offset in the text, and the part of the line to
    /// display.
    fn place(&self, at: usize, length: u32) -> Diagnostic {
        let bytes = self.text.as_bytes();
        let at = at.min(bytes.len());
        let start = memchr::memrchr(b'\n', bytes.get(..at).unwrap_or_default()).map_or(0, |n| n + 1);
        let end = line_end(bytes, at);
        let stop = (at + length as usize).min(end);
        let line = self.text.get(start..end).unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        Diagnostic {
            file: self.file.to_owned(),
            line: self.line(at),
            column: characters(bytes, start, at) + 1,
            length: characters(bytes, at, stop),
            shown: Shown::new(line, at - start, stop - start),
            ..Diagnostic::nowhere(Severity::Error, String::new())
        }
    }
}

/// The number of characters that start in `bytes[start..end]`.
fn characters(bytes: &[u8], start: usize, end: usize) -> u32 {
    let part = bytes.get(start..end).unwrap_or_default();
    part.iter().filter(|byte| (**byte & 0xc0) != 0x80).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_comments_become_blanks() {
        let cases = [
            ("a /* b\n c */ d", "a            d", None),
            ("\"/*\" ; /*\n/**/x", "\"/*\" ; /*\n    x", None),
            ("// /*\n\"a\\\"/*\" /*/ é */", "// /*\n\"a\\\"/*\"          ", None),
            ("a /* b", "a     ", Some(2)),
        ];
        for (text, blanked, open) in cases {
            let (out, at) = without_block_comments(text);
            assert_eq!((out.as_ref(), at), (blanked, open), "{text}");
            assert_eq!(out.len(), text.len());
        }
    }

    #[test]
    fn columns_count_characters() {
        let sources = Sources::new("f", "aé b\nc");
        let place = |at| {
            let d = sources.diagnostic(Severity::Error, Span::new(at, at), String::new(), None);
            (d.line, d.column)
        };
        assert_eq!(place(4), (1, 4));
        assert_eq!(place(6), (2, 1));
        assert_eq!(place(3), (1, 3));
        assert_eq!(place(100), (2, 2));
    }

    #[test]
    fn an_offset_in_an_expansion_leads_to_the_line_of_its_body_and_to_the_call() {
        let mut sources = Sources::new("f", "0\n1\n2\n3\n");
        let call = Call { span: Span::new(6, 7), name: "m", is_file: false };
        let outer = sources.push("a\nb\n", "f", 2, call).unwrap() as usize;
        let call = Call { span: Span::new(outer + 2, outer + 3), name: "n", is_file: false };
        let inner = sources.push("x", "g", 7, call).unwrap() as usize;
        assert_eq!((sources.line(inner), sources.outermost(inner as u32)), (("g", 7), 6));
        assert_eq!((sources.line(outer + 2), sources.written(outer + 2, outer + 3)), (("f", 3), "b"));
        let d = sources.diagnostic(Severity::Error, Span::new(inner, inner + 1), String::new(), None);
        let notes: Vec<_> = d.notes.iter().map(|n| (n.file.as_str(), n.line)).collect();
        assert_eq!(notes, [("f", 3), ("f", 4)]);
    }
}
