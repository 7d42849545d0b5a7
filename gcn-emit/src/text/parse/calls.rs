//! The functions that stand for an immediate: `hwreg(…)`, `sendmsg(…)`, `gpr_idx(…)`, the counters of `s_waitcnt` and
//! other named fields, and `swizzle(…)` of `ds_swizzle_b32`.

use gcn_isa::immediate::{Field, Immediate, VERSION_FLAGS, VERSIONS};

use super::context::Context;
use super::cursor::{Cursor, Located, Span};
use super::error::ParseFault;
use super::syntax::{RawOperand, RawValue};
use super::words::Function;
use crate::text::symbols;

fn fault<T>(span: Span, problem: &str) -> Result<T, Located> {
    Err((span, ParseFault::Expression(problem.to_owned())))
}

/// Parses an argument: a number from `low` to `high`.
fn argument(
    cursor: &mut Cursor<'_>,
    context: &mut Context<'_>,
    (low, high): (i64, i64),
    problem: &str,
) -> Result<u16, Located> {
    let at = cursor.at();
    let value = cursor.integer(context.scope)?;
    match u16::try_from(value) {
        Ok(small) if (low..=high).contains(&value) => Ok(small),
        _ => fault(cursor.span_from(at), problem),
    }
}

/// Parses a name for which `known` returns a number, and returns that number. If another word comes next, returns `None` and consumes
/// nothing.
fn symbol<'a>(cursor: &mut Cursor<'a>, known: impl Fn(&str) -> Option<u16>) -> Option<u16> {
    let start = cursor.clone();
    let value = known(cursor.name());
    match value {
        Some(value) => {
            cursor.blanks();
            Some(value)
        }
        None => {
            *cursor = start;
            None
        }
    }
}

