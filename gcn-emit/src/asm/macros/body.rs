//! Finds the end of the body of a macro or repetition.

use std::ops::Range;

use super::super::Assembler;
use super::super::args::name_length;
use super::super::fault::{Fault, Located, Result};
use super::super::source::line_end;
use super::super::span::Span;

/// The statements of a macro or repetition.
#[derive(Clone, Copy)]
pub(in crate::asm) struct Body<'s> {
    pub text: &'s str,
    /// The file that contains the body's first byte.
    pub file: &'s str,
    pub line: u32,
}

impl Body<'_> {
    /// True if the text contains `\+`, the number of the repetition, so that the repetitions differ.
    pub fn is_numbered(&self) -> bool {
        memchr::memmem::find(self.text.as_bytes(), b"\\+").is_some()
    }
}

/// The directives that begin and end a body.
pub(in crate::asm) struct Delimiters {
    pub begin: &'static [&'static str],
    pub end: &'static [&'static str],
}

impl<'s> Assembler<'s> {
    /// Consumes the lines up to the directive that ends the body, with nested bodies of the same kind included. `span`
    /// is the directive that begins it.
    pub fn body(&mut self, delimiters: &Delimiters, span: Span) -> Result<Body<'s>> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let (mut at, mut depth) = (start, 0u32);
        while at < bytes.len() {
            let (line, end) = (at, line_end(bytes, at));
            let (word_at, word) = first_word(self.text, line, end);
            at = end + 1;
            if delimiters.begin.contains(&word) {
                depth += 1;
            } else if delimiters.end.contains(&word) {
                if depth == 0 {
                    let behind = word_at + word.len();
                    return self.body_between(start..line, behind..end);
                }
                depth -= 1;
            }
        }
        self.at = bytes.len();
        Err(Located::new(span, Fault::OpenBody(delimiters.end.first().copied().unwrap_or_default())))
    }

    /// The body in the byte range `body`. Reading continues at `rest`, after the directive that ends the body.
    fn body_between(&mut self, body: Range<usize>, rest: Range<usize>) -> Result<Body<'s>> {
        self.at = (rest.end + 1).min(self.text.len());
        let after = self.text.get(rest.clone()).unwrap_or_default().trim_ascii();
        if !(after.is_empty() || after.starts_with(';') || after.starts_with("//")) {
            let span = self.span(rest.start, rest.end);
            return Err(Located::new(span, Fault::Expected("the end of the statement")));
        }
        let (file, line) = self.sources.line(self.base + body.start);
        Ok(Body { text: self.text.get(body).unwrap_or_default(), file, line })
    }
}

/// The name that a line begins with, and its offset.
fn first_word(text: &str, at: usize, end: usize) -> (usize, &str) {
    let line = text.get(at..end).unwrap_or_default();
    let start = at + line.len() - line.trim_ascii_start().len();
    let word = text.get(start..end).unwrap_or_default();
    let length = name_length(word.as_bytes());
    (start, word.get(..length).unwrap_or_default())
}
