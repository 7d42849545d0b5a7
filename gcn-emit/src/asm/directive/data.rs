//! Data, filling and alignment.

use super::super::Assembler;
use super::super::args::{Args, is_name};
use super::super::fault::{Fault, Located, Result};
use super::super::fixup::check_width;
use super::super::section::Fill;

/// The size of an element in bytes, from the directive's suffix (`.dc.b`, `.ds.l`, `.dcb.w`) or name.
fn element(name: &str) -> u8 {
    match name {
        ".byte" | ".dc.b" | ".dcb.b" | ".ds.b" => 1,
        ".short" | ".value" | ".2byte" | ".dc" | ".dc.w" | ".dcb" | ".dcb.w" | ".ds" | ".ds.w" => 2,
        ".quad" | ".8byte" | ".dc.a" | ".double" | ".dc.d" | ".ds.d" => 8,
        ".ds.p" | ".ds.x" => 12,
        _ => 4,
    }
}

/// `.long 1, a, b-a`
pub(super) fn integers<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let size = element(name);
    if args.at_end() {
        return Ok(());
    }
    loop {
        args.peek();
        let at = args.position();
        let expr = asm.expr(args)?;
        asm.data(expr, size, args.span_from(at))?;
        if !args.eat(b',') {
            return args.end();
        }
    }
}

/// `.octa 0x0123456789abcdef0123456789abcdef`
pub(super) fn octas<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    if args.at_end() {
        return Ok(());
    }
    loop {
        args.peek();
        let at = args.position();
        let word = args.take_while(is_name);
        let span = args.span_from(at);
        let value = octa(word).map_err(|fault| Located::new(span, fault))?;
        asm.bytes(&value.to_le_bytes(), span)?;
        if !args.eat(b',') {
            return args.end();
        }
    }
}

/// Parses a 128-bit number, decimal or hexadecimal.
pub(super) fn octa(word: &str) -> std::result::Result<u128, Fault> {
    let (digits, radix) = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (word, 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(Fault::Expected("a number"));
    }
    u128::from_str_radix(digits, radix).map_err(|_| Fault::NumberRange(128))
}

/// `.float 1.5, -inf`, `.double 0x1p3`
pub(super) fn floats<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let size = element(name);
    if args.at_end() {
        return Ok(());
    }
    loop {
        args.peek();
        let at = args.position();
        let negative = args.eat(b'-');
        if !negative {
            args.eat(b'+');
        }
        args.peek();
        let word = float_word(args);
        let span = args.span_from(at);
        let bits =
            float_bits(word, size == 8).ok_or_else(|| Located::new(span, Fault::Expected("a number")))?;
        let sign = u64::from(negative) << (u32::from(size) * 8 - 1);
        let bytes = (bits ^ sign).to_le_bytes();
        asm.bytes(bytes.get(..usize::from(size)).unwrap_or_default(), span)?;
        if !args.eat(b',') {
            return args.end();
        }
    }
}

/// Consumes the characters of a number. A sign after an exponent letter belongs to the number.
fn float_word<'s>(args: &mut Args<'s>) -> &'s str {
    let hex = args.look(1).is_some_and(|b| b == b'x' || b == b'X');
    let before = std::cell::Cell::new(0);
    args.take_while(|b| {
        let exponent =
            if hex { matches!(before.get(), b'p' | b'P') } else { matches!(before.get(), b'e' | b'E') };
        before.set(b);
        is_name(b) || (exponent && matches!(b, b'+' | b'-'))
    })
}

/// The bits of a non-negative number as f32 or f64; `None` if the text is not such a number.
fn float_bits(word: &str, double: bool) -> Option<u64> {
    let lower = word.to_ascii_lowercase();
    match lower.as_str() {
        "inf" | "infinity" => {
            return Some(if double { f64::INFINITY.to_bits() } else { f32::INFINITY.to_bits().into() });
        }
        // NaN has all fraction bits set, as llvm-mc encodes it.
        "nan" => return Some(if double { u64::MAX >> 1 } else { u64::from(u32::MAX >> 1) }),
        _ => {}
    }
    if let Some(hex) = lower.strip_prefix("0x") {
        return hex_float(hex, double);
    }
    if !lower.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    Some(if double {
        lower.parse::<f64>().ok()?.to_bits()
    } else {
        lower.parse::<f32>().ok()?.to_bits().into()
    })
}

