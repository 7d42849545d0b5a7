//! Edits of a text that preserve every other byte.

use std::ops::Range;

use super::source::{SourceText, Statement, is_blank};

/// Edits, collected in any order.
#[derive(Debug, Default)]
pub(super) struct Edits {
    list: Vec<Edit>,
    /// The inserted pieces, concatenated.
    text: String,
}

/// A piece of the text that is replaced by another.
#[derive(Debug)]
struct Edit {
    old: Range<usize>,
    /// The offset of the replacement in [`Edits::text`], and its length.
    new: (usize, usize),
}

impl Edits {
    fn push(&mut self, old: Range<usize>, new: &[&str]) {
        let start = self.text.len();
        self.text.extend(new.iter().copied());
        self.list.push(Edit { old, new: (start, self.text.len() - start) });
    }

    /// Inserts a line before an instruction, after its labels.
    pub fn before(&mut self, source: &SourceText<'_>, statement: &Statement, new: &str) {
        let indentation = source.indentation(statement);
        let end = source.line_end;
        if is_blank(source.before(statement)) {
            self.push(statement.line..statement.line, &[indentation, new, end]);
        } else {
            let at = statement.span.start;
            self.push(at..at, &[new, end, indentation]);
        }
    }

    /// Inserts a line after an instruction, before the labels that follow.
    pub fn behind(&mut self, source: &SourceText<'_>, statement: &Statement, new: &str) {
        let indentation = source.indentation(statement);
        let end = source.line_end;
        // A carriage return is part of the line end.
        match source.text.as_bytes().get(statement.end) {
            Some(_) => {
                let at = statement.end + 1;
                self.push(at..at, &[indentation, new, end]);
            }
            None => self.push(statement.end..statement.end, &[end, indentation, new]),
        }
    }

    /// Inserts a line before a line, which is counted from 1.
    pub fn line(&mut self, source: &SourceText<'_>, line: u32, new: &str) {
        let at = source.start(line);
        let indentation = source.blanks(line);
        self.push(at..at, &[indentation, new, source.line_end]);
    }

    /// Removes an instruction. If nothing else is on its line, removes the line.
    pub fn remove(&mut self, source: &SourceText<'_>, statement: &Statement) {
        let (before, behind) = (source.before(statement), source.behind(statement));
        let range = match (is_blank(before), is_blank(behind)) {
            (true, true) => statement.line..(statement.end + 1).min(source.text.len()),
            (false, true) => statement.line + before.trim_ascii_end().len()..statement.span.end,
            _ => statement.span.clone(),
        };
        self.push(range, &[]);
    }

    /// Replaces the operands of an instruction.
    pub fn operands(&mut self, source: &SourceText<'_>, statement: &Statement, new: &str) {
        let text = source.instruction(statement);
        let mnemonic = text.find(|c: char| c.is_ascii_whitespace() || c == '/').unwrap_or(text.len());
        let blanks = text.get(mnemonic..).unwrap_or_default();
        let blanks = blanks.len() - blanks.trim_ascii_start().len();
        let at = statement.span.start + mnemonic + blanks;
        let space = if blanks == 0 { " " } else { "" };
        self.push(at..statement.span.end, &[space, new]);
    }

    /// The text with all edits applied. Edits at the same position are applied in the order in which they were added.
    pub fn apply(mut self, text: &str) -> String {
        self.list.sort_by_key(|edit| edit.old.start);
        let mut out = String::with_capacity(text.len() + self.text.len());
        let mut at = 0;
        for Edit { old, new: (start, length) } in &self.list {
            out.push_str(text.get(at..old.start).unwrap_or_default());
            out.push_str(self.text.get(*start..start + length).unwrap_or_default());
            at = old.end.max(at);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, edit: impl Fn(&mut Edits, &SourceText<'_>, &Statement)) -> String {
        let source = SourceText::new(text);
        let statement = source.statement(1).expect("an instruction");
        let mut edits = Edits::default();
        edit(&mut edits, &source, &statement);
        edits.apply(text)
    }

    #[test]
    fn lines_go_in_where_they_belong() {
        let before = |t| edited(t, |e, s, i| e.before(s, i, "s_nop 4"));
        let behind = |t| edited(t, |e, s, i| e.behind(s, i, "s_nop 4"));
        assert_eq!(before("  s_endpgm ; x\nb:"), "  s_nop 4\n  s_endpgm ; x\nb:");
        assert_eq!(before("k: s_endpgm"), "k: s_nop 4\n\ts_endpgm");
        assert_eq!(behind(" s_mov_b32 s0, 0 // é\r\nb:"), " s_mov_b32 s0, 0 // é\r\n s_nop 4\r\nb:");
        assert_eq!(behind("k: s_endpgm"), "k: s_endpgm\n\ts_nop 4");
        assert_eq!(behind("s_nop 0 /* a\n b */\nb:"), "s_nop 0 /* a\n b */\ns_nop 4\nb:");
    }

    #[test]
    fn what_else_stands_in_the_line_stays() {
        let remove = |t| edited(t, Edits::remove);
        assert_eq!(remove("\ts_nop 0\t\r\nb"), "b");
        assert_eq!(remove("k: s_nop 0\nb"), "k:\nb");
        assert_eq!(remove("\ts_nop 0 ; why\nb"), "\t ; why\nb");
        assert_eq!(remove("k: s_nop 0 ; why\nb"), "k:  ; why\nb");
        let other = |t| edited(t, |e, s, i| e.operands(s, i, "vmcnt(3)"));
        assert_eq!(other("s_waitcnt   vmcnt(0) & lgkmcnt(0) // x"), "s_waitcnt   vmcnt(3) // x");
        assert_eq!(other("s_waitcnt 0"), "s_waitcnt vmcnt(3)");
    }
}
