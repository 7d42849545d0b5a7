//! The grammar of one instruction.
//!
//! ```text
//! instruction = mnemonic operand* modifier*      separated by blanks or commas
//! operand     = "sext(" value ")" | negated
//! negated     = "-" absolute | "neg(" absolute ")" | absolute
//! absolute    = "|" value "|" | "abs(" value ")" | value
//! value       = register | "[" register,… "]" | number | expression | "lit(" number ")" | "off" | call | structure
//! modifier    = name [ ":" value ]               see [`super::words`]
//! ```
//!
//! The result contains the operands and modifiers, but not yet the instruction, which [`super::resolve`] determines.

use gcn_isa::table::{InstDesc, OperandKinds};
use gcn_isa::target::{Generation, Subtarget};
use gcn_isa::{Reg, SrcSpecial, reg};

use super::calls;
use super::context::Context;
use super::cursor::{Cursor, Located, Span, is_name_byte};
use super::error::ParseFault;
use super::modifier;
use super::number::Number;
use super::register;
use super::scope::Scope;
use super::syntax::{Raw, RawMod, RawOperand, RawValue};
use super::words::{self, Function, Word};

/// Parses the text after a mnemonic that may denote any of these rows; `desc` is the first row.
pub(super) fn instruction(
    cursor: &mut Cursor<'_>,
    desc: &InstDesc,
    rows: &[&'static InstDesc],
    on: Subtarget,
    scope: &mut dyn Scope,
    raw: &mut Raw,
) -> Result<(), Located> {
    let scc_is_cache_bit = desc.is_vmem() && !on.is_gfx940_family() && on.generation() == Generation::GFX9;
    let mut context = Context { on, scope, scc_is_cache_bit, rows };
    cursor.blanks();
    let immediate = desc.entry.immediate;
    if calls::fields_begin(cursor, immediate) {
        raw.operands.push(calls::fields(cursor, &mut context, immediate)?);
        return if cursor.is_end() { Ok(()) } else { Err(cursor.expected("a counter such as `vmcnt(0)`")) };
    }
    while !cursor.is_end() {
        item(cursor, raw, &mut context)?;
        cursor.eat(b',');
    }
    Ok(())
}

/// Parses an operand or a modifier; the first byte determines what it can be.
fn item(cursor: &mut Cursor<'_>, raw: &mut Raw, context: &mut Context<'_>) -> Result<(), Located> {
    let at = cursor.at();
    if let Some(reg) = register::regular(cursor, context)? {
        let value = register::half(cursor, reg);
        return push(cursor, raw, plain(cursor.span_from(at), value));
    }
    let start = cursor.clone();
    let name = cursor.name();
    if !name.is_empty() {
        let known = words::word(name);
        let simple = match known {
            Some(word @ (Word::Flag(..) | Word::Valued(_) | Word::Off))
                if !next_is(cursor, b':') && context.is_symbol(name, word, raw.operands.len()) =>
            {
                *cursor = start.clone();
                Some(RawValue::Number(cursor.number(context.scope)?))
            }
            Some(Word::Flag(flag, value)) if name != "scc" || context.scc_is_cache_bit => {
                raw.mods.push(RawMod { span: cursor.span_from(at), modifier: flag, value });
                return Ok(());
            }
            Some(Word::Valued(valued)) => {
                return modifier::valued(cursor, raw, at, valued, context);
            }
            Some(Word::Function(Function::Neg)) if next_is(cursor, b':') => {
                return modifier::valued(cursor, raw, at, words::NEG, context);
            }
            Some(Word::Reg(reg)) if has_register(context.on, reg) => Some(RawValue::Reg(reg)),
            Some(Word::Off) => Some(RawValue::Off),
            None => register::attribute(name).map(RawValue::Attribute),
            _ => None,
        };
        if let Some(value) = simple {
            return push(cursor, raw, plain(cursor.span_from(at), value));
        }
        *cursor = start;
    } else if cursor.peek().is_ascii_digit() {
        let number = cursor.number(context.scope)?;
        return push(cursor, raw, plain(cursor.span_from(at), RawValue::Number(number)));
    }
    let operand = extended(cursor, context)?;
    push(cursor, raw, operand)
}

/// True if the processor has the named register.
fn has_register(on: Subtarget, reg: Reg) -> bool {
    let named = on.named_sgprs();
    match reg.index {
        102 | 103 => named.flat_scratch.is_some(),
        104 | 105 => named.xnack_mask.is_some(),
        index if index == reg::NULL.index => named.null.is_some(),
        _ => true,
    }
}

fn plain(span: Span, value: RawValue) -> RawOperand {
    RawOperand { span, value, neg: false, abs: false, sext: false }
}

fn push(cursor: &Cursor<'_>, raw: &mut Raw, operand: RawOperand) -> Result<(), Located> {
    if is_name_byte(cursor.peek()) {
        return Err(cursor.expected("a comma or a blank after the operand"));
    }
    if let Some(last) = raw.mods.last()
        && !last.may_precede_operand()
    {
        return Err((operand.span, ParseFault::Expected("a modifier: operands stand before all modifiers")));
    }
    raw.operands.push(operand);
    Ok(())
}

/// True if `byte` is next, after blanks.
fn next_is(cursor: &Cursor<'_>, byte: u8) -> bool {
    let mut ahead = cursor.clone();
    ahead.blanks();
    ahead.peek() == byte
}

/// If the name of this function and a parenthesis come next, consumes both and returns true.
fn opening(cursor: &mut Cursor<'_>, wanted: Function) -> bool {
    let start = cursor.clone();
    if let Some(Word::Function(function)) = words::word(cursor.name())
        && function == wanted
    {
        cursor.blanks();
        if cursor.eat(b'(') {
            return true;
        }
    }
    *cursor = start;
    false
}

fn extended(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<RawOperand, Located> {
    let at = cursor.at();
    if cursor.peek() == b's' && opening(cursor, Function::Sext) {
        let value = value(cursor, context, false)?;
        cursor.close(b')', "`)` after the operand of sext")?;
        return Ok(RawOperand { sext: true, ..plain(cursor.span_from(at), value) });
    }
    negated(cursor, context)
}

fn negated(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<RawOperand, Located> {
    let at = cursor.at();
    if cursor.peek() == b'n' && opening(cursor, Function::Neg) {
        let inner = absolute(cursor, context)?;
        cursor.close(b')', "`)` after the operand of neg")?;
        return Ok(RawOperand { neg: true, span: cursor.span_from(at), ..inner });
    }
    if cursor.peek() == b'-' && minus_negates(cursor, context) {
        cursor.skip(1);
        cursor.blanks();
        if cursor.peek() == b'-' {
            return Err(cursor.expected("one sign only"));
        }
        let inner = absolute(cursor, context)?;
        return Ok(RawOperand { neg: true, span: cursor.span_from(at), ..inner });
    }
    absolute(cursor, context)
}

/// True if the minus that comes next negates an operand, instead of being the sign of a number or of an expression.
fn minus_negates(cursor: &Cursor<'_>, context: &mut Context<'_>) -> bool {
    let mut ahead = cursor.clone();
    ahead.skip(1);
    ahead.blanks();
    let again = ahead.peek() == b'-';
    ahead.while_byte(|b| matches!(b, b'-' | b' '));
    match ahead.peek() {
        b'|' | b'[' => !again,
        b'0'..=b'9' | b'.' | b'(' | b'"' | b'\'' | b'~' | b'!' | b'+' => false,
        _ => {
            // An error about a register that does not exist is not reported here, but when the register is parsed.
            if !matches!(register::regular(&mut ahead, context), Ok(None)) {
                return true;
            }
            let name = ahead.name();
            let known = words::word(name);
            matches!(known, Some(Word::Reg(_) | Word::Special(_) | Word::Elsewhere))
                || name == "scc"
                || matches!(known, Some(Word::Function(Function::Abs))) && next_is(&ahead, b'(')
        }
    }
}

fn absolute(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<RawOperand, Located> {
    let at = cursor.at();
    if cursor.peek() == b'|' {
        cursor.eat(b'|');
        let value = value(cursor, context, true)?;
        cursor.close(b'|', "`|` after the operand")?;
        return Ok(RawOperand { abs: true, ..plain(cursor.span_from(at), value) });
    }
    if cursor.peek() == b'a' && opening(cursor, Function::Abs) {
        let value = value(cursor, context, false)?;
        cursor.close(b')', "`)` after the operand of abs")?;
        return Ok(RawOperand { abs: true, ..plain(cursor.span_from(at), value) });
    }
    let value = value(cursor, context, false)?;
    Ok(plain(cursor.span_from(at), value))
}

/// Parses a value. Between bars, a `|` ends the value.
fn value(cursor: &mut Cursor<'_>, context: &mut Context<'_>, in_bars: bool) -> Result<RawValue, Located> {
    let at = cursor.at();
    if let Some(reg) = register::regular(cursor, context)? {
        return Ok(register::half(cursor, reg));
    }
    match cursor.peek() {
        b'[' => return register::list(cursor, context).map(RawValue::Reg),
        b'{' => return calls::hwreg_structure(cursor, context),
        0 if cursor.is_end() => return Err(cursor.expected("an operand")),
        _ => {}
    }
    let start = cursor.clone();
    let name = cursor.name();
    if name.is_empty() {
        return number(cursor, context, in_bars).map(RawValue::Number);
    }
    match words::word(name) {
        Some(Word::Reg(reg)) if has_register(context.on, reg) => Ok(RawValue::Reg(reg)),
        Some(Word::Special(special)) => Ok(RawValue::Special(special)),
        Some(Word::Flag(..)) if name == "scc" => Ok(RawValue::Special(SrcSpecial::Scc)),
        Some(Word::Off) => Ok(RawValue::Off),
        Some(Word::Elsewhere | Word::Reg(_)) => Err((
            cursor.span_from(at),
            ParseFault::Register(format!("{} has no register `{name}`", context.on.target)),
        )),
        Some(Word::Function(function)) if next_is(cursor, b'(') => call(cursor, at, function, context),
        _ => {
            *cursor = start;
            number(cursor, context, in_bars).map(RawValue::Number)
        }
    }
}

fn call(
    cursor: &mut Cursor<'_>,
    at: usize,
    function: Function,
    context: &mut Context<'_>,
) -> Result<RawValue, Located> {
    cursor.blanks();
    cursor.eat(b'(');
    let value = match function {
        Function::Lit64 if !takes_long_literal(context) => {
            let fault = ParseFault::Register(format!("{} has no 64-bit literals", context.on.target));
            return Err((cursor.span_from(at), fault));
        }
        Function::Lit | Function::Lit64 => {
            let number = cursor.number(context.scope)?;
            cursor.close(b')', "`)` after the literal")?;
            return Ok(RawValue::Lit(number));
        }
        Function::Hwreg => calls::hwreg(cursor, context)?,
        Function::Sendmsg => calls::sendmsg(cursor, context)?,
        Function::GprIdx => calls::gpr_idx(cursor)?,
        Function::Neg | Function::Abs | Function::Sext => {
            let fault =
                ParseFault::Expected("a register or number: modifiers nest as sext(x) or neg(abs(x))");
            return Err((cursor.span_from(at), fault));
        }
    };
    cursor.close(b')', "`)`")?;
    Ok(RawValue::Call(function, value))
}

/// True if an operand of the instruction accepts a 64-bit literal.
fn takes_long_literal(context: &Context<'_>) -> bool {
    let slots = context.rows.iter().flat_map(|row| row.operands);
    slots.into_iter().any(|slot| slot.kinds.contains(OperandKinds::LITERAL64))
}

fn number(cursor: &mut Cursor<'_>, context: &mut Context<'_>, in_bars: bool) -> Result<Number, Located> {
    if !in_bars {
        return cursor.number(context.scope);
    }
    // Parses a single term, because the bar after it is not an operator.
    let at = cursor.at();
    cursor.skip_term()?;
    let term = cursor.text_from(at);
    let mut inner = Cursor::new(term);
    let shifted = |(span, fault): Located| (Span::new(at + span.at(), at + span.end()), fault);
    inner.number(context.scope).map_err(shifted)
}
