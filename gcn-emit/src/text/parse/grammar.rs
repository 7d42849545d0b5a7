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
//! What it makes knows the words but not the instruction: that comes in [`super::resolve`].

use gcn_isa::table::{Class, InstDesc, OperandKinds};
use gcn_isa::target::{Generation, Subtarget};
use gcn_isa::{Reg, SrcSpecial, reg};
use smallvec::SmallVec;

use super::calls;
use super::cursor::{Cursor, Located, Number, Span, is_name_byte};
use super::error::ParseFault;
use super::modifier::{self, RawMod};
use super::register;
use super::resolve::least_operands;
use super::scope::Scope;
use super::words::{self, Function, Word};

/// The operands and modifiers of an instruction.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub operands: SmallVec<[RawOperand; 6]>,
    pub mods: SmallVec<[RawMod; 6]>,
}

/// An operand with its source modifiers.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawOperand {
    pub span: Span,
    pub value: RawValue,
    pub neg: bool,
    pub abs: bool,
    pub sext: bool,
}

/// A value as written.
#[derive(Clone, Copy, Debug)]
pub(super) enum RawValue {
    Reg(Reg),
    /// Half a VGPR, the upper one or the lower.
    Half(Reg, bool),
    Special(SrcSpecial),
    Number(Number),
    /// `lit(…)`: a literal even if an inline constant would do.
    Lit(Number),
    Off,
    /// The immediate that a function such as `hwreg(…)` means.
    Call(Function, u16),
    /// An immediate whose fields are named, such as the counters of `s_waitcnt`.
    Fields(u16),
    /// The attribute of a pixel's parameter, as in `attr0.w`.
    Attribute(u16),
}

impl RawOperand {
    pub fn has_modifier(&self) -> bool {
        self.neg || self.abs || self.sext
    }
}

/// The surroundings that the grammar depends on.
pub(super) struct Context<'s> {
    pub on: Subtarget,
    pub scope: &'s mut dyn Scope,
    /// True if `scc` is a cache bit in this instruction and not a register.
    pub scc_is_cache_bit: bool,
    /// The forms of the instruction.
    pub rows: &'s [&'static InstDesc],
}

impl Context<'_> {
    /// True if a word that is a modifier or `off` elsewhere names a symbol where `operands` stand before it: a modifier
    /// stands after all operands, and `off` where a form has no address.
    fn is_symbol(&self, name: &str, word: Word, operands: usize) -> bool {
        let takes_off = |row: &&InstDesc| {
            let slot = row.operands.get(operands);
            slot.is_some_and(|slot| slot.kinds.contains(OperandKinds::OFF))
        };
        // If the form accepts the modifier and its last operand is optional, the word is the modifier.
        let still_wants = |row: &InstDesc| match word {
            Word::Flag(modifier, _) if row.modifiers.intersects(modifier.word.flag()) => {
                operands < least_operands(row)
            }
            _ => operands < row.operands.len(),
        };
        let known = || match self.rows {
            [only] if only.class == Class::Branch => true,
            _ => self.scope.defines(name),
        };
        self.rows.iter().all(|row| still_wants(row))
            && !(matches!(word, Word::Off) && self.rows.iter().any(takes_off))
            && known()
    }
}

/// Parses the text after the mnemonic of an instruction that has these rows, `desc` the first of them.
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

/// An operand or a modifier; the first byte decides what it can be.
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

/// True before `byte`, blanks aside.
fn next_is(cursor: &Cursor<'_>, byte: u8) -> bool {
    let mut ahead = cursor.clone();
    ahead.blanks();
    ahead.peek() == byte
}

/// Takes the name of a function and its parenthesis, if they are next.
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

/// True if the minus here negates an operand and is not the sign of a number or of an expression.
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
            // The error of a register out of range is found when it is parsed in earnest.
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

/// A value; between bars a `|` ends it.
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

/// True if an operand of the instruction takes a literal of 64 bits.
fn takes_long_literal(context: &Context<'_>) -> bool {
    let slots = context.rows.iter().flat_map(|row| row.operands);
    slots.into_iter().any(|slot| slot.kinds.contains(OperandKinds::LITERAL64))
}

fn number(cursor: &mut Cursor<'_>, context: &mut Context<'_>, in_bars: bool) -> Result<Number, Located> {
    if !in_bars {
        return cursor.number(context.scope);
    }
    // Only one term: the bar after it is not an operator.
    let at = cursor.at();
    cursor.skip_term()?;
    let term = cursor.text_from(at);
    let mut inner = Cursor::new(term);
    let shifted = |(span, fault): Located| (Span::new(at + span.at(), at + span.end()), fault);
    inner.number(context.scope).map_err(shifted)
}
