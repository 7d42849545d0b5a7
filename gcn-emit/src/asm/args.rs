//! Parses the arguments of a directive.

use std::borrow::Cow;

use super::fault::{Fault, Located, Result};
use super::span::Span;

/// The text of one statement, read from left to right.
#[derive(Clone)]
pub(super) struct Args<'s> {
    text: &'s str,
    at: usize,
    /// The offset of the statement in the file.
    base: usize,
}

/// True for bytes that a symbol or directive may contain.
pub(super) fn is_name(byte: u8) -> bool {
    NAME[usize::from(byte)]
}

/// True for a name that a symbol may have without quotation marks: letters, digits, `_ $ . @ ?` and characters that are not ASCII, not
/// beginning with a digit. `.` alone is the position.
///
/// ```
/// use gcn_emit::asm::is_symbol;
/// assert!(is_symbol("tile.n") && is_symbol("_1x") && !is_symbol("1x") && !is_symbol("a b") && !is_symbol("."));
/// ```
pub fn is_symbol(name: &str) -> bool {
    let starts = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    starts && name != "." && name.bytes().all(is_name)
}

/// The length of the name at the start of `bytes`.
pub(super) fn name_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !is_name(*byte)).unwrap_or(bytes.len())
}

/// Bytes of names: letters, digits, `_ $ . @ ?`, and everything that is not ASCII.
static NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'@' | b'?' | 0x80..);
        byte += 1;
    }
    table
};

impl<'s> Args<'s> {
    pub fn new(text: &'s str, base: usize) -> Args<'s> {
        Args { text, at: 0, base }
    }

    /// Skips blanks and returns the next byte, without consuming it; `None` at the end of the statement.
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c) {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// The byte `ahead` bytes after the next one; `None` past the end of the statement.
    pub fn look(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// True if nothing but blanks is left.
    pub fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Advances by `count` bytes.
    pub fn skip(&mut self, count: usize) {
        self.at = (self.at + count).min(self.text.len());
    }

    /// Consumes `byte` if it is next. Returns true if it was.
    pub fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Consumes a comma.
    pub fn comma(&mut self) -> Result<()> {
        if self.eat(b',') { Ok(()) } else { Err(self.expected("a comma")) }
    }

    /// Fails if anything is left.
    pub fn end(&mut self) -> Result<()> {
        if self.at_end() { Ok(()) } else { Err(self.expected("the end of the statement")) }
    }

    /// The current offset in the statement.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns to a [`position`](Args::position).
    pub fn rewind(&mut self, at: usize) {
        self.at = at;
    }

    /// The span from a position to the current one.
    pub fn span_from(&self, at: usize) -> Span {
        Span::new(self.base + at, self.base + self.at)
    }

    /// The span of the whole statement.
    pub fn statement(&self) -> Span {
        Span::new(self.base, self.base + self.text.len())
    }

    /// An error at the next word.
    pub fn error(&mut self, fault: Fault) -> Located {
        self.peek();
        Located::new(self.word(), fault)
    }

    /// The error for a next word that is not `what`.
    pub fn expected(&mut self, what: &'static str) -> Located {
        self.error(Fault::Expected(what))
    }

    fn word(&self) -> Span {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let names = rest.bytes().take_while(|b| is_name(*b)).count();
        let first = rest.chars().next().map_or(0, char::len_utf8);
        Span::new(self.base + self.at, self.base + self.at + names.max(first))
    }

    /// Consumes bytes as long as they satisfy `accept`.
    pub fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> &'s str {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|b| accept(*b)) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Consumes this many bytes.
    pub fn take(&mut self, count: usize) -> &'s str {
        let start = self.at;
        self.skip(count);
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Consumes and returns the rest of the statement.
    pub fn rest(&mut self) -> &'s str {
        self.peek();
        let start = self.at;
        self.at = self.text.len();
        self.text.get(start..).unwrap_or_default()
    }

    /// Parses a name, quoted or not.
    pub fn name(&mut self) -> Result<&'s str> {
        match self.peek() {
            Some(b'"') => self.raw_string(),
            Some(byte) if is_name(byte) && !byte.is_ascii_digit() => Ok(self.take_while(is_name)),
            _ => Err(self.expected("a name")),
        }
    }

    /// Parses a string; returns the text between its quotes, with escapes unresolved.
    pub fn raw_string(&mut self) -> Result<&'s str> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a string"));
        }
        let start = self.at;
        let (end, closed) = super::source::string_end(self.text.as_bytes(), start);
        match self.text.get(start + 1..end - 1) {
            Some(inner) if closed => {
                self.at = end;
                Ok(inner)
            }
            _ => {
                self.at = self.text.len();
                Err(Located::new(self.span_from(start), Fault::OpenString))
            }
        }
    }

    /// Parses a string; returns its bytes, with escapes resolved.
    pub fn string(&mut self) -> Result<Cow<'s, [u8]>> {
        self.peek();
        let start = self.at;
        let raw = self.raw_string()?;
        if !raw.contains('\\') {
            return Ok(Cow::Borrowed(raw.as_bytes()));
        }
        unescape(raw.as_bytes()).map(Cow::Owned).map_err(|(at, length)| {
            let from = self.base + start + 1 + at;
            Located::new(Span::new(from, from + length), Fault::Escape)
        })
    }

    /// Parses a string that must be valid text.
    pub fn text(&mut self) -> Result<Cow<'s, str>> {
        match self.string()? {
            Cow::Borrowed(bytes) => Ok(String::from_utf8_lossy(bytes)),
            Cow::Owned(bytes) => Ok(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())),
        }
    }
}

/// Resolves escapes. An error contains the offset and length of an invalid escape.
fn unescape(raw: &[u8]) -> std::result::Result<Vec<u8>, (usize, usize)> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(byte) = raw.get(at) {
        if *byte != b'\\' {
            out.push(*byte);
            at += 1;
            continue;
        }
        let rest = raw.get(at + 1..).unwrap_or_default();
        let (value, length) = escape(rest).ok_or((at, 2))?;
        out.push(value);
        at += 1 + length;
    }
    Ok(out)
}

/// The value of an escape sequence, given the text after its backslash, and the sequence's length; `None` if the escape sequence is
/// invalid.
pub(super) fn escape(rest: &[u8]) -> Option<(u8, usize)> {
    let simple = match rest.first()? {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'"' => b'"',
        b'\\' => b'\\',
        b'x' | b'X' => {
            // There may be any number of digits, of which the last two are used (observed with llvm-mc 22).
            let digits = rest.iter().skip(1).take_while(|b| b.is_ascii_hexdigit()).count();
            let value = rest.iter().skip(1).take(digits).fold(0, |v: u32, b| v << 4 | digit(*b));
            return (digits > 0).then_some((value as u8, 1 + digits));
        }
        b'0'..=b'7' => {
            let digits = rest.iter().take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
            let value = rest.iter().take(digits).fold(0, |v: u32, b| v * 8 + digit(*b));
            return Some((u8::try_from(value).ok()?, digits));
        }
        _ => return None,
    };
    Some((simple, 1))
}

fn digit(byte: u8) -> u32 {
    char::from(byte).to_digit(16).unwrap_or(0)
}