/// Parses `1.8p3` (hexadecimal) and rounds to nearest even. Without an exponent the text is an integer. `None` if the text is not such a
/// number.
pub(in crate::asm) fn hex_float(text: &str, double: bool) -> Option<u64> {
    let (digits, exponent) =
        text.split_once('p').map_or((text, 0), |(d, e)| (d, e.parse::<i32>().unwrap_or(i32::MAX)));
    let exponent = Some(exponent).filter(|e| *e != i32::MAX)?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    // Keeps the first 60 bits, and a sticky bit that represents all further bits.
    let (mut value, mut scale) = (0u64, 0i32);
    for (i, c) in whole.chars().chain(part.chars()).enumerate() {
        let digit = c.to_digit(16)?;
        let behind_point = i >= whole.len();
        if value >> 56 == 0 {
            value = value << 4 | u64::from(digit);
            scale -= if behind_point { 4 } else { 0 };
        } else {
            value |= u64::from(digit != 0);
            scale += if behind_point { 0 } else { 4 };
        }
    }
    let exponent = exponent.checked_add(scale)?;
    Some(if double { round_binary(value, exponent, 52, 11) } else { round_binary(value, exponent, 23, 8) })
}

/// The bits of `value * 2^exponent` in a format with this many fraction and exponent bits.
fn round_binary(value: u64, exponent: i32, fraction: u32, exponent_bits: u32) -> u64 {
    if value == 0 {
        return 0;
    }
    let bias = (1i64 << (exponent_bits - 1)) - 1;
    let top = 63 - i64::from(value.leading_zeros());
    let scale = top + i64::from(exponent);
    // The exponent of the last bit that is kept; subnormal numbers keep fewer bits.
    let last = (scale - i64::from(fraction)).max(1 - bias - i64::from(fraction));
    let drop = last - i64::from(exponent);
    let kept = match drop {
        ..=0 => value.checked_shl((-drop).try_into().unwrap_or(64)).unwrap_or(0),
        1..=63 => {
            let (quotient, rest, half) = (value >> drop, value & ((1 << drop) - 1), 1u64 << (drop - 1));
            quotient + u64::from(rest > half || (rest == half && quotient & 1 == 1))
        }
        64 => u64::from(value > 1 << 63),
        _ => 0,
    };
    // The implicit bit increments the exponent, and so does a carry from the fraction.
    let field = (last + i64::from(fraction) + bias - 1).max(0) as u64;
    let bits = (field << fraction) + kept;
    let infinity = ((1 << exponent_bits) - 1) << fraction;
    bits.min(infinity)
}

/// `.ascii "a", "b"`, `.asciz "c"`
pub(super) fn ascii<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    if args.at_end() {
        return Ok(());
    }
    loop {
        args.peek();
        let at = args.position();
        let text = args.string()?;
        asm.bytes(&text, args.span_from(at))?;
        if name != ".ascii" {
            asm.bytes(&[0], args.span_from(at))?;
        }
        // In `.ascii`, `"a" "b"` is a single string; in `.asciz`, each is a string (observed with llvm-mc 22).
        if args.peek() == Some(b'"') && name == ".ascii" {
            continue;
        }
        if !args.eat(b',') {
            return args.end();
        }
    }
}

/// `.uleb128 a-b, 3`
pub(super) fn lebs<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    if args.at_end() {
        return Ok(());
    }
    loop {
        args.peek();
        let at = args.position();
        let expr = asm.expr(args)?;
        asm.leb(expr, name == ".sleb128", args.span_from(at))?;
        if !args.eat(b',') {
            return args.end();
        }
    }
}

/// `.fill count [, size [, value]]`
pub(super) fn fill<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let start = args.statement();
    let count = asm.expr(args)?;
    let size = if args.eat(b',') { asm.absolute(args)? } else { 1 };
    let value = if args.eat(b',') { asm.absolute(args)? } else { 0 };
    args.end()?;
    if size < 0 || asm.number_now(count, true).is_ok_and(|n| n.is_some_and(|n| n < 0)) {
        asm.warn(start, "`.fill` of a negative count or size has no effect");
        return Ok(());
    }
    if size > 8 {
        asm.warn(start, "`.fill` of elements of more than 8 bytes writes 8 bytes of each");
    }
    if asm.number_now(count, true).is_ok_and(|count| count.is_some_and(|count| count > 0)) {
        asm.row();
    }
    // Only the low four bytes of the value are used.
    asm.repeat_expr(count, value as u64 & 0xffff_ffff, size.min(8) as u8, start)
}

/// `.space count [, value]`
pub(super) fn space<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let start = args.statement();
    let count = asm.expr(args)?;
    let value = if args.eat(b',') { asm.absolute(args)? } else { 0 };
    args.end()?;
    asm.repeat_expr(count, value as u64 & 0xff, 1, start)
}

