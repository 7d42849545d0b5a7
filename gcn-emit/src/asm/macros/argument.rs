//! The arguments of macro calls.
//!
//! Values are separated by commas or blanks. Blanks around operators and inside parentheses are part of a value: `m a + 1, (2 3)` has two
//! values. The value of a string is its content.

use std::borrow::Cow;

use super::super::Assembler;
use super::super::args::{Args, is_name};
use super::super::fault::{Fault, Located, Result};
use super::super::span::Span;

/// The text of a value; `None` if the value is missing, which is different from an empty string.
pub(in crate::asm) type Value<'s> = Option<Cow<'s, str>>;

/// Operators that join their two sides into one value. If one operator is a prefix of another, the longer one comes
/// first.
const OPERATORS: [&str; 20] = [
    "==", "!=", "<=", ">=", "<<", ">>", "<>", "||", "&&", "+", "-", "~", "/", "*", "|", "^", "&", "!", "<",
    ">",
];

/// Consumes `name =` if it is next; `None` if it is not.
pub(super) fn keyword<'s>(args: &mut Args<'s>) -> Option<(&'s str, Span)> {
    args.peek().filter(|byte| is_name(*byte) && !byte.is_ascii_digit())?;
    let start = args.position();
    let name = args.take_while(is_name);
    let span = args.span_from(start);
    if args.peek() == Some(b'=') && args.look(1) != Some(b'=') {
        args.skip(1);
        return Some((name, span));
    }
    args.rewind(start);
    None
}

/// Parses one value, or with `vararg` the rest of the statement.
pub(in crate::asm) fn value<'s>(args: &mut Args<'s>, vararg: bool) -> Result<Value<'s>> {
    args.peek();
    if vararg {
        let rest = args.rest();
        return Ok((!rest.is_empty()).then_some(Cow::Borrowed(rest)));
    }
    let mut value = Pieces::default();
    let mut depth = 0u32;
    while let Some(byte) = args.look(0) {
        if byte == b'=' && args.look(1) != Some(b'=') {
            return Err(args.error(Fault::StrayEqual));
        }
        if depth > 0 {
            // Consumes the whole operator, so that the `=` of a comparison does not count as a separate operator.
            if let Some(length) = operator(args) {
                value.take(args, length);
                continue;
            }
        } else {
            if byte == b',' {
                break;
            }
            let at = args.position();
            args.peek();
            if let Some(length) = operator(args) {
                value.take(args, length);
                args.peek();
                continue;
            }
            if args.position() > at {
                break;
            }
        }
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        token(args, byte, &mut value)?;
    }
    if depth > 0 {
        return Err(args.error(Fault::Unbalanced));
    }
    Ok(value.text)
}

/// The length of the operator that comes next; `None` if none does.
fn operator(args: &Args<'_>) -> Option<usize> {
    let is = |text: &&&str| text.bytes().enumerate().all(|(i, byte)| args.look(i) == Some(byte));
    let lone = |byte| args.look(0) == Some(byte) && !args.look(1).is_some_and(is_name);
    OPERATORS
        .iter()
        .find(is)
        .map(|text| text.len())
        .or_else(|| (lone(b'.') || args.look(0) == Some(b'=')).then_some(1))
}

/// Consumes an indivisible token: a name or number, a string, a character, or a byte.
fn token<'s>(args: &mut Args<'s>, byte: u8, value: &mut Pieces<'s>) -> Result<()> {
    match byte {
        b'"' => {
            let inner = args.raw_string()?;
            value.push(inner);
        }
        b'\'' => value.take(args, character(args)),
        _ if is_name(byte) => value.push(args.take_while(is_name)),
        _ => value.take(args, 1),
    }
    Ok(())
}

/// The number of bytes of the character in single quotes that comes next.
fn character(args: &Args<'_>) -> usize {
    let length = if args.look(1) == Some(b'\\') { 4 } else { 3 };
    if args.look(length - 1) == Some(b'\'') { length } else { 1 }
}

