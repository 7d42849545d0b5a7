//! Modifiers: parses their values, and checks whether an instruction accepts them.

use gcn_isa::mods::{
    Form, HINTS, Modifier, Modifiers, SCOPES, SDWA_SELECTORS, SDWA_UNUSED, Spelling, TemporalHints,
};
use gcn_isa::table::{Class, InstDesc};
use gcn_isa::target::Generation;
use gcn_isa::{Format, Mods, Target};

use super::calls;
use super::context::Context;
use super::cursor::{Cursor, Located, Span};
use super::error::ParseFault;
use super::syntax::{Raw, RawMod};
use super::words::ModWord;
use crate::text::symbols;

/// The value of `fi:1` and of `bound_ctrl` in the bits of a `v_permlane*_swap_b32`.
const PERMLANE_FETCH_INACTIVE: u32 = 1;
const PERMLANE_BOUND_CONTROL: u32 = 2;

/// The older notation `bound_ctrl:0`, whose meaning depends on the generation.
const BOUND_CTRL_0: u32 = 2;

/// Flags in [`RawMod::value`] that tell which part of a buffer format is specified. The other part keeps its default.
const DATA_FORMAT_ONLY: u32 = 0x100;
const NUM_FORMAT_ONLY: u32 = 0x200;

impl RawMod {
    /// True for `dfmt:` and `nfmt:`, which come before the scalar offset. All other modifiers come after the operands.
    pub fn may_precede_operand(&self) -> bool {
        self.value & (DATA_FORMAT_ONLY | NUM_FORMAT_ONLY) != 0
            && self.modifier.word.modifier == Modifier::Format
    }
}

/// Parses the value of a modifier after its name.
pub(super) fn valued(
    cursor: &mut Cursor<'_>,
    raw: &mut Raw,
    at: usize,
    modifier: ModWord,
    context: &mut Context<'_>,
) -> Result<(), Located> {
    cursor.expect(b':', "`:` and a value after the modifier's name")?;
    let from = cursor.at();
    let parsed = value(cursor, modifier.word.form, context)?;
    let span = cursor.span_from(at);
    match parsed {
        Ok(value) => {
            raw.mods.push(RawMod { span, modifier, value });
            Ok(())
        }
        Err(problem) => {
            let name = cursor.text_from(at).split([':', ' ', '\t']).next().unwrap_or_default().to_owned();
            Err((Span::new(from, span.end()), ParseFault::ModifierValue { name, problem }))
        }
    }
}

type Parsed = Result<u32, &'static str>;

fn value(cursor: &mut Cursor<'_>, form: Form, context: &mut Context<'_>) -> Result<Parsed, Located> {
    Ok(match form {
        Form::Bits => return bits(cursor, context),
        Form::QuadPerm => return quad_perm(cursor, context),
        Form::Format => return format(cursor, context),
        Form::Selector => {
            let wanted = "an SDWA selector is BYTE_0 to BYTE_3, WORD_0, WORD_1 or DWORD";
            return choice(cursor, &SDWA_SELECTORS, wanted, context);
        }
        Form::Unused => {
            let wanted = "the treatments are UNUSED_PAD, UNUSED_SEXT and UNUSED_PRESERVE";
            return choice(cursor, &SDWA_UNUSED, wanted, context);
        }
        Form::Dpp8 => return dpp8(cursor, context),
        Form::Hint => {
            let name = cursor.name();
            // The default hint has one general word, and one for each of loads, stores and atomics. All of them set no bits.
            let plain = matches!(name, "TH_DEFAULT" | "TH_LOAD_RT" | "TH_STORE_RT" | "TH_ATOMIC_RT");
            let found = HINTS.iter().position(|hint| hint.0 == named_hint(name));
            match (plain, found) {
                (true, _) => Ok(0),
                (_, Some(place)) => Ok(place as u32 + 1),
                (_, None) => Err("not a temporal hint, such as TH_LOAD_NT"),
            }
        }
        Form::Scope => {
            return choice(
                cursor,
                &SCOPES,
                "the scopes are SCOPE_CU, SCOPE_SE, SCOPE_DEV and SCOPE_SYS",
                context,
            );
        }
        Form::Name(names) => return choice(cursor, names, "not one of the modifier's names", context),
        Form::Offset if cursor.rest().starts_with(b"swizzle") => return swizzle(cursor, context),
        Form::Offset => {
            let value = cursor.integer(context.scope)?;
            i32::try_from(value).map(|v| v as u32).map_err(|_| "the offset is too large")
        }
        _ => plain(form, cursor.integer(context.scope)?),
    })
}