/// Parses the rest of `hwreg(NAME)` or `hwreg(NAME, offset, size)`; the cursor is just past the opening parenthesis.
pub(super) fn hwreg(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<u16, Located> {
    let at = cursor.at();
    let target = context.on.target;
    let name = cursor.clone().name();
    let named = || symbols::HWREGS.iter().filter(|r| r.1 == name);
    let here = named().find(|r| r.2.contains(target)).map(|r| r.0);
    let elsewhere = named().next().map(|r| r.0);
    let id = match symbol(cursor, |_| here.or(elsewhere)) {
        Some(id) if here.is_some() => id,
        Some(_) => {
            return fault(cursor.span_from(at), &format!("{target} has no such hardware register"));
        }
        None if cursor.word_span().end() > at && cursor.peek() == b'H' => {
            return fault(cursor.word_span(), "no such hardware register");
        }
        None => argument(cursor, context, (0, 63), "a hardware register is a name or a number from 0 to 63")?,
    };
    let (offset, size) = if cursor.eat(b',') {
        let offset = argument(cursor, context, (0, 31), "the bit offset is 0 to 31")?;
        cursor.expect(b',', "`,` and the number of bits")?;
        (offset, argument(cursor, context, (1, 32), "the number of bits is 1 to 32")?)
    } else {
        (0, 32)
    };
    Ok(id | offset << 6 | (size - 1) << 11)
}

/// Parses `{id: 1, offset: 0, size: 32}`, the alternative notation of `hwreg`.
pub(super) fn hwreg_structure(
    cursor: &mut Cursor<'_>,
    context: &mut Context<'_>,
) -> Result<RawValue, Located> {
    cursor.eat(b'{');
    let (mut id, mut offset, mut size) = (0, 0, 32);
    while cursor.peek() != b'}' {
        let at = cursor.at();
        let field = cursor.name();
        let name = cursor.span_from(at);
        cursor.blanks();
        cursor.expect(b':', "`:` after the field's name")?;
        match field {
            "id" => id = argument(cursor, context, (0, 63), "a hardware register is 0 to 63")?,
            "offset" => offset = argument(cursor, context, (0, 31), "the bit offset is 0 to 31")?,
            "size" => size = argument(cursor, context, (1, 32), "the number of bits is 1 to 32")?,
            _ => return fault(name, "the fields are id, offset and size"),
        }
        if !cursor.eat(b',') {
            break;
        }
    }
    cursor.close(b'}', "`}`")?;
    Ok(RawValue::Call(Function::Hwreg, id | offset << 6 | (size - 1) << 11))
}

/// Parses the rest of `sendmsg(MESSAGE)`, `sendmsg(MESSAGE, OPERATION)` or `sendmsg(MESSAGE, OPERATION, STREAM)`; the cursor is just past
/// the opening parenthesis.
///
/// Names must be a permitted combination; numbers are not checked.
pub(super) fn sendmsg(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<u16, Located> {
    let set = context.on.instruction_set();
    let at = cursor.at();
    let named = symbol(cursor, |name| {
        symbols::MESSAGES.iter().position(|m| m.name == name && m.sets.has(set)).map(|i| i as u16)
    });
    let message = named.and_then(|i| symbols::MESSAGES.get(usize::from(i)));
    let id = match message {
        Some(message) => message.id,
        None => {
            let last = i64::from(symbols::message_ids(context.on.generation())) - 1;
            argument(
                cursor,
                context,
                (0, last),
                &format!("a message is a name or a number from 0 to {last}"),
            )?
        }
    };
    let message_span = cursor.span_from(at);
    if !cursor.eat(b',') {
        return match message {
            Some(message) if !message.ops.is_empty() => fault(message_span, "the message needs an operation"),
            _ => Ok(id),
        };
    }
    let at = cursor.at();
    if message.is_some_and(|m| m.ops.is_empty()) {
        return fault(cursor.word_span(), "the message has no operations");
    }
    let all_ops = || symbols::messages(set).flat_map(|m| m.ops);
    let known = |name: &str| all_ops().find(|o| o.1 == name).map(|o| o.0);
    let op = match symbol(cursor, known) {
        Some(op) => op,
        None => argument(cursor, context, (0, 7), "an operation is a name or a number from 0 to 7")?,
    };
    if message.is_some_and(|m| !m.ops.iter().any(|o| o.0 == op)) {
        return fault(cursor.span_from(at), "the message has no such operation");
    }
    if !cursor.eat(b',') {
        return Ok(id | op << 4);
    }
    if message.is_some_and(|m| !m.streams || op == 0) {
        return fault(cursor.word_span(), "the operation has no stream");
    }
    let stream = argument(cursor, context, (0, 3), "a stream is 0 to 3")?;
    Ok(id | op << 4 | stream << 8)
}

/// Parses the rest of `gpr_idx(SRC0, DST)`; the cursor is just past the opening parenthesis.
pub(super) fn gpr_idx(cursor: &mut Cursor<'_>) -> Result<u16, Located> {
    let mut modes = 0;
    if cursor.peek() == b')' {
        return Ok(0);
    }
    loop {
        let span = cursor.word_span();
        let name = cursor.name();
        let bit = symbols::GPR_IDX_MODES.iter().position(|m| *m == name);
        let Some(bit) = bit else { return fault(span, "the index modes are SRC0, SRC1, SRC2 and DST") };
        if modes >> bit & 1 == 1 {
            return fault(span, "the index mode is there twice");
        }
        modes |= 1 << bit;
        cursor.blanks();
        if !cursor.eat(b',') {
            return Ok(modes);
        }
    }
}

/// True if the name of a field or of a version comes next; otherwise the immediate is a number.
pub(super) fn fields_begin(cursor: &Cursor<'_>, immediate: Immediate) -> bool {
    let mut ahead = cursor.clone();
    let name = ahead.name();
    ahead.blanks();
    match immediate {
        Immediate::Plain | Immediate::Hex => false,
        Immediate::Version => version_bits(name).is_some(),
        Immediate::Counters | Immediate::Dependencies | Immediate::Delay => {
            !name.is_empty() && ahead.peek() == b'('
        }
    }
}

fn version_bits(name: &str) -> Option<u16> {
    VERSIONS.iter().chain(&VERSION_FLAGS).find(|named| named.0 == name).map(|named| named.1)
}

/// Parses the fields of an immediate, joined by blanks, commas, `&` or `|`.
pub(super) fn fields(
    cursor: &mut Cursor<'_>,
    context: &mut Context<'_>,
    immediate: Immediate,
) -> Result<RawOperand, Located> {
    let start = cursor.at();
    let known = immediate.fields(context.on.instruction_set());
    // A counter that is not named is not waited for; a delay that is not named is omitted.
    let mut value = match immediate {
        Immediate::Counters | Immediate::Dependencies => {
            known.iter().fold(0, |all, field| all | field.encode(u16::MAX))
        }
        _ => 0,
    };
    let mut end;
    loop {
        match immediate {
            Immediate::Version => {
                let span = cursor.word_span();
                let Some(bits) = version_bits(cursor.name()) else {
                    return fault(span, "the versions are UC_VERSION_GFX7, GFX10, GFX11 and GFX12");
                };
                value |= bits;
            }
            _ => field(cursor, context, known, &mut value)?,
        }
        end = cursor.at();
        cursor.blanks();
        let joined = cursor.eat(b'&') || cursor.eat(b',') || cursor.eat(b'|');
        if !joined && cursor.is_end() {
            break;
        }
    }
    let value = RawValue::Fields(value);
    Ok(RawOperand { span: Span::new(start, end), value, neg: false, abs: false, sext: false })
}

/// Parses `name(value)`. Only counters also have `name_sat`, which reduces a value that is too large to the maximum.
fn field(
    cursor: &mut Cursor<'_>,
    context: &mut Context<'_>,
    known: &[Field],
    immediate: &mut u16,
) -> Result<(), Located> {
    let name_span = cursor.word_span();
    let name = cursor.name();
    cursor.blanks();
    let (base, saturates) = match name.strip_suffix("_sat") {
        Some(base) => (base, true),
        None => (name, false),
    };
    let found = known.iter().find(|field| field.name == base);
    let Some(field) = found.filter(|field| !saturates || field.values.is_empty()) else {
        return fault(name_span, &names(known));
    };
    cursor.expect(b'(', "`(` after the counter's name")?;
    let at = cursor.at();
    let named = field.values.iter().position(|value| *value == cursor.clone().name());
    let value = match named {
        Some(value) => {
            cursor.name();
            value as i64
        }
        None => cursor.integer(context.scope)?,
    };
    let span = cursor.span_from(at);
    cursor.close(b')', "`)` after the count")?;
    let largest = field.largest();
    let value = match u16::try_from(value) {
        Ok(value) if value <= largest => value,
        _ if saturates && (value > 0 || value < i64::from(i32::MIN)) => largest,
        _ => return fault(span, &ranges(known)),
    };
    *immediate = *immediate & !field.encode(u16::MAX) | field.encode(value);
    Ok(())
}

/// A sentence for messages that lists the names of the fields.
fn names(known: &[Field]) -> String {
    let names: Vec<&str> = known.iter().map(|field| field.name).collect();
    let example = known.first().map_or("", |field| field.name);
    format!("the counters are {}, as in `{example}(0)`", listed(&names))
}

/// A sentence for messages that lists the largest values of the fields.
fn ranges(known: &[Field]) -> String {
    let ranges: Vec<String> =
        known.iter().map(|field| format!("{} (up to {})", field.name, field.largest())).collect();
    format!("the counters are {}", listed(&ranges))
}

fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match &names[..] {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// Parses the rest of `swizzle(MODE, …)`, the offset of `ds_swizzle_b32`; the cursor is just past the opening parenthesis.
pub(super) fn swizzle(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<u16, Located> {
    let span = cursor.word_span();
    let mode = cursor.name();
    cursor.blanks();
    let mut next = |cursor: &mut Cursor<'_>, limits: (i64, i64), problem: &str| {
        cursor.expect(b',', "`,` and the next number of the swizzle")?;
        argument(cursor, context, limits, problem)
    };
    let mut group = |cursor: &mut Cursor<'_>, least: i64, most: i64| {
        let at = cursor.at();
        let size = next(cursor, (least, most), "the group is too small or too large")?;
        if size.is_power_of_two() {
            Ok(size)
        } else {
            fault(cursor.span_from(at), "the size of a group is a power of two")
        }
    };
    Ok(match mode {
        "SWAP" => group(cursor, 1, 16)? << 10 | 0x1f,
        "REVERSE" => (group(cursor, 2, 32)? - 1) << 10 | 0x1f,
        "BROADCAST" => {
            let size = group(cursor, 2, 32)?;
            let lane = next(cursor, (0, i64::from(size) - 1), "the lane is not in the group")?;
            lane << 5 | (0x20 - size)
        }
        "QUAD_PERM" => {
            let mut offset = 0x8000;
            for lane in 0..4 {
                offset |= next(cursor, (0, 3), "a lane of a quad is 0 to 3")? << (2 * lane);
            }
            offset
        }
        "FFT" => 0xe000 | next(cursor, (0, 31), "the swizzle is 0 to 31")?,
        "ROTATE" => {
            let direction = next(cursor, (0, 1), "the direction is 0 (left) or 1 (right)")?;
            0xc000 | direction << 10 | next(cursor, (0, 31), "the number of lanes is 0 to 31")? << 5
        }
        "BITMASK_PERM" => bitmask(cursor)?,
        _ => {
            let modes = "the swizzles are QUAD_PERM, BITMASK_PERM, BROADCAST, SWAP, REVERSE, ROTATE and FFT";
            return fault(span, modes);
        }
    })
}

fn bitmask(cursor: &mut Cursor<'_>) -> Result<u16, Located> {
    cursor.expect(b',', "`,` and a mask such as \"01pip\"")?;
    let at = cursor.at();
    let wanted = "a mask of five characters 0, 1, p or i in quotes";
    if cursor.peek() != b'"' {
        return Err(cursor.expected(wanted));
    }
    cursor.skip(1);
    cursor.while_byte(|b| b != b'"');
    cursor.skip(1);
    let offset = symbols::bitmask_offset(cursor.text_from(at));
    let span = cursor.span_from(at);
    cursor.blanks();
    offset.ok_or((span, ParseFault::Expected(wanted)))
}
