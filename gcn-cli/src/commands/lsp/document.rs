//! An open file: its text, and positions in it.

use std::ops::Range;

use gcn_report::editing::{without_comment, words};
use lsp_types::{Position, TextDocumentContentChangeEvent, Uri};

/// An open file.
#[derive(Clone)]
pub struct Document {
    pub uri: Uri,
    pub text: String,
    pub version: i32,
    /// The byte offset at which each line starts.
    starts: Vec<usize>,
}

impl Document {
    /// A document that an editor has opened.
    pub fn new(uri: Uri, text: String, version: i32) -> Document {
        let starts = starts(&text);
        Document { uri, text, version, starts }
    }

    /// The name of the file for messages.
    pub fn name(&self) -> &str {
        self.uri.path().as_str()
    }

    /// Applies the changes of a notification, in order.
    pub fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, version: i32) {
        for change in changes {
            match change.range {
                Some(range) => {
                    let from = self.offset(range.start);
                    let to = self.offset(range.end).max(from);
                    self.text.replace_range(from..to, &change.text);
                }
                None => self.text = change.text,
            }
            self.starts = starts(&self.text);
        }
        self.version = version;
    }

    /// The text of a line (numbered from 0) without its line end; empty past the end of the text.
    pub fn line(&self, line: u32) -> &str {
        self.bytes(line).and_then(|bytes| self.text.get(bytes)).unwrap_or("")
    }

    /// The lines with their numbers, from 0.
    pub fn lines(&self) -> impl Iterator<Item = (u32, &str)> {
        (0..self.starts.len() as u32).map(|line| (line, self.line(line)))
    }

    fn bytes(&self, line: u32) -> Option<Range<usize>> {
        let line = line as usize;
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| *next);
        let text = self.text.get(start..end)?;
        Some(start..start + text.trim_end_matches(['\n', '\r']).len())
    }

    /// The byte offset of a position; for a position outside of the text, the nearest offset.
    fn offset(&self, position: Position) -> usize {
        match self.bytes(position.line) {
            Some(bytes) => bytes.start + byte_of(self.line(position.line), position.character),
            None => self.text.len(),
        }
    }

    /// The end of the text.
    pub fn end(&self) -> Position {
        let line = self.starts.len().saturating_sub(1) as u32;
        Position::new(line, units(self.line(line)))
    }

    /// The statement of a line, without blanks and comment around it.
    pub fn statement(&self, line: u32) -> lsp_types::Range {
        let text = self.line(line);
        let code = without_comment(text).trim_end();
        let first = code.len() - code.trim_start().len();
        self.range(line, first..code.len())
    }

    /// A byte range of a line as a range of the protocol.
    pub fn range(&self, line: u32, bytes: Range<usize>) -> lsp_types::Range {
        let text = self.line(line);
        let character = |byte: usize| units(text.get(..byte).unwrap_or(text));
        lsp_types::Range::new(
            Position::new(line, character(bytes.start)),
            Position::new(line, character(bytes.end)),
        )
    }

    /// A range of characters of a line, as the assembler counts them, as a range of the protocol; the whole statement if `count` is 0.
    pub fn characters(&self, line: u32, first: u32, count: u32) -> lsp_types::Range {
        let text = self.line(line);
        let byte = |n: u32| text.char_indices().nth(n as usize).map_or(text.len(), |(byte, _)| byte);
        if count == 0 {
            return self.statement(line);
        }
        self.range(line, byte(first)..byte(first + count))
    }

    /// The word at a position, with its byte range in the line; `None` in a comment and between words.
    pub fn word(&self, position: Position) -> Option<(&str, Range<usize>)> {
        let text = self.line(position.line);
        let at = byte_of(text, position.character);
        words(without_comment(text)).find(|(_, bytes)| (bytes.start..=bytes.end).contains(&at))
    }

    /// The text of the line before a position.
    pub fn before(&self, position: Position) -> &str {
        let text = self.line(position.line);
        text.get(..byte_of(text, position.character)).unwrap_or(text)
    }
}

fn starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

fn units(text: &str) -> u32 {
    text.chars().map(|c| c.len_utf16() as u32).sum()
}

/// Converts an offset in a line from UTF-16 code units to bytes.
fn byte_of(line: &str, character: u32) -> usize {
    let mut passed = 0;
    for (byte, c) in line.char_indices() {
        if passed >= character {
            return byte;
        }
        passed += c.len_utf16() as u32;
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::new("file:///k.s".parse().unwrap(), text.to_owned(), 1)
    }

    fn change(range: Option<[u32; 4]>, text: &str) -> TextDocumentContentChangeEvent {
        let range = range.map(|[a, b, c, d]| lsp_types::Range::new(Position::new(a, b), Position::new(c, d)));
        TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() }
    }

    #[test]
    fn changes_count_utf16_units() {
        let mut d = document("s_nop 0 ; ä𝄞x\r\ns_endpgm\n");
        // The position is after the clef (U+1D11E), which takes two UTF-16 code units.
        d.change(vec![change(Some([0, 13, 0, 14]), "y")], 2);
        assert_eq!(d.text, "s_nop 0 ; ä𝄞y\r\ns_endpgm\n");
        d.change(vec![change(Some([0, 0, 1, 0]), ""), change(Some([0, 8, 0, 8]), " ; end")], 3);
        assert_eq!(d.text, "s_endpgm ; end\n");
        d.change(vec![change(Some([7, 0, 9, 3]), "s_nop 1")], 4);
        assert_eq!(d.text, "s_endpgm ; end\ns_nop 1");
        d.change(vec![change(None, "")], 5);
        assert_eq!((d.text.as_str(), d.end()), ("", Position::new(0, 0)));
    }

    #[test]
    fn words_end_before_comments() {
        let d = document("  v_add_f32 v0, v1, v2 // v3\n");
        assert_eq!(d.word(Position::new(0, 4)).unwrap().0, "v_add_f32");
        assert_eq!(d.word(Position::new(0, 14)).unwrap().0, "v0");
        assert_eq!(d.word(Position::new(0, 26)), None);
        assert_eq!(d.statement(0).end, Position::new(0, 22));
    }
}
