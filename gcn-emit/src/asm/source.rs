//! The text of a file: comments that span lines, and lines and columns of byte offsets.

use std::borrow::Cow;

use super::diagnostic::{Diagnostic, Severity, Shown};
use super::span::Span;

/// The text with blanks in place of `/* … */`, so that offsets stay what they are, and the offset of a comment that does not
/// end. A comment joins the lines that it spans, as in LLVM. Comments inside strings and other comments are none.
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

/// Offset of the line feed at or behind `at`, or of the end.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(bytes.len(), |n| at + n)
}

/// Offset behind the string whose opening quote is at `at`, and whether it is closed; a string ends with its line at the
/// latest.
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

/// Lines and columns of byte offsets.
pub(super) struct Lines<'s> {
    file: &'s str,
    text: &'s str,
}

impl<'s> Lines<'s> {
    pub fn new(file: &'s str, text: &'s str) -> Lines<'s> {
        Lines { file, text }
    }

    /// The text as it was written, in which comments still have their line feeds.
    pub fn bytes(&self) -> &'s [u8] {
        self.text.as_bytes()
    }

    /// Line of a byte offset and column in characters, both from 1, and the offset of the line's first byte. Counts the lines
    /// before it: for errors, not for every instruction.
    pub fn place(&self, at: usize) -> (u32, u32, usize) {
        let bytes = self.text.as_bytes();
        let at = at.min(bytes.len());
        let before = bytes.get(..at).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before).count() as u32 + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |n| n + 1);
        (line, characters(bytes, start, at) + 1, start)
    }

    /// A diagnostic for a span.
    pub fn diagnostic(
        &self,
        severity: Severity,
        span: Span,
        message: String,
        help: Option<String>,
    ) -> Diagnostic {
        let at = (span.at as usize).min(self.text.len());
        let (line, column, start) = self.place(at);
        let end = line_end(self.text.as_bytes(), at);
        let stop = (at + span.len as usize).min(end);
        let source = self.text.get(start..end).unwrap_or_default();
        let source = source.strip_suffix('\r').unwrap_or(source);
        Diagnostic {
            severity,
            file: self.file.to_owned(),
            line,
            column,
            length: characters(self.text.as_bytes(), at, stop),
            message,
            help,
            shown: Shown::new(source, at - start, stop - start),
        }
    }
}

/// Characters that start in `bytes[start..end]`.
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
        let lines = Lines::new("f", "aé b\nc");
        assert_eq!(lines.place(4), (1, 4, 0));
        assert_eq!(lines.place(6), (2, 1, 6));
        assert_eq!(lines.place(100), (2, 2, 6));
    }
}
