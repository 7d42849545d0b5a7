//! The grammar of one instruction, without knowledge of the instruction set.
//!
//! ```text
//! instruction = mnemonic item*            items are separated by commas; modifiers also by blanks alone
//! item        = modifier | operand
//! modifier    = name [ ":" value ]        a flag, a word, a number, a bracketed list or a call
//! operand     = "sext(" negated ")" | negated
//! negated     = "-" absolute | "neg(" absolute ")" | absolute
//! absolute    = "|" primary "|" | "abs(" primary ")" | primary
//! primary     = register | number | "lit(" number ")" | "off" | call | name
//! ```

use gcn_isa::{Reg, RegFile, SrcSpecial, reg};
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, delimited, opt, preceded, separated, terminated};
use winnow::stream::Location as _;
use winnow::token::{one_of, take_while};
use winnow::{LocatingSlice, ModalResult, Parser};

use super::error::ParseFault;

type Input<'a> = LocatingSlice<&'a str>;

/// Byte offset and fault.
pub(super) type Located = (usize, ParseFault);

/// A line taken apart.
#[derive(Debug)]
pub(super) struct RawInst<'a> {
    pub at: usize,
    pub mnemonic: &'a str,
    pub operands: Vec<RawOperand<'a>>,
    pub mods: Vec<RawMod<'a>>,
}

/// An operand with its source modifiers.
#[derive(Debug, Clone)]
pub(super) struct RawOperand<'a> {
    pub at: usize,
    pub neg: bool,
    pub abs: bool,
    pub sext: bool,
    pub value: RawValue<'a>,
}

/// What stands for a value.
#[derive(Debug, Clone)]
pub(super) enum RawValue<'a> {
    Reg(Reg),
    Special(SrcSpecial),
    Number(Number<'a>),
    /// `lit(…)`: a literal even if an inline constant would do.
    Lit(Number<'a>),
    Off,
    /// `name(arguments)`.
    Call(&'a str, &'a str),
    Name(&'a str),
}

/// A number as written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number<'a> {
    Int(i128),
    Float(&'a str),
}

/// A modifier: its name and the text of its value.
#[derive(Debug, Clone)]
pub(super) struct RawMod<'a> {
    pub at: usize,
    pub name: &'a str,
    pub value: Option<&'a str>,
}

/// Words that are modifiers without a value.
const FLAGS: [&str; 17] = [
    "clamp",
    "glc",
    "slc",
    "scc",
    "sc0",
    "sc1",
    "nt",
    "offen",
    "idxen",
    "lds",
    "gds",
    "tfe",
    "row_mirror",
    "row_half_mirror",
    "wave_shl",
    "wave_shr",
    "bound_ctrl",
];

/// Parses an instruction; the text holds no comment.
pub(super) fn instruction(text: &str) -> Result<RawInst<'_>, Located> {
    let mut input = LocatingSlice::new(text);
    blanks(&mut input);
    let at = input.current_token_start();
    let mnemonic = name(&mut input).map_err(|_| (at, ParseFault::Expected("an instruction")))?;
    let mut raw = RawInst { at, mnemonic, operands: Vec::new(), mods: Vec::new() };
    if mnemonic == "s_waitcnt" {
        return waits(input, raw);
    }
    let mut after_comma = true;
    loop {
        blanks(&mut input);
        if input.is_empty() {
            break;
        }
        item(&mut input, &mut raw, after_comma)?;
        blanks(&mut input);
        after_comma = comma(&mut input);
        if after_comma && input.trim().is_empty() {
            return Err((input.current_token_start(), ParseFault::Expected("an operand after the comma")));
        }
    }
    Ok(raw)
}

fn blanks(input: &mut Input<'_>) {
    let _: ModalResult<&str> = multispace0.parse_next(input);
}

fn comma(input: &mut Input<'_>) -> bool {
    let found: ModalResult<Option<char>> = opt(',').parse_next(input);
    matches!(found, Ok(Some(_)))
}

fn item<'a>(input: &mut Input<'a>, raw: &mut RawInst<'a>, operand_allowed: bool) -> Result<(), Located> {
    let at = input.current_token_start();
    let first = raw.operands.is_empty() && raw.mods.is_empty();
    let parsed: ModalResult<Option<RawMod<'a>>> = opt(modifier(first, operand_allowed)).parse_next(input);
    if let Ok(Some(modifier)) = parsed {
        raw.mods.push(modifier);
        return Ok(());
    }
    if !operand_allowed {
        return Err((at, ParseFault::Expected("a comma before the next operand, or a modifier")));
    }
    match operand.parse_next(input) {
        Ok(operand) => {
            raw.operands.push(operand);
            Ok(())
        }
        Err(_) => Err((at, ParseFault::Expected("an operand"))),
    }
}