/// Parts of a statement that are concatenated to one text. As long as there is only one part, the text is borrowed.
#[derive(Default)]
struct Pieces<'s> {
    text: Value<'s>,
}

impl<'s> Pieces<'s> {
    fn push(&mut self, piece: &'s str) {
        match &mut self.text {
            None => self.text = Some(Cow::Borrowed(piece)),
            Some(text) => text.to_mut().push_str(piece),
        }
    }

    /// Consumes this many bytes.
    fn take(&mut self, args: &mut Args<'s>, length: usize) {
        self.push(args.take(length));
    }
}

impl<'s> Assembler<'s> {
    /// Parses one value. Between `.altmacro` and `.noaltmacro`, `%expression` stands for the expression's value and
    /// `<text>` for the text, in which `!` escapes the next byte.
    pub(in crate::asm) fn macro_value(&mut self, args: &mut Args<'s>, vararg: bool) -> Result<Value<'s>> {
        if self.alternate {
            match args.peek() {
                Some(b'%') => {
                    args.skip(1);
                    return Ok(Some(Cow::Owned(self.absolute(args)?.to_string())));
                }
                // Other operators also begin with `<`.
                Some(b'<') if !matches!(args.look(1), Some(b'<' | b'>' | b'=')) => {
                    if let Some(text) = bracketed(args) {
                        return Ok(Some(Cow::Owned(text)));
                    }
                }
                _ => {}
            }
        }
        value(args, vararg)
    }

    /// The values of `.irp`: all values in the statement.
    pub(in crate::asm) fn macro_values(&mut self, args: &mut Args<'s>) -> Result<Vec<Value<'s>>> {
        let (mut values, mut last) = (Vec::new(), 0);
        loop {
            if let Some((_, span)) = keyword(args) {
                return Err(Located::new(span, Fault::Expected("a value without a name")));
            }
            let read = self.macro_value(args, false)?;
            last = if read.is_some() { values.len() + 1 } else { last };
            values.push(read);
            if args.at_end() {
                break;
            }
            args.eat(b',');
        }
        // An empty text after the last comma is not a value, but an empty text between two commas is.
        values.truncate(last);
        Ok(values)
    }
}

/// Consumes a text in angle brackets, if one is next.
fn bracketed(args: &mut Args<'_>) -> Option<String> {
    let mut length = 1;
    loop {
        match args.look(length)? {
            b'>' => break,
            b'\n' | b'\r' => return None,
            b'!' => length += 2,
            _ => length += 1,
        }
    }
    let text = args.take(length + 1);
    let (mut out, mut bytes) = (String::new(), text.get(1..length)?.chars());
    while let Some(next) = bytes.next() {
        out.extend(if next == '!' { bytes.next() } else { Some(next) });
    }
    Some(out)
}

/// The characters of `.irpc`: one word, number or string.
pub(in crate::asm) fn word<'s>(args: &mut Args<'s>) -> Result<&'s str> {
    let wanted = "one word, number or string";
    let word = match args.peek() {
        Some(b'"') => {
            let inner = args.raw_string()?;
            args.end()?;
            return Ok(inner);
        }
        Some(byte) if is_name(byte) => args.take_while(is_name),
        Some(byte) if !matches!(byte, b',' | b'=') => args.take(1),
        _ => return Err(args.expected(wanted)),
    };
    if args.at_end() && is_one_token(word) { Ok(word) } else { Err(args.expected(wanted)) }
}

/// False for a number followed by letters, which is two tokens; true otherwise.
fn is_one_token(word: &str) -> bool {
    let digits = |text: &str, radix| text.chars().all(|c| c.is_digit(radix));
    match word.as_bytes() {
        [b'0', b'x' | b'X', ..] => digits(&word[2..], 16),
        [b'0', b'b' | b'B', _, ..] => digits(&word[2..], 2),
        [b'0'..=b'9', ..] => digits(&word.replacen('.', "", 1), 10),
        _ => true,
    }
}