/// `.dcb.w count, value`
pub(super) fn blocks<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let start = args.statement();
    let count = asm.absolute(args)?;
    args.comma()?;
    args.peek();
    let at = args.position();
    let value = asm.absolute(args)?;
    check_width(value, element(name)).map_err(|fault| Located::new(args.span_from(at), fault))?;
    args.end()?;
    let Ok(count) = u64::try_from(count) else {
        asm.warn(start, "a negative count has no effect");
        return Ok(());
    };
    if count > 0 {
        asm.row();
    }
    asm.repeat(count, value as u64, element(name), start)
}

/// `.ds.l count`
pub(super) fn spaces<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let start = args.statement();
    let count = asm.absolute(args)?;
    args.end()?;
    let Ok(count) = u64::try_from(count) else {
        asm.warn(start, "a negative count has no effect");
        return Ok(());
    };
    asm.repeat(count.saturating_mul(element(name).into()), 0, 1, start)
}

/// `.org offset [, value]`
pub(super) fn org<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let start = args.statement();
    let to = asm.expr(args)?;
    let value = if args.eat(b',') { asm.absolute(args)? } else { 0 };
    args.end()?;
    asm.org(to, value as u8, start)
}

/// `.p2align 8`, `.balign 256, 0xab, 16`, `.p2alignl 6, 0xbf800000`
pub(super) fn align<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let start = args.statement();
    if args.at_end() {
        asm.warn(start, "an alignment without a number has no effect");
        return Ok(());
    }
    let power = name.starts_with(".p2");
    args.peek();
    let at = args.position();
    let number = asm.absolute(args)?;
    let span = args.span_from(at);
    let align = alignment(number, power).map_err(|fault| Located::new(span, fault))?;
    let mut fill = None;
    let mut most = None;
    if args.eat(b',') {
        if args.peek() != Some(b',') {
            fill = Some(asm.absolute(args)? as u64);
        }
        if args.eat(b',') {
            args.peek();
            let at = args.position();
            let bytes = asm.absolute(args)?;
            let range = Fault::Range { what: "the largest padding", value: bytes, low: 1, high: i64::MAX };
            most = Some(
                u64::try_from(bytes)
                    .ok()
                    .filter(|n| *n > 0)
                    .ok_or_else(|| Located::new(args.span_from(at), range))?,
            );
        }
    }
    args.end()?;
    let size = match name.as_bytes().last() {
        Some(b'w') => 2,
        Some(b'l') => 4,
        _ => 1,
    };
    if fill.is_some_and(|value| value != 0) && asm.section().is_nobits() {
        asm.warn(start, "a section without content is filled with zeros");
    }
    let fill = match fill {
        Some(value) => Fill::Value(value, size),
        None if asm.section().is_code() => Fill::Nops,
        None => Fill::Value(0, 1),
    };
    asm.align(align, fill, most.unwrap_or(u64::MAX), start)
}

/// The number of bytes of an alignment that is given as a power of two or as a number.
fn alignment(number: i64, power: bool) -> std::result::Result<u64, Fault> {
    if power {
        let range = Fault::Range { what: "the power of two", value: number, low: 0, high: 31 };
        return u32::try_from(number).ok().filter(|n| *n < 32).map(|n| 1 << n).ok_or(range);
    }
    // `.balign 0` means `.balign 1`.
    let align = u64::try_from(number.max(0)).unwrap_or(0).max(1);
    let limit = number >= 0 && align < 1 << 32;
    if align.is_power_of_two() && limit {
        Ok(align)
    } else {
        Err(Fault::PowerOfTwo { what: "the alignment", value: number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_floats_round_to_nearest_even() {
        // The expected values come from the standard library, which parses decimal notation; powers of two and their sums are exact in both
        // notations.
        let cases = [
            ("1p0", 1.0),
            ("1.8p1", 3.0),
            ("ffp-8", 0.99609375),
            ("0.000001p0", 2f64.powi(-24)),
            ("1p-1074", f64::from_bits(1)),
            ("1p-1075", 0.0),
            ("1.8p-1075", f64::from_bits(1)),
            ("1p1024", f64::INFINITY),
            ("1.fffffffffffff7p0", 1.9999999999999998),
            ("1.fffffffffffff8p0", 2.0),
            ("123456789abcdef01", 20988295479420645120.0),
        ];
        for (text, value) in cases {
            assert_eq!(hex_float(text, true), Some(value.to_bits()), "{text}");
        }
        assert_eq!(hex_float("1.000001p0", false), Some(1f32.to_bits().into()));
        assert_eq!(hex_float("1.000003p0", false), Some(u64::from(1f32.to_bits()) + 2));
    }
}