/// A modifier. A flag word is one only where an operand could not stand, or where it is the first word of all: `scc` and
/// `lds` could be operands elsewhere.
fn modifier<'a>(
    first: bool,
    operand_allowed: bool,
) -> impl Parser<Input<'a>, RawMod<'a>, winnow::error::ErrMode<winnow::error::ContextError>> {
    move |input: &mut Input<'a>| {
        let at = input.current_token_start();
        let name = name.parse_next(input)?;
        let value = opt(preceded((multispace0, ':', multispace0), modifier_value)).parse_next(input)?;
        let is_flag = FLAGS.contains(&name) && (first || !operand_allowed || name != "scc");
        if value.is_none() && !is_flag {
            return Err(winnow::error::ErrMode::Backtrack(winnow::error::ContextError::new()));
        }
        Ok(RawMod { at, name, value })
    }
}

/// The text of a modifier's value.
fn modifier_value<'a>(input: &mut Input<'a>) -> ModalResult<&'a str> {
    alt((
        ('[', take_while(0.., |c| c != ']'), ']').take(),
        (name, '(', take_while(0.., |c| c != ')'), ')').take(),
        name,
        number.take(),
    ))
    .parse_next(input)
}

/// `s_waitcnt` takes counters joined by blanks, commas or `&`, or a number.
fn waits<'a>(mut input: Input<'a>, mut raw: RawInst<'a>) -> Result<RawInst<'a>, Located> {
    loop {
        let _: ModalResult<&str> =
            take_while(0.., |c: char| c.is_whitespace() || c == ',' || c == '&').parse_next(&mut input);
        if input.is_empty() {
            return Ok(raw);
        }
        let at = input.current_token_start();
        match primary.parse_next(&mut input) {
            Ok(value) => raw.operands.push(RawOperand { at, neg: false, abs: false, sext: false, value }),
            Err(_) => return Err((at, ParseFault::Expected("a counter such as `vmcnt(0)`"))),
        }
    }
}

/// An identifier: mnemonic, label, register or modifier name.
fn name<'a>(input: &mut Input<'a>) -> ModalResult<&'a str> {
    (
        one_of(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '$' | '@')),
        take_while(0.., |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '@')),
    )
        .take()
        .parse_next(input)
}

/// Modifiers nest in one order only (sign extension, negation, absolute value), so the grammar does not recurse.
fn operand<'a>(input: &mut Input<'a>) -> ModalResult<RawOperand<'a>> {
    multispace0.parse_next(input)?;
    let at = input.current_token_start();
    let extended = delimited(("sext(", multispace0), negated, (multispace0, ')'));
    let parsed = alt((extended.map(|o| RawOperand { sext: true, ..o }), negated)).parse_next(input)?;
    Ok(RawOperand { at, ..parsed })
}

fn negated<'a>(input: &mut Input<'a>) -> ModalResult<RawOperand<'a>> {
    let negative = alt((
        delimited(("neg(", multispace0), absolute, (multispace0, ')')),
        preceded(('-', multispace0), absolute),
    ));
    // A plain operand first: the sign of a number belongs to the number.
    alt((plain, negative.map(|o| RawOperand { neg: true, ..o }), absolute)).parse_next(input)
}

fn absolute<'a>(input: &mut Input<'a>) -> ModalResult<RawOperand<'a>> {
    let spaced = |input: &mut Input<'a>| delimited(multispace0, plain, multispace0).parse_next(input);
    let magnitude = alt((delimited("abs(", spaced, ')'), delimited('|', spaced, '|')));
    alt((magnitude.map(|o| RawOperand { abs: true, ..o }), plain)).parse_next(input)
}

fn plain<'a>(input: &mut Input<'a>) -> ModalResult<RawOperand<'a>> {
    let at = input.current_token_start();
    primary.map(|value| RawOperand { at, neg: false, abs: false, sext: false, value }).parse_next(input)
}

fn primary<'a>(input: &mut Input<'a>) -> ModalResult<RawValue<'a>> {
    alt((
        delimited(("lit(", multispace0), number, (multispace0, ')')).map(RawValue::Lit),
        number.map(RawValue::Number),
        register_list.map(RawValue::Reg),
        register.map(RawValue::Reg),
        (word_name, arguments).map(|(n, a)| RawValue::Call(n, a)),
        word_name.map(word),
    ))
    .parse_next(input)
}

/// A name other than those of the functions around operands.
fn word_name<'a>(input: &mut Input<'a>) -> ModalResult<&'a str> {
    name.verify(|n: &str| !matches!(n, "neg" | "abs" | "sext" | "lit")).parse_next(input)
}

/// What stands between parentheses.
fn arguments<'a>(input: &mut Input<'a>) -> ModalResult<&'a str> {
    delimited('(', take_while(0.., |c| c != ')'), ')').parse_next(input)
}

