//! Registers: `v7`, `v[7]`, `s[4:7]`, `a[n:n+15]`, `acc3`, `ttmp[2:3]`, `[v0,v1]`.

use gcn_isa::{Reg, RegFile};

use super::context::Context;
use super::cursor::{Cursor, Located, Span, is_name_byte};
use super::error::ParseFault;
use super::syntax::RawValue;
use super::words::{self, Word};
use crate::text::symbols::CHANNELS;

/// A prefix of numbered registers: the file, the number of the first register, and their number.
struct File {
    file: RegFile,
    base: u16,
    count: u32,
}

const VGPRS: File = File { file: RegFile::Vgpr, base: 0, count: 256 };
const AGPRS: File = File { file: RegFile::Agpr, base: 0, count: 256 };
const TTMPS: File = File { file: RegFile::Sgpr, base: 108, count: 16 };

/// Parses a numbered register or tuple; `None` if none comes next. Words that only resemble one (`v1x`, `vcc`, `s`) are not consumed.
pub(super) fn regular(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<Option<Reg>, Located> {
    let (prefix, file) = match cursor.rest() {
        [b'v', ..] => (1, File { count: context.on.addressable_vgprs(), ..VGPRS }),
        [b's', ..] => (1, File { file: RegFile::Sgpr, base: 0, count: context.on.addressable_sgprs() }),
        [b'a', b'c', b'c', ..] => (3, AGPRS),
        [b'a', ..] => (1, AGPRS),
        [b't', b't', b'm', b'p', ..] => (4, TTMPS),
        _ => return Ok(None),
    };
    let start = cursor.clone();
    cursor.skip(prefix);
    let found = match cursor.peek() {
        b'0'..=b'9' => {
            let first = cursor.small();
            if is_name_byte(cursor.peek()) && half_suffix(cursor).is_none() {
                None
            } else {
                Some(tuple(&file, first, first, cursor.span_from(start.at()))?)
            }
        }
        b'[' => Some(range(cursor, &file, start.at(), context)?),
        b' ' | b'\t' => {
            cursor.blanks();
            if cursor.peek() == b'[' { Some(range(cursor, &file, start.at(), context)?) } else { None }
        }
        _ => None,
    };
    if found.is_none() {
        *cursor = start;
    }
    Ok(found)
}

/// The suffix `.l` or `.h` after a register, which selects a half: `Some(true)` for the upper half, `None` if there is no suffix.
fn half_suffix(cursor: &Cursor<'_>) -> Option<bool> {
    match cursor.rest() {
        [b'.', half @ (b'l' | b'h'), rest @ ..] if !rest.first().is_some_and(|b| is_name_byte(*b)) => {
            Some(*half == b'h')
        }
        _ => None,
    }
}

/// The register or, if the text selects a half of it, that half.
pub(super) fn half(cursor: &mut Cursor<'_>, reg: Reg) -> RawValue {
    match half_suffix(cursor).filter(|_| reg.len == 1 && reg.file == RegFile::Vgpr) {
        Some(upper) => {
            cursor.skip(2);
            RawValue::Half(reg, upper)
        }
        None => RawValue::Reg(reg),
    }
}

/// Parses `attr0.w`: the number of an attribute, with the number of its channel in the two lowest bits. `None` for other names.
pub(super) fn attribute(name: &str) -> Option<u16> {
    let (number, channel) = name.strip_prefix("attr")?.split_once('.')?;
    let channel = CHANNELS.iter().position(|c| *c == channel)? as u16;
    let number: u16 = number.parse().ok().filter(|n| *n < 64)?;
    Some(number << 2 | channel)
}

fn range(cursor: &mut Cursor<'_>, file: &File, at: usize, context: &mut Context<'_>) -> Result<Reg, Located> {
    cursor.eat(b'[');
    let first = index(cursor, context)?;
    let last = if cursor.eat(b':') { index(cursor, context)? } else { first };
    cursor.close(b']', "`]` after the register numbers")?;
    tuple(file, first, last, cursor.span_from(at))
}

/// Parses a register number; `None` if no file could have it.
fn index(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<Option<u32>, Located> {
    let start = cursor.clone();
    let digits = cursor.small();
    if digits.is_some() && matches!(cursor.peek(), b':' | b']') && start.peek() != b'0' {
        return Ok(digits);
    }
    *cursor = start;
    cursor.integer(context.scope).map(|value| u32::try_from(value).ok())
}

fn tuple(file: &File, first: Option<u32>, last: Option<u32>, span: Span) -> Result<Reg, Located> {
    let in_file = |index: Option<u32>| index.filter(|i| *i < file.count);
    let (Some(first), Some(last)) = (in_file(first), in_file(last)) else {
        let problem = format!("the register number is out of range: the last one is {}", file.count - 1);
        return Err((span, ParseFault::Register(problem)));
    };
    if last < first {
        let problem = "the second register number is smaller than the first".to_owned();
        return Err((span, ParseFault::Register(problem)));
    }
    match u8::try_from(last - first + 1) {
        Ok(len @ 1..=32) => Ok(Reg { file: file.file, index: file.base + first as u16, len }),
        _ => Err((span, ParseFault::Register("a tuple has at most 32 registers".to_owned()))),
    }
}

/// Parses `[s0, s1]`: consecutive single registers.
pub(super) fn list(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<Reg, Located> {
    cursor.eat(b'[');
    let mut tuple: Option<Reg> = None;
    loop {
        let at = cursor.at();
        let next = single(cursor, context)?;
        let span = cursor.span_from(at);
        cursor.blanks();
        let joined = match tuple {
            None => next,
            Some(so_far) if next.file == so_far.file && next.index == so_far.end() && so_far.len < 32 => {
                Reg { len: so_far.len + 1, ..so_far }
            }
            Some(_) => {
                let problem = "the registers of a list must follow each other".to_owned();
                return Err((span, ParseFault::Register(problem)));
            }
        };
        tuple = Some(joined);
        if !cursor.eat(b',') {
            cursor.close(b']', "`,` or `]` in a list of registers")?;
            return Ok(joined);
        }
    }
}

fn single(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<Reg, Located> {
    let start = cursor.clone();
    let reg = match regular(cursor, context)? {
        Some(reg) => Some(reg),
        None => match words::word(cursor.name()) {
            Some(Word::Reg(reg)) => Some(reg),
            _ => None,
        },
    };
    reg.filter(|r| r.len == 1).ok_or_else(|| start.expected("a single 32-bit register"))
}
