//! Numbers as LLVM's lexer reads them: `16`, `0x3f800000`, `0b101`, `017`, `1.5`, `.5`, `5.`, `1e-3`,
//! `0x1.8p1`, `3ULL`.

use super::cursor::{Cursor, is_name_byte};

/// A number, or an expression whose value is known later.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
    /// An expression without a value so far: the scope's number for it, and whether the expression is only a name.
    Later(u32, bool),
}

/// Parses a number without a sign. `None` if the digits are not a number (`08`, `0x`, more than 64 bits).
pub(super) fn unsigned(cursor: &mut Cursor<'_>) -> Option<Number> {
    let start = cursor.clone();
    let first = cursor.peek();
    let second = cursor.peek_second();
    if first == b'0' && matches!(second, b'x' | b'X') {
        cursor.skip(2);
        return hexadecimal(cursor);
    }
    if first == b'0' && matches!(second, b'b' | b'B') {
        cursor.skip(2);
        return in_radix(cursor, 2, |b| matches!(b, b'0' | b'1')).map(Number::Int);
    }
    if let Some(value) = short(cursor) {
        return Some(Number::Int(value));
    }
    let digits = cursor.while_byte(|b| b.is_ascii_digit());
    // `00.5` is an octal number followed by an unexpected token.
    let octal = first == b'0' && digits.len() > 1;
    if !octal && matches!(cursor.peek(), b'.' | b'e' | b'E') {
        return decimal_float(cursor, &start);
    }
    let value = fold(digits, if octal { 8 } else { 10 })?;
    suffix(cursor);
    Some(Number::Int(value))
}

/// A decimal number of one or two digits with nothing after it, which is the most common case; `None` for all other numbers.
#[inline]
fn short(cursor: &mut Cursor<'_>) -> Option<i64> {
    let plain = |byte: u8| !is_name_byte(byte);
    let (value, length) = match *cursor.rest() {
        [a, b, ..] if plain(b) => (i64::from(a - b'0'), 1),
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c, ..] if plain(c) => (i64::from(10 * (a - b'0') + b - b'0'), 2),
        _ => return None,
    };
    cursor.skip(length);
    Some(value)
}

/// The value of a hexadecimal digit.
fn digit(byte: u8) -> u8 {
    // `A` is 0x41 and `a` is 0x61: only letters have bit 6 set.
    (byte & 0xf) + 9 * (byte >> 6)
}

/// The value of digits that are all below `radix`, as a 64-bit pattern; `None` if a digit is not below `radix`, or if the value has more
/// than 64 bits.
#[inline]
fn fold(digits: &[u8], radix: u64) -> Option<i64> {
    let value = digits.iter().try_fold(0u64, |value, digit| {
        let digit = u64::from(self::digit(*digit));
        if digit >= radix { None } else { value.checked_mul(radix)?.checked_add(digit) }
    });
    value.filter(|_| !digits.is_empty()).map(|v| v as i64)
}

fn in_radix(cursor: &mut Cursor<'_>, radix: u64, accepted: fn(u8) -> bool) -> Option<i64> {
    let value = fold(cursor.while_byte(accepted), radix)?;
    suffix(cursor);
    Some(value)
}

/// Skips C's integer suffixes, `U` and up to two `L`, which have no effect.
fn suffix(cursor: &mut Cursor<'_>) {
    if matches!(cursor.peek(), b'u' | b'U') {
        cursor.skip(1);
    }
    for _ in 0..2 {
        if matches!(cursor.peek(), b'l' | b'L') {
            cursor.skip(1);
        }
    }
}

fn decimal_float(cursor: &mut Cursor<'_>, start: &Cursor<'_>) -> Option<Number> {
    if cursor.peek() == b'.' {
        cursor.skip(1);
        cursor.while_byte(|b| b.is_ascii_digit());
    }
    if matches!(cursor.peek(), b'e' | b'E') {
        exponent(cursor);
    }
    let text = cursor.text_from(start.at());
    // LLVM treats an exponent without digits as zero.
    let text = text.trim_end_matches(['+', '-']).trim_end_matches(['e', 'E']);
    text.parse().ok().map(Number::Float)
}

/// Parses the letter, the sign and the digits of an exponent.
fn exponent(cursor: &mut Cursor<'_>) -> Option<i32> {
    cursor.skip(1);
    let negative = cursor.peek() == b'-';
    if matches!(cursor.peek(), b'+' | b'-') {
        cursor.skip(1);
    }
    let value = i32::try_from(cursor.small()?).ok()?;
    Some(if negative { -value } else { value })
}

fn hexadecimal(cursor: &mut Cursor<'_>) -> Option<Number> {
    let start = cursor.clone();
    let (mut value, mut count) = (0u64, 0);
    while let Some(byte) = start.rest().get(count)
        && byte.is_ascii_hexdigit()
    {
        value = value << 4 | u64::from(digit(*byte));
        count += 1;
    }
    cursor.skip(count);
    let whole = start.rest().get(..count).unwrap_or_default();
    if (1..=16).contains(&count) && !matches!(cursor.peek(), b'.' | b'p' | b'P') {
        suffix(cursor);
        return Some(Number::Int(value as i64));
    }
    if !matches!(cursor.peek(), b'.' | b'p' | b'P') {
        let value = fold(whole, 16)?;
        suffix(cursor);
        return Some(Number::Int(value));
    }
    let mut fraction: &[u8] = &[];
    if cursor.peek() == b'.' {
        cursor.skip(1);
        fraction = cursor.while_byte(|b| b.is_ascii_hexdigit());
    }
    if !matches!(cursor.peek(), b'p' | b'P') {
        return None;
    }
    let power = exponent(cursor)?.clamp(-5000, 5000);
    // Up to 13 hexadecimal digits are exact in an f64; more do not occur in practice.
    let digits: Vec<u8> = whole.iter().chain(fraction).copied().collect();
    let mantissa = if digits.len() <= 13 { fold(&digits, 16)? } else { return None };
    let scale = power - 4 * i32::try_from(fraction.len()).ok()?;
    Some(Number::Float(scaled(mantissa as f64, scale)))
}

/// `value * 2^power`, exact if the result is representable.
fn scaled(mut value: f64, mut power: i32) -> f64 {
    while power != 0 {
        let step = power.clamp(-1000, 1000);
        value *= 2f64.powi(step);
        power -= step;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Option<Number>, usize) {
        let mut cursor = Cursor::new(text);
        let number = unsigned(&mut cursor);
        (number, cursor.at())
    }

    #[test]
    fn numbers_as_llvm_reads_them() {
        let int = |text: &str, value: i64| {
            assert_eq!(parse(text), (Some(Number::Int(value)), text.len()), "{text}");
        };
        int("16", 16);
        int("017", 15);
        int("0x3F", 63);
        int("0b101", 5);
        int("3ULL", 3);
        int("0xffffffffffffffff", -1);
        let float = |text: &str, value: f64| {
            assert_eq!(parse(text), (Some(Number::Float(value)), text.len()), "{text}");
        };
        float("1.5", 1.5);
        float(".5", 0.5);
        float("5.", 5.0);
        float("1e3", 1000.0);
        float("25e-2", 0.25);
        float("0x1.8p1", 3.0);
        float("0x1p-1074", 5e-324);
        for bad in ["08", "0x", "18446744073709551616", "0x1.8"] {
            assert_eq!(parse(bad).0, None, "{bad}");
        }
    }
}