/// A name that may stand for a register, a special value or `off`.
fn word(name: &str) -> RawValue<'_> {
    if let Some(reg) = named_register(name) {
        return RawValue::Reg(reg);
    }
    let special =
        SrcSpecial::ALL.into_iter().find(|s| s.name() == name || s.name().strip_prefix("src_") == Some(name));
    match (special, name) {
        (Some(special), _) => RawValue::Special(special),
        (None, "off") => RawValue::Off,
        (None, _) => RawValue::Name(name),
    }
}

fn named_register(name: &str) -> Option<Reg> {
    let (base, half) = match name.strip_suffix("_lo") {
        Some(base) => (base, Some(0)),
        None => name.strip_suffix("_hi").map_or((name, None), |base| (base, Some(1))),
    };
    let pair = match base {
        "vcc" => reg::VCC,
        "exec" => reg::EXEC,
        "flat_scratch" => reg::FLAT_SCRATCH,
        "xnack_mask" => reg::XNACK_MASK,
        "m0" if half.is_none() => return Some(reg::M0),
        _ => return None,
    };
    Some(half.map_or(pair, |h| pair.sub(h)))
}

/// `v7`, `v[7]`, `s[4:7]`, `a[0:15]`, `ttmp[2:3]`.
fn register(input: &mut Input<'_>) -> ModalResult<Reg> {
    let range = delimited(
        ('[', multispace0),
        (small, opt(preceded((multispace0, ':', multispace0), small))),
        (multispace0, ']'),
    );
    let file = alt((
        "ttmp".value((RegFile::Sgpr, 108, 16)),
        "acc".value((RegFile::Agpr, 0, 256)),
        'v'.value((RegFile::Vgpr, 0, 256)),
        'a'.value((RegFile::Agpr, 0, 256)),
        's'.value((RegFile::Sgpr, 0, 102)),
    ));
    let word_end = winnow::combinator::not(one_of(|c: char| c.is_ascii_alphanumeric() || c == '_'));
    (file, alt((range, terminated(small.map(|i| (i, None)), word_end))))
        .verify_map(|((file, base, count), (first, last)): ((RegFile, u16, u16), (u16, Option<u16>))| {
            let last = last.unwrap_or(first);
            let len = u8::try_from(last.checked_sub(first)? + 1).ok().filter(|len| *len <= 32)?;
            (last < count).then_some(Reg { file, index: base + first, len })
        })
        .parse_next(input)
}

fn small(input: &mut Input<'_>) -> ModalResult<u16> {
    digit1.try_map(str::parse).parse_next(input)
}

/// `[s0, s1]`: single registers in a row.
fn register_list(input: &mut Input<'_>) -> ModalResult<Reg> {
    let single = delimited(multispace0, alt((register, name.verify_map(named_register))), multispace0);
    delimited('[', separated(1..=32, single, ','), ']')
        .verify_map(|list: Vec<Reg>| {
            let mut regs = list.into_iter();
            let mut tuple = regs.next()?;
            for next in regs {
                if next.file != tuple.file || next.index != tuple.end() || next.len != 1 {
                    return None;
                }
                tuple.len += 1;
            }
            Some(tuple)
        })
        .parse_next(input)
}

/// A number, its sign included: `16`, `-1`, `0x3f800000`, `0b101`, `017`, `1.5`, `-0.5e-3`.
fn number<'a>(input: &mut Input<'a>) -> ModalResult<Number<'a>> {
    let sign = |c: &mut Input<'a>| -> ModalResult<bool> { opt('-').map(|s| s.is_some()).parse_next(c) };
    let exponent = || (one_of(['e', 'E']), opt(one_of(['+', '-'])), digit1);
    let float =
        (opt('-'), alt(((digit1, '.', opt(digit1), opt(exponent())).take(), (digit1, exponent()).take())))
            .take()
            .map(Number::Float);
    let radix = |radix: u32| move |digits: &str| i128::from_str_radix(digits, radix);
    let magnitude = alt((
        preceded(alt(("0x", "0X")), take_while(1..=16, |c: char| c.is_ascii_hexdigit())).try_map(radix(16)),
        preceded(alt(("0b", "0B")), take_while(1..=64, ['0', '1'])).try_map(radix(2)),
        preceded('0', take_while(1..=22, '0'..='7')).try_map(radix(8)),
        digit1.verify(|d: &str| d.len() <= 20).try_map(radix(10)),
    ));
    let int = (sign, magnitude).map(|(neg, m): (bool, i128)| Number::Int(if neg { -m } else { m }));
    let word_end = winnow::combinator::not(one_of(|c: char| c.is_ascii_alphanumeric() || c == '_'));
    terminated(alt((float, int)), word_end).parse_next(input)
}

/// Parses a whole text as an integer.
pub(super) fn integer(text: &str) -> Option<i64> {
    let mut input = LocatingSlice::new(text.trim());
    match number.parse_next(&mut input) {
        Ok(Number::Int(value)) if input.is_empty() => i64::try_from(value).ok(),
        _ => None,
    }
}
