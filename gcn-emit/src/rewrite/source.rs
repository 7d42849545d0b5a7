//! The positions of instructions in the text of an assembly file, and the file's layout.

use std::borrow::Cow;
use std::ops::Range;

use crate::asm::{instruction_span, without_block_comments};

/// The text of a file, with the positions of its lines.
pub(super) struct SourceText<'a> {
    /// The original text.
    pub text: &'a str,
    /// The text with blanks in place of `/* … */`, including line ends inside comments.
    clean: Cow<'a, str>,
    /// The offset of each line's first byte.
    starts: Vec<usize>,
    /// The line end of most lines.
    pub line_end: &'static str,
}

/// An instruction in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// The offset of the first byte of its line.
    pub line: usize,
    /// The offsets of the instruction, without blanks and comments around it.
    pub span: Range<usize>,
    /// The offset of the end of the last line that contains a part of the instruction or of a comment after it: the offset of the line end,
    /// or of the end of the text.
    pub end: usize,
}

impl<'a> SourceText<'a> {
    /// Locates the lines.
    pub fn new(text: &'a str) -> SourceText<'a> {
        let (clean, _) = without_block_comments(text);
        let feeds = memchr::memchr_iter(b'\n', text.as_bytes());
        let starts = std::iter::once(0).chain(feeds.map(|at| at + 1)).collect();
        let bytes = text.as_bytes();
        let windows =
            memchr::memchr(b'\n', bytes).is_some_and(|at| at > 0 && bytes.get(at - 1) == Some(&b'\r'));
        SourceText { text, clean, starts, line_end: if windows { "\r\n" } else { "\n" } }
    }

    /// The instruction that begins in a line (from 1), if there is one.
    pub fn statement(&self, line: u32) -> Option<Statement> {
        let line = *self.starts.get((line as usize).checked_sub(1)?)?;
        let (span, end) = instruction_span(&self.clean, line)?;
        Some(Statement { line, span, end })
    }

    /// The offset of a line, from 1.
    pub fn start(&self, line: u32) -> usize {
        let start = (line as usize).checked_sub(1).and_then(|i| self.starts.get(i));
        start.copied().unwrap_or(self.text.len())
    }

    /// The label at the start of a line (from 1), if there is one.
    pub fn label(&self, line: u32) -> Option<&str> {
        let text = self.clean.get(self.start(line)..self.start(line + 1))?.trim_ascii_start();
        let (name, _) = text.split_once(':')?;
        let name = name.trim_ascii_end();
        (!name.contains(char::is_whitespace)).then(|| name.trim_matches('"'))
    }

    /// The indentation of the line after a line with a label, from 1.
    pub fn blanks(&self, line: u32) -> &'a str {
        let next = self.text.get(self.start(line + 1)..).unwrap_or_default();
        let instruction = next.lines().next().unwrap_or_default();
        let length = instruction.len() - instruction.trim_ascii_start().len();
        instruction.get(..length).unwrap_or_default()
    }

    /// The text before an instruction in its line.
    pub fn before(&self, statement: &Statement) -> &'a str {
        self.text.get(statement.line..statement.span.start).unwrap_or_default()
    }

    /// The text after an instruction in its line.
    pub fn behind(&self, statement: &Statement) -> &'a str {
        self.text.get(statement.span.end..statement.end).unwrap_or_default()
    }

    /// The instruction's text.
    pub fn instruction(&self, statement: &Statement) -> &'a str {
        self.text.get(statement.span.clone()).unwrap_or_default()
    }

    /// The indentation for a new line next to this instruction: that of the instruction or, if the instruction does not start its line,
    /// that of most lines.
    pub fn indentation(&self, statement: &Statement) -> &'a str {
        let before = self.before(statement);
        if is_blank(before) { before } else { "\t" }
    }
}

/// True if the text is empty or consists of blanks.
pub(super) fn is_blank(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | 0x0b | 0x0c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_found_behind_labels_and_comments() {
        let text = "a: 1: s_nop 0 ; idle\r\n/* x\n y */ \"b c\": s_nop /* two */ 1 // t\n\tx = 3\n s_endpgm";
        let source = SourceText::new(text);
        let show = |line| source.statement(line).map(|s| (source.instruction(&s), s.end));
        assert_eq!(show(1), Some(("s_nop 0", 21)));
        assert_eq!(show(3).map(|s| s.0), Some("s_nop /* two */ 1"));
        assert_eq!(show(5), Some(("s_endpgm", text.len())));
        assert_eq!(show(9), None);
        assert_eq!(source.line_end, "\r\n");
    }
}
