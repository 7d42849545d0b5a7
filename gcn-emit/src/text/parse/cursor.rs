//! The position in an instruction's text, and tokens that several parts of the grammar share.

use super::error::ParseFault;

/// A range of bytes of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    at: u32,
    end: u32,
}

impl Span {
    /// The bytes from `at` up to `end`. Offsets are limited to 32 bits, because statements of 4 GiB are not parsed.
    pub fn new(at: usize, end: usize) -> Span {
        let short = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { at: short(at), end: short(end) }
    }

    pub fn at(self) -> usize {
        self.at as usize
    }

    pub fn end(self) -> usize {
        self.end as usize
    }
}

/// An error and its position.
pub(super) type Located = (Span, ParseFault);

/// The rest of a text.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    rest: &'a [u8],
}

/// Whether each byte can be part of a name. A table, because every byte of a file is tested.
const NAME_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'.' | b'$' | b'@');
        byte += 1;
    }
    table
};

/// True for the bytes of mnemonics, modifiers and symbols.
pub(super) fn is_name_byte(byte: u8) -> bool {
    NAME_BYTES[usize::from(byte)]
}

fn is_name_start(byte: u8) -> bool {
    is_name_byte(byte) && !byte.is_ascii_digit()
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, rest: text.as_bytes() }
    }

    /// The byte offset.
    pub fn at(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    /// The next byte; 0 at the end.
    pub fn peek(&self) -> u8 {
        self.rest.first().copied().unwrap_or(0)
    }

    /// The byte after the next one; 0 at the end.
    pub fn peek_second(&self) -> u8 {
        self.rest.get(1).copied().unwrap_or(0)
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn is_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    pub fn while_byte(&mut self, accepted: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| !accepted(byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    pub fn blanks(&mut self) {
        if self.peek() <= b' ' {
            self.while_byte(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c));
        }
    }

    /// If `byte` comes next, consumes it and the blanks around it. Returns true if it did.
    pub fn eat(&mut self, byte: u8) -> bool {
        self.blanks();
        let found = self.peek() == byte && !self.rest.is_empty();
        if found {
            self.skip(1);
            self.blanks();
        }
        found
    }

    /// Consumes `byte`, or fails with a message that `what` was expected.
    pub fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Located> {
        if self.eat(byte) { Ok(()) } else { Err(self.expected(what)) }
    }

    /// Consumes a closing `byte` and the blanks before it, but not those after it.
    pub fn close(&mut self, byte: u8, what: &'static str) -> Result<(), Located> {
        self.blanks();
        if self.peek() != byte {
            return Err(self.expected(what));
        }
        self.skip(1);
        Ok(())
    }

    /// The error that `what` was expected here; its span is the next word or character.
    pub fn expected(&self, what: &'static str) -> Located {
        (self.word_span(), ParseFault::Expected(what))
    }

    pub fn word_span(&self) -> Span {
        let mut word = self.clone();
        if word.while_byte(is_name_byte).is_empty() {
            let next = self.text.get(self.at()..).and_then(|t| t.chars().next());
            word.skip(next.map_or(0, char::len_utf8));
        }
        Span::new(self.at(), word.at())
    }

    /// The span from `at` to the current position.
    pub fn span_from(&self, at: usize) -> Span {
        Span::new(at, self.at())
    }

    pub fn text_from(&self, at: usize) -> &'a str {
        self.text.get(at..self.at()).unwrap_or_default()
    }

    /// Parses a name: mnemonic, register, modifier, symbol. Empty if there is none.
    pub fn name(&mut self) -> &'a str {
        let at = self.at();
        if is_name_start(self.peek()) {
            self.while_byte(is_name_byte);
        }
        self.text_from(at)
    }

    /// Parses decimal digits; `None` if there are none or too many.
    pub fn small(&mut self) -> Option<u32> {
        let mut value = 0u64;
        let mut count = 0;
        while let Some(byte) = self.rest.get(count)
            && byte.is_ascii_digit()
        {
            // Saturates at a value above 32 bits.
            value = (value * 10 + u64::from(byte - b'0')).min(1 << 40);
            count += 1;
        }
        self.skip(count);
        u32::try_from(value).ok().filter(|_| count > 0)
    }
}
