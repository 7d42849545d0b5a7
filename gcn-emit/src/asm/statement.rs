//! Statements: finds the end of each one, defines its labels, and dispatches the rest.

use super::Assembler;
use super::args::{Args, name_length};
use super::fault::{Fault, Located, Result};
use super::source::{line_end, string_end};
use super::span::Span;
use super::symbols::Def;

/// The start of a statement: the base of its text, the offset in the text, the text's length, and the nesting depth of texts.
struct Mark {
    base: usize,
    at: usize,
    end: usize,
    depth: usize,
}

impl<'s> Assembler<'s> {
    /// Processes all statements. Errors are collected, and processing continues with the next statement.
    pub fn statements(&mut self) {
        loop {
            while self.at < self.text.len() && !self.ended {
                if self.conditions.skipping() && self.skip_line() {
                    continue;
                }
                let mark = self.expanded_text.is_some().then(|| self.mark());
                // Statements are processed only here, so that the function can be inlined.
                let read = self.statement();
                if let Some(mark) = mark {
                    self.record(&mark);
                }
                if let Err(error) = read {
                    self.report(error);
                }
            }
            if self.ended || !self.leave() {
                break;
            }
        }
        if let Some(kernel) = self.open_kernel.take() {
            self.report(Located::new(kernel.span, Fault::OpenKernel));
        }
        if let Some(span) = self.unclosed_procedure() {
            self.report(Located::new(span, Fault::OpenProcedure));
        }
        if let Some(span) = self.conditions.close_to(0) {
            self.report(Located::new(span, Fault::OpenCondition));
        }
    }

    /// Marks the start of a statement whose text may have to be recorded.
    fn mark(&mut self) -> Mark {
        self.expands = false;
        Mark { base: self.base, at: self.at, end: self.text.len(), depth: self.frames.len() }
    }

    /// Records the text of the statement since a mark, unless the statement is replaced by its expansion.
    fn record(&mut self, mark: &Mark) {
        let behind = match self.frames.get(mark.depth) {
            Some(frame) => frame.after(),
            None if self.base == mark.base => self.at,
            None => mark.end,
        };
        let written = self.sources.written(mark.base + mark.at, mark.base + behind.min(mark.end));
        let entered = self.frames.len() > mark.depth;
        let Some(out) = &mut self.expanded_text else { return };
        if !self.expands {
            out.push_str(written);
            return;
        }
        // Starts a new line, so that text that follows does not become part of the comment.
        if !(out.ends_with('\n') || out.is_empty()) {
            out.push('\n');
        }
        if entered {
            let call = written.lines().next().unwrap_or_default().trim();
            *out += &format!("; {call}\n");
        }
    }

    /// Processes the next label, or the next statement without labels.
    fn statement(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        let at = skip_blanks(bytes, self.at);
        // The next statement is processed even if this one has an error.
        self.at = bytes.len();
        let Some(first) = bytes.get(at).copied() else { return Ok(()) };
        match first {
            b'\n' => {
                self.at = at + 1;
                return Ok(());
            }
            b';' | b'#' => {
                self.at = line_end(bytes, at) + 1;
                return Ok(());
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                self.at = line_end(bytes, at) + 1;
                return Ok(());
            }
            _ => {}
        }
        let (name, behind) = match first {
            b'"' => {
                let (end, closed) = string_end(bytes, at);
                (self.text.get(at + 1..end - usize::from(closed)).unwrap_or_default(), end)
            }
            _ => {
                let length = name_length(bytes.get(at..).unwrap_or_default());
                (self.text.get(at..at + length).unwrap_or_default(), at + length)
            }
        };
        let span = self.span(at, behind);
        let next = skip_blanks(bytes, behind);
        if bytes.get(next) == Some(&b':') && !name.is_empty() {
            self.at = next + 1;
            return self.label(name, first, span);
        }
        let (end, following) = statement_end(bytes, behind);
        self.at = following;
        let text = self.text.get(at..end).unwrap_or_default().trim_ascii_end();
        let assigns = bytes.get(next) == Some(&b'=') && bytes.get(next + 1) != Some(&b'=') && next < end;
        let start = self.base + at;
        if let Some(kernel) = self.open_kernel.take() {
            self.in_kernel(kernel, name, text, start, span)
        } else if name.is_empty() || first.is_ascii_digit() {
            Err(Located::new(
                self.span(at, behind.max(at + 1)),
                Fault::Expected("an instruction, a directive or a label"),
            ))
        } else if assigns {
            let mut args = Args::new(text, start);
            args.rewind(next + 1 - at);
            self.assignment(name, span, &mut args)
        } else if let Some(called) = self.macro_named(name) {
            let mut args = Args::new(text, start);
            args.rewind(behind - at);
            self.call_macro(&called, &mut args)
        } else if first == b'.' {
            if name == ".amdgpu_metadata" {
                return self.metadata(span);
            }
            self.directive(name, text, start, span)
        } else {
            self.instruction(text, start)
        }
    }