/// Parses values that are one number.
fn plain(form: Form, value: i64) -> Parsed {
    match (form, value) {
        (Form::UpTo(max), _) => {
            let small = u32::try_from(value).ok().filter(|v| *v <= max);
            small.ok_or("the value does not fit the field")
        }
        (Form::Lanes(first, low, high), _) => match u16::try_from(value) {
            Ok(lanes) if (low..=high).contains(&lanes) => Ok((first + lanes - low).into()),
            _ => Err("the lane count does not exist"),
        },
        (Form::RowBroadcast, 15) => Ok(0x142),
        (Form::RowBroadcast, 31) => Ok(0x143),
        (Form::RowBroadcast, _) => Err("only row_bcast:15 and row_bcast:31 exist"),
        (Form::Multiply, 1) | (Form::Divide, 1) => Ok(0),
        (Form::Multiply, 2) => Ok(1),
        (Form::Multiply, 4) => Ok(2),
        (Form::Divide, 2) => Ok(3),
        (Form::Multiply | Form::Divide, _) => Err("only mul:2, mul:4 and div:2 exist"),
        (Form::BoundControl, 0) => Ok(BOUND_CTRL_0),
        (Form::BoundControl, 1) => Ok(1),
        (Form::BoundControl, _) => Err("only bound_ctrl:0 and bound_ctrl:1 exist"),
        (Form::FetchInactive, 0 | 1) => Ok(value as u32),
        (Form::FetchInactive, _) => Err("only fi:0 and fi:1 exist"),
        (Form::DataFormat, 0..=15) => Ok(value as u32 | DATA_FORMAT_ONLY),
        (Form::DataFormat, _) => Err("a data format is 0 to 15"),
        (Form::NumFormat, 0..=7) => Ok((value as u32) << 4 | NUM_FORMAT_ONLY),
        (Form::NumFormat, _) => Err("a number format is 0 to 7"),
        _ => Err("not a number"),
    }
}

fn swizzle(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<Parsed, Located> {
    cursor.name();
    cursor.blanks();
    cursor.expect(b'(', "`(` after `swizzle`")?;
    let offset = calls::swizzle(cursor, context)?;
    cursor.close(b')', "`)` after the swizzle")?;
    Ok(Ok(offset.into()))
}

/// The hint with this name. `TH_ATOMIC_RT_RETURN` is another name of the hint that only requests the old value.
fn named_hint(name: &str) -> TemporalHints {
    let name = if name == "TH_ATOMIC_RT_RETURN" { "TH_ATOMIC_RETURN" } else { name };
    TemporalHints::from_name(name).unwrap_or(TemporalHints::empty())
}

/// Parses up to eight numbers in brackets.
fn list(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<([i64; 8], usize), Located> {
    cursor.expect(b'[', "a list such as [0,1]")?;
    let mut values = [0; 8];
    let mut count = 0;
    loop {
        let Some(place) = values.get_mut(count) else {
            return Err(cursor.expected("`]`: a list has at most eight values"));
        };
        *place = cursor.integer(context.scope)?;
        count += 1;
        if !cursor.eat(b',') {
            cursor.close(b']', "`,` or `]`")?;
            return Ok((values, count));
        }
    }
}

fn bits(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<Parsed, Located> {
    let (values, count) = list(cursor, context)?;
    if count > 4 || values.iter().any(|v| !matches!(v, 0 | 1)) {
        return Ok(Err("not a list of bits like [0,1]"));
    }
    Ok(Ok(values.iter().rev().fold(0, |bits, value| bits << 1 | *value as u32)))
}

fn quad_perm(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<Parsed, Located> {
    let (lanes, count) = list(cursor, context)?;
    if count != 4 || lanes.iter().any(|l| !(0..4).contains(l)) {
        return Ok(Err("quad_perm takes four lanes from 0 to 3"));
    }
    Ok(Ok(lanes[..count].iter().rev().fold(0, |bits, lane| bits << 2 | *lane as u32)))
}

fn dpp8(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<Parsed, Located> {
    let (lanes, count) = list(cursor, context)?;
    if count != 8 || lanes.iter().any(|l| !(0..8).contains(l)) {
        return Ok(Err("dpp8 takes eight lanes from 0 to 7"));
    }
    Ok(Ok(lanes.iter().rev().fold(0, |bits, lane| bits << 3 | *lane as u32)))
}

fn choice(
    cursor: &mut Cursor<'_>,
    names: &[&str],
    wanted: &'static str,
    context: &mut Context<'_>,
) -> Result<Parsed, Located> {
    let name = cursor.name();
    let found = if name.is_empty() {
        usize::try_from(cursor.integer(context.scope)?).ok().filter(|i| *i < names.len())
    } else {
        names.iter().position(|n| *n == name)
    };
    Ok(found.map(|i| i as u32).ok_or(wanted))
}

fn format(cursor: &mut Cursor<'_>, context: &mut Context<'_>) -> Result<Parsed, Located> {
    if cursor.peek() != b'[' {
        let value = cursor.integer(context.scope)?;
        return Ok(u32::try_from(value).ok().filter(|v| *v < 0x80).ok_or("the format has 7 bits"));
    }
    cursor.eat(b'[');
    let (mut data, mut num) = (None, None);
    loop {
        let name = cursor.name();
        if let Some(format) = symbols::unified_format_named(name, context.on.generation()) {
            cursor.close(b']', "`]`: the format is one name")?;
            return Ok(Ok(format.into()));
        }
        let place = |list: &[&str]| list.iter().position(|f| *f == name).map(|i| i as u32);
        let again = match (place(&symbols::DATA_FORMATS), place(&symbols::NUM_FORMATS)) {
            (Some(format), _) => data.replace(format),
            (_, Some(format)) => num.replace(format),
            _ => return Ok(Err("not the name of a data or number format, such as BUF_DATA_FORMAT_32")),
        };
        if again.is_some() {
            return Ok(Err("a format names one data format and one number format"));
        }
        cursor.blanks();
        if !cursor.eat(b',') {
            cursor.close(b']', "`,` or `]`")?;
            return Ok(Ok(data.unwrap_or(1) | num.unwrap_or(0) << 4));
        }
    }
}

/// The reason why an instruction does not accept a modifier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    pub span: Span,
    pub problem: &'static str,
}

/// Sets the modifiers of an instruction.
pub(super) fn apply(
    desc: &InstDesc,
    target: Target,
    raw: &Raw,
    mods: &mut Mods,
) -> Result<Modifiers, Refused> {
    let mut written = Modifiers::empty();
    let mut order = 0;
    let mut hinted = None;
    for one in &raw.mods {
        let refuse = |problem| Err(Refused { span: one.span, problem });
        let (field, value) = match meaning(desc, target, one, mods) {
            Ok(meaning) => meaning,
            Err(problem) => return refuse(problem),
        };
        if one.may_precede_operand() && raw.operands.last().is_none_or(|o| o.span.at() < one.span.at()) {
            return refuse("it must stand before the scalar offset; after it, write format:[…]");
        }
        let here = place(desc, one);
        if here < order {
            return refuse("it must stand before the modifiers that are written before it");
        }
        if here == order && written.intersects(one.modifier.word.flag()) {
            return refuse("it is there twice");
        }
        order = here;
        if value != 0 || !desc.required.contains(one.modifier.word.flag()) {
            written |= one.modifier.word.flag();
        }
        field.set(mods, value);
        if field.get(mods) != value {
            return refuse("the value is too large");
        }
        if field == Modifier::Th {
            let hint = (one.value as usize).checked_sub(1).and_then(|place| HINTS.get(place));
            hinted = hint.map(|hint| (hint.0, one.span));
        }
    }
    match hinted {
        Some((hint, span)) if symbols::hint(desc, mods) != Some(hint) => {
            let problem = "scope and th combination is not valid: with this scope, the hint's bits mean another hint; \
                           BYPASS needs scope:SCOPE_SYS, LU and WB any other";
            Err(Refused { span, problem })
        }
        _ => Ok(written),
    }
}

/// The rank of a modifier in the required order.
fn place(desc: &InstDesc, raw: &RawMod) -> u8 {
    // If LDS is the source, `lds` comes before the cache bits.
    if raw.modifier.word.modifier == Modifier::Lds && desc.class == Class::VmemStoreLds {
        super::words::BEFORE_CACHE_BITS
    } else {
        raw.modifier.order
    }
}

fn meaning(
    desc: &InstDesc,
    target: Target,
    raw: &RawMod,
    mods: &Mods,
) -> Result<(Modifier, u32), &'static str> {
    const FOREIGN: &str = "not a modifier of this instruction";
    let (field, value) = (raw.modifier.word.modifier, raw.value);
    if raw.modifier.word.flag().is_empty() {
        return match field {
            Modifier::Format if desc.is_typed_buffer() => Ok((field, buffer_format(value, mods))),
            Modifier::Tfe if desc.has_tfe() => Ok((field, value)),
            _ => Err(FOREIGN),
        };
    }
    if field == Modifier::Fi && desc.has_fetch_inactive() {
        return Ok((Modifier::OpSel, u32::from(mods.op_sel) | (value * PERMLANE_FETCH_INACTIVE)));
    }
    if field == Modifier::BoundCtrl && desc.has_fetch_inactive() {
        return Ok((Modifier::OpSel, u32::from(mods.op_sel) | PERMLANE_BOUND_CONTROL));
    }
    // Scaled matrix instructions select the byte of a scale by op_sel.
    if field == Modifier::OpSelHi && desc.scales_by_op_sel() {
        return Ok((field, value));
    }
    if !desc.modifiers.contains(raw.modifier.word.flag()) {
        // `nogds` is redundant on targets without a global data share.
        if field == Modifier::Gds && value == 0 && desc.format == Format::Ds {
            return Ok((field, 0));
        }
        return Err(FOREIGN);
    }
    // In short encodings, halves of registers must be named instead.
    if field == Modifier::OpSel && matches!(desc.format, Format::Vop1 | Format::Vop2 | Format::Vopc) {
        return Err(FOREIGN);
    }
    if field == Modifier::DppCtrl && !desc.takes_control_of(raw.modifier.word) {
        return Err("the instruction has no such DPP control");
    }
    // Up to RDNA 2, the older notation `bound_ctrl:0` also sets the bit.
    if field == Modifier::BoundCtrl && value == BOUND_CTRL_0 {
        let old = matches!(desc.generation(), Generation::GFX9 | Generation::GFX10);
        return Ok((field, old.into()));
    }
    if field == Modifier::Th {
        return hint(desc, value).map(|value| (field, value));
    }
    match (raw.modifier.word.spelling, desc.has_new_cache_names(target)) {
        (Spelling::Old, true) | (Spelling::New, false) => {
            Err("the cache bits are glc, slc, scc up to gfx90a and sc0, nt, sc1 from gfx942 on")
        }
        _ => Ok((field, value)),
    }
}

/// The bits of a temporal hint, given its position in the list, from 1 on.
fn hint(desc: &InstDesc, place: u32) -> Result<u32, &'static str> {
    let Some((hint, bits, _)) = (place as usize).checked_sub(1).and_then(|at| HINTS.get(at)) else {
        return Ok(0);
    };
    if desc.hints.contains(*hint) { Ok((*bits).into()) } else { Err("not a hint of this instruction") }
}

fn buffer_format(value: u32, mods: &Mods) -> u32 {
    let so_far = u32::from(mods.format);
    match value {
        _ if value & DATA_FORMAT_ONLY != 0 => so_far & 0x70 | value & 0xf,
        _ if value & NUM_FORMAT_ONLY != 0 => so_far & 0xf | value & 0x70,
        _ => value,
    }
}

/// The name of a modifier that this form requires but the text lacks; `None` if there is none.
pub(super) fn missing(desc: &InstDesc, written: Modifiers) -> Option<&'static str> {
    if desc.modifiers.contains(Modifiers::DPP_CTRL) && !written.contains(Modifiers::DPP_CTRL) {
        return Some("a DPP control such as quad_perm:[0,1,2,3]");
    }
    if desc.modifiers.contains(Modifiers::DPP8) && !written.contains(Modifiers::DPP8) {
        return Some("the lanes of dpp8:[0,1,2,3,4,5,6,7]");
    }
    let absent = desc.required.difference(written);
    if absent.is_empty() {
        return None;
    }
    // The names in the table may be older spellings (`glc` for `sc0`); they are sufficient for the message.
    absent.iter().next().map(super::words::name_of)
}