    /// Defines `name:`.
    fn label(&mut self, name: &'s str, first: u8, span: Span) -> Result<()> {
        if self.open_kernel.is_some() {
            return Err(Located::new(span, Fault::Expected("`.amdhsa_…` or `.end_amdhsa_kernel`")));
        }
        let sym = if first.is_ascii_digit() {
            let number = name.parse::<u64>();
            let number = number
                .map_err(|_| Located::new(span, Fault::Expected("a label: digits, or no digit in front")))?;
            self.symbols.define_numeric(number, span)
        } else if name == "." {
            return Err(Located::new(span, Fault::Expected("a name")));
        } else {
            self.symbols.intern(name.into(), span)
        };
        let here = self.here();
        let symbol = self.symbols.get_mut(sym);
        let again = match symbol.def {
            Def::Undefined => false,
            Def::Value(_) => symbol.flags.fixed || symbol.flags.used,
            _ => true,
        };
        if again {
            return Err(Located::new(span, Fault::Redefined(name.to_owned())));
        }
        symbol.def = Def::Label(here);
        symbol.flags.fixed = true;
        self.symbols.register(sym);
        Ok(())
    }
}

/// The instruction in the line at offset `line`, after labels, and the offset of the end of the statement's last line. Block comments in
/// the text are blanked out. `None` if the line has no instruction.
pub(crate) fn instruction_span(text: &str, line: usize) -> Option<(std::ops::Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let mut at = line;
    loop {
        at = skip_blanks(bytes, at);
        let behind = match bytes.get(at)? {
            b'\n' | b';' | b'#' => return None,
            b'/' if bytes.get(at + 1) == Some(&b'/') => return None,
            b'"' => string_end(bytes, at).0,
            _ => at + name_length(bytes.get(at..)?),
        };
        let next = skip_blanks(bytes, behind);
        if behind == at || bytes.get(next) != Some(&b':') {
            break;
        }
        at = next + 1;
    }
    let (end, _) = statement_end(bytes, at);
    let length = text.get(at..end)?.trim_ascii_end().len();
    (length > 0).then(|| (at..at + length, line_end(bytes, end)))
}

/// The offset of the first byte from `at` on that is not a blank.
fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c)) {
        at += 1;
    }
    at
}

/// The offset of the end of the statement that continues at `at`, and the offset of the next one.
fn statement_end(bytes: &[u8], at: usize) -> (usize, usize) {
    let mut from = at;
    while let Some(found) = bytes.get(from..).and_then(|rest| memchr::memchr3(b'\n', b';', b'/', rest)) {
        let end = from + found;
        match bytes[end] {
            b'\n' => return (end, end + 1),
            b'/' if bytes.get(end + 1) != Some(&b'/') => from = end + 1,
            _ if memchr::memchr2(b'"', b'\'', &bytes[at..end]).is_some() => return quoted_end(bytes, at),
            _ => return (end, line_end(bytes, end) + 1),
        }
    }
    (bytes.len(), bytes.len())
}

/// As [`statement_end`], for a statement with quotes, inside which no comment begins.
fn quoted_end(bytes: &[u8], mut at: usize) -> (usize, usize) {
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'\n' => return (at, at + 1),
            b';' => return (at, line_end(bytes, at) + 1),
            b'/' if bytes.get(at + 1) == Some(&b'/') => return (at, line_end(bytes, at) + 1),
            b'"' => string_end(bytes, at).0,
            b'\'' if bytes.get(at + 1) == Some(&b'\\') => at + 3,
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => at + 3,
            _ => at + 1,
        };
    }
    (bytes.len(), bytes.len())
}
