//! Resolves operands and modifiers to an instruction: the first row of the mnemonic that accepts all of them.
//!
//! The rows are in the order in which assemblers try them: shortest encoding first, SDWA and DPP last. If a row rejects an operand or a
//! modifier, the next row is tried. An operand that a row accepts but cannot encode is an error, as in LLVM, so that a mistake does not
//! silently select another form of the instruction.

use gcn_isa::table::{
    self, Behaviours, Class, Format, InstDesc, Modifiers, OperandBits, OperandDesc, OperandKinds,
};
use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, Label, Mods, Operand, Reg, RegFile, Target};
use smallvec::SmallVec;

use super::constant::{self, Unfit};
use super::cursor::{Located, Span};
use super::error::ParseFault;
use super::implied::implied_operands;
use super::modifier;
use super::number::Number;
use super::scope::{Fixup, ParsedInst};
use super::syntax::{Raw, RawOperand, RawValue};
use super::words::Function;
use crate::encode::{Accepts, EncodeFault, Labels, Word, encode_word};
use crate::text::source::source_number;

/// The reason why a row was rejected, and how many of the operands it accepted before. The row that got furthest explains the error best.
struct Refusal {
    rank: u16,
    span: Span,
    why: Why,
}

/// The reason why a row was rejected. It becomes a [`ParseFault`] only if no other row accepts the instruction.
enum Why {
    Count(usize),
    Operand(usize, Problem),
    Modifier(&'static str),
    Missing(&'static str),
    Encode(EncodeFault),
}

/// An error in an operand.
enum Problem {
    Text(&'static str),
    Unfit(Unfit),
    Range(i64, i64),
    /// The operand's kind is not accepted.
    Kind,
}

const ENCODE_RANK: u16 = 400;

/// Resolves an instruction. `mnemonic` is the span of the mnemonic, `text` the whole statement.
pub(super) fn resolve(
    raw: &Raw,
    rows: &[&'static InstDesc],
    on: Subtarget,
    mnemonic: Span,
    text: &str,
) -> Result<ParsedInst, Located> {
    let flags = raw.mods.iter().fold(Modifiers::empty(), |flags, m| flags | m.modifier.word.flag());
    let kinds: SmallVec<[OperandKinds; 6]> = raw.operands.iter().map(|o| o.kind(on)).collect();
    let mut best: Option<(&'static InstDesc, Refusal)> = None;
    // Nearly always, exactly one row passes the quick test. If that row rejects the instruction, all rows are tried completely: for rare
    // notations, and to find the row that comes closest.
    let likely = rows.iter().filter(|desc| fits(desc, &kinds, flags));
    for desc in likely.chain(rows) {
        let mut parsed =
            ParsedInst { inst: Inst::new(desc, []), fixups: SmallVec::new(), code: SmallVec::new() };
        let refusal = match try_row(raw, on, mnemonic, &mut parsed) {
            Ok(()) => return Ok(parsed),
            Err(refusal) => refusal,
        };
        let rank = refusal.rank - if fits_controls(desc, flags) { 0 } else { refusal.rank.min(150) };
        if best.as_ref().is_none_or(|b| b.1.rank < rank) {
            best = Some((desc, Refusal { rank, ..refusal }));
        }
        if rank >= ENCODE_RANK {
            break;
        }
    }
    Err(match best {
        Some((desc, refusal)) => explain(desc, refusal, text),
        None => (mnemonic, ParseFault::Expected("an instruction")),
    })
}

/// A quick test: true if the row has all the modifiers in the text, requires no others, and has the right number and kinds of operands.
fn fits(desc: &InstDesc, kinds: &[OperandKinds], flags: Modifiers) -> bool {
    let controls = desc.modifiers.intersection(CONTROLS);
    let needs_control = !flags.contains(controls);
    desc.modifiers.contains(flags)
        && flags.contains(desc.required)
        && !needs_control
        && desc.operands.len() == kinds.len()
        && desc.operands.iter().zip(kinds).all(|(slot, kinds)| slot.kinds.intersects(*kinds))
}

/// Modifiers that show that an instruction has DPP.
const CONTROLS: Modifiers = Modifiers::DPP_CTRL.union(Modifiers::DPP8);

/// True if the row has the kind of controls that occur in the text: SDWA selectors, a DPP control, or neither.
fn fits_controls(desc: &InstDesc, flags: Modifiers) -> bool {
    let has = |controls: Modifiers| flags.intersects(controls);
    match desc.format {
        format if format.is_sdwa() => has(Modifiers::SDWA),
        format if format.is_dpp8() => has(Modifiers::DPP8),
        format if format.is_dpp() => has(Modifiers::DPP_CTRL),
        _ => !has(Modifiers::SDWA) && !has(CONTROLS),
    }
}

fn explain(desc: &'static InstDesc, refusal: Refusal, text: &str) -> Located {
    let mnemonic = desc.printed;
    let fault = match refusal.why {
        Why::Count(have) => {
            let operands = desc.operands.iter().map(|o| o.name).collect::<Vec<_>>().join(", ");
            ParseFault::OperandCount { mnemonic, want: desc.operands.len(), have, operands }
        }
        Why::Operand(position, problem) => {
            let slot = desc.operands.get(position);
            let problem = match problem {
                Problem::Text(text) => text.to_owned(),
                Problem::Unfit(unfit) => unfit.to_string(),
                Problem::Range(lo, hi) => format!("the value is outside {lo}..={hi}"),
                Problem::Kind => format!("not accepted here; this operand takes {}", accepts(slot)),
            };
            ParseFault::Operand { mnemonic, name: slot.map_or("operand", |s| s.name), problem }
        }
        Why::Modifier(problem) => {
            let written = text.get(refusal.span.at()..refusal.span.end()).unwrap_or_default();
            let name = written.split([':', ' ', '\t']).next().unwrap_or_default().to_owned();
            ParseFault::Modifier { mnemonic, name, problem }
        }
        Why::Missing(what) => ParseFault::Missing { mnemonic, what },
        Why::Encode(fault) => ParseFault::Encode { mnemonic, fault },
    };
    (refusal.span, fault)
}

fn accepts(slot: Option<&OperandDesc>) -> String {
    slot.map_or_else(String::new, |slot| Accepts::of(slot).to_string())
}

fn try_row(raw: &Raw, on: Subtarget, mnemonic: Span, parsed: &mut ParsedInst) -> Result<(), Refusal> {
    let desc = parsed.inst.desc;
    let offset = with_null_offset(desc, raw);
    let raw = offset.as_ref().unwrap_or(raw);
    let implied = implied_operands(desc, raw.operands.len()).ok_or_else(|| count(desc, raw, mnemonic))?;
    let mut written = raw.operands.iter();
    for (position, slot) in desc.operands.iter().enumerate() {
        let operand = match implied.iter().find(|(place, _)| *place == position) {
            Some((_, operand)) => *operand,
            None => match written.next() {
                Some(raw) => one_operand(desc, position, slot, raw, on, parsed).map_err(|problem| {
                    let rank = 200 + position as u16;
                    Refusal { rank, span: raw.span, why: Why::Operand(position, problem) }
                })?,
                None => return Err(count(desc, raw, mnemonic)),
            },
        };
        parsed.inst.operands.push(operand);
    }
    let written = modifier::apply(desc, on.target, raw, &mut parsed.inst.mods)
        .map_err(|refused| Refusal { rank: 250, span: refused.span, why: Why::Modifier(refused.problem) })?;
    let absent: SmallVec<[usize; 2]> = implied.iter().map(|i| i.0).collect();
    named_halves(desc, raw, &absent, written, &mut parsed.inst.mods)?;
    if let Some(what) = modifier::missing(desc, written) {
        return Err(Refusal { rank: 240, span: mnemonic, why: Why::Missing(what) });
    }
    encode(parsed, raw, &absent, on.target, mnemonic)
}

/// The instruction with the value of `offset:` as its operand, if the row has no other offset and the text has `null` as the scalar offset.
/// Both notations have the same encoding, and assemblers accept both.
fn with_null_offset(desc: &InstDesc, raw: &Raw) -> Option<Raw> {
    let place = desc.operand_index("offset").filter(|_| desc.format == Format::Smem)?;
    let is_null = |o: &&RawOperand| matches!(o.value, RawValue::Reg(gcn_isa::reg::NULL)) && !o.has_modifier();
    let null = raw.operands.get(place).filter(is_null)?;
    let at = raw.mods.iter().position(|m| m.modifier.word.flag() == Modifiers::OFFSET)?;
    let (mut operands, mut mods) = (raw.operands.clone(), raw.mods.clone());
    let offset = mods.remove(at);
    let value = RawValue::Number(Number::Int((offset.value as i32).into()));
    operands[place] = RawOperand { value, span: offset.span, ..*null };
    Some(Raw { operands, mods })
}

/// Sets the bits of `op_sel` for the halves that operands select. An explicit `op_sel` may repeat them. If the text names whole registers,
/// only the explicit `op_sel` counts. `absent` has the positions of the operands that the text omits.
fn named_halves(
    desc: &InstDesc,
    raw: &Raw,
    absent: &[usize],
    written: Modifiers,
    mods: &mut Mods,
) -> Result<(), Refusal> {
    if !desc.has_halves() {
        return Ok(());
    }
    let refuse = |span, problem| Err(Refusal { rank: 250, span, why: Why::Modifier(problem) });
    let present = desc.operands.iter().enumerate().filter(|(position, _)| !absent.contains(position));
    for ((_, slot), operand) in present.zip(&raw.operands) {
        let Some(bit) = desc.half_bit(slot) else { continue };
        let listed = written.contains(Modifiers::OP_SEL) && mods.op_sel >> bit & 1 == 1;
        match operand.value {
            RawValue::Half(_, true) => mods.op_sel |= 1 << bit,
            RawValue::Half(_, false) if listed => {
                return refuse(operand.span, "the half that the register names is not that of op_sel");
            }
            RawValue::Reg(reg) if listed && reg.file == RegFile::Vgpr && !desc.halves_by_op_sel => {
                return refuse(operand.span, "name the half, as in v0.h: op_sel alone does not choose it");
            }
            _ => {}
        }
    }
    Ok(())
}

fn count(desc: &InstDesc, raw: &Raw, mnemonic: Span) -> Refusal {
    let (have, want) = (raw.operands.len(), desc.operands.len());
    let span = raw.operands.get(want).map_or(mnemonic, |o| o.span);
    // Among several forms, the one with the nearest number of operands explains the error best.
    let rank = 100 - have.abs_diff(want).min(99) as u16;
    Refusal { rank, span, why: Why::Count(have) }
}

fn one_operand(
    desc: &'static InstDesc,
    position: usize,
    slot: &OperandDesc,
    raw: &RawOperand,
    on: Subtarget,
    parsed: &mut ParsedInst,
) -> Result<Operand, Problem> {
    if slot.kinds.contains(OperandKinds::IMM) {
        return immediate(desc, slot, raw);
    }
    let mut number = match raw.value {
        RawValue::Reg(reg) if !takes_register(slot, reg, on) => return Err(Problem::Kind),
        RawValue::Half(reg, _) if !slot.kinds.contains(OperandKinds::HALF_VGPR) || beyond(slot, reg) => {
            return Err(Problem::Kind);
        }
        RawValue::Special(_) if !slot.kinds.contains(OperandKinds::SPECIAL) => return Err(Problem::Kind),
        RawValue::Off if !slot.kinds.contains(OperandKinds::OFF) => return Err(Problem::Kind),
        RawValue::Number(number) | RawValue::Lit(number) => Some(number),
        RawValue::Call(..) | RawValue::Fields(_) | RawValue::Attribute(_) => return Err(Problem::Kind),
        RawValue::Reg(_) | RawValue::Half(..) | RawValue::Special(_) | RawValue::Off => None,
    };
    if raw.has_modifier() {
        source_modifiers(desc, position, slot, raw, on, parsed, &mut number)?;
    }
    Ok(match (raw.value, number) {
        (RawValue::Reg(reg) | RawValue::Half(reg, _), _) => Operand::Reg(reg),
        (RawValue::Special(special), _) => Operand::Special(special),
        (_, Some(Number::Later(expr, _)))
            if slot.kinds.contains(OperandKinds::LITERAL) && !raw.has_modifier() =>
        {
            let literal = constant::later(desc, position).ok_or(Problem::Unfit(Unfit::Absolute))?;
            parsed.fixups.push(Fixup { operand: position as u8, expr });
            literal
        }
        (_, Some(_)) if !slot.kinds.intersects(CONSTANTS) => return Err(Problem::Kind),
        (RawValue::Lit(_), Some(number)) => {
            constant::literal(desc, position, number).map_err(Problem::Unfit)?
        }
        (_, Some(number)) if slot.is_literal() => {
            constant::always(desc, position, number).map_err(Problem::Unfit)?
        }
        (_, Some(number)) => constant::source(desc, position, number).map_err(Problem::Unfit)?,
        _ => Operand::Off,
    })
}

const CONSTANTS: OperandKinds = OperandKinds::INLINE_INT
    .union(OperandKinds::INLINE_FLOAT)
    .union(OperandKinds::LITERAL)
    .union(OperandKinds::LITERAL16)
    .union(OperandKinds::LITERAL64);

impl RawOperand {
    /// The kinds of operand that the value can be.
    fn kind(&self, on: Subtarget) -> OperandKinds {
        match self.value {
            RawValue::Reg(reg) => register_kind(reg, on),
            RawValue::Half(..) => OperandKinds::HALF_VGPR,
            RawValue::Special(_) => OperandKinds::SPECIAL,
            RawValue::Off => OperandKinds::OFF,
            RawValue::Number(_) => CONSTANTS.union(OperandKinds::IMM),
            RawValue::Lit(_) => CONSTANTS,
            RawValue::Call(..) | RawValue::Fields(_) | RawValue::Attribute(_) => OperandKinds::IMM,
        }
    }
}

/// The kinds of operand that a register can be. A whole VGPR may also stand for its lower half.
fn register_kind(reg: Reg, on: Subtarget) -> OperandKinds {
    match reg.file {
        RegFile::Vgpr => OperandKinds::VGPR.union(OperandKinds::HALF_VGPR),
        RegFile::Agpr => OperandKinds::AGPR,
        RegFile::Sgpr if u32::from(reg.index) < on.addressable_sgprs() => OperandKinds::SGPR,
        RegFile::Sgpr => OperandKinds::SPECIAL,
    }
}

fn takes_register(slot: &OperandDesc, reg: Reg, on: Subtarget) -> bool {
    slot.kinds.intersects(register_kind(reg, on)) && !beyond(slot, reg)
}

/// True for a VGPR whose number is too large for a field in which one bit selects the half; another encoding may accept it.
fn beyond(slot: &OperandDesc, reg: Reg) -> bool {
    reg.file == RegFile::Vgpr && reg.len == 1 && reg.index > slot.last_vgpr.into()
}

/// Sets the bits of the source modifiers. In a form without them, the modifiers are applied to a constant itself, provided that another
/// form of the instruction has them; otherwise assemblers do not accept them at all.
fn source_modifiers(
    desc: &'static InstDesc,
    position: usize,
    slot: &OperandDesc,
    raw: &RawOperand,
    on: Subtarget,
    parsed: &mut ParsedInst,
    number: &mut Option<Number>,
) -> Result<(), Problem> {
    const NONE: Problem = Problem::Text("takes no source modifier of this kind");
    let source = source_number(slot.name).ok_or(NONE)?;
    let missing = |desc: &InstDesc| {
        let OperandBits { neg, abs, sext, .. } = desc.bits;
        let bit = 1u8 << source;
        raw.neg && neg & bit == 0 || raw.abs && abs & bit == 0 || raw.sext && sext & bit == 0
    };
    let here = missing(desc) || raw.sext && !desc.format.is_sdwa();
    if !here {
        let mods = &mut parsed.inst.mods;
        mods.neg |= u8::from(raw.neg) << source;
        mods.abs |= u8::from(raw.abs) << source;
        mods.sext |= u8::from(raw.sext) << source;
        return Ok(());
    }
    // A dual instruction with modified constants must use VOPD3.
    let folds = desc.format != Format::Vopd;
    match number {
        Some(constant) if folds && table::find_mnemonic(on, desc.mnemonic).any(|row| !missing(row)) => {
            *constant =
                constant::folded(desc, position, *constant, raw.neg, raw.abs).map_err(Problem::Unfit)?;
            Ok(())
        }
        _ => Err(NONE),
    }
}

fn immediate(desc: &InstDesc, slot: &OperandDesc, raw: &RawOperand) -> Result<Operand, Problem> {
    if raw.has_modifier() {
        return Err(Problem::Text("takes no source modifier"));
    }
    let branch = desc.class == Class::Branch && slot.name == "simm16";
    let value = match raw.value {
        RawValue::Number(Number::Int(value)) => value,
        RawValue::Number(Number::Later(label, is_name)) if branch => {
            let wanted = Problem::Text("a branch target is a label or a number");
            return if is_name { Ok(Operand::Label(Label(label))) } else { Err(wanted) };
        }
        RawValue::Number(Number::Later(..)) => return Err(Problem::Unfit(Unfit::Absolute)),
        // `null` as the scalar offset means no offset; no other register is accepted.
        RawValue::Reg(reg) if reg == gcn_isa::reg::NULL && desc.format == Format::Smem => 0,
        RawValue::Fields(value) => value.into(),
        RawValue::Attribute(value) if slot.name == "attr" => value.into(),
        RawValue::Call(Function::Hwreg, value) if slot.name == "hwreg" => value.into(),
        RawValue::Call(Function::Sendmsg, value) if desc.class == Class::Sendmsg => value.into(),
        RawValue::Call(Function::GprIdx, value) if is_index_mode(desc, slot) => value.into(),
        _ => return Err(Problem::Text("an immediate is wanted")),
    };
    let range = match slot.name {
        "hwreg" => (0, 0xffff),
        "msg" => (0, 0xff),
        "simm16" if matches!(desc.class, Class::Sendmsg | Class::Endpgm) || is_unsigned(desc) => (0, 0xffff),
        _ if is_index_mode(desc, slot) => (0, 0xf),
        "simm16" => (-0x8000, 0xffff),
        _ => return Ok(Operand::Imm(value)),
    };
    if !(range.0..=range.1).contains(&value) {
        return Err(Problem::Range(range.0, range.1));
    }
    // A 16-bit field may be written as a signed number; its value is stored unsigned.
    Ok(Operand::Imm(value & 0xffff))
}

/// True for the unsigned compares with an immediate.
fn is_unsigned(desc: &InstDesc) -> bool {
    desc.does(Behaviours::UNSIGNED_IMMEDIATE)
}

fn is_index_mode(desc: &InstDesc, slot: &OperandDesc) -> bool {
    slot.name == "simm8" || desc.does(Behaviours::SELECTS_INDEXED)
}

/// Encodes the instruction; only this decides whether the row can represent it.
fn encode(
    parsed: &mut ParsedInst,
    raw: &Raw,
    absent: &[usize],
    target: Target,
    mnemonic: Span,
) -> Result<(), Refusal> {
    let desc = parsed.inst.desc;
    let fault = match encode_word(&parsed.inst, target, Labels::Zero) {
        Ok(Word { bits, bytes }) if parsed.fixups.is_empty() || one_literal(parsed) => {
            parsed.code = SmallVec::from_slice(bits.to_le_bytes().get(..bytes).unwrap_or_default());
            return Ok(());
        }
        Ok(_) => {
            let position = parsed.fixups.first().map_or(0, |f| usize::from(f.operand));
            let why = Why::Operand(position, Problem::Text("only one literal fits"));
            return Err(Refusal { rank: ENCODE_RANK, span: mnemonic, why });
        }
        Err(fault) => fault,
    };
    let position = match &fault {
        EncodeFault::Operand { name, .. } => desc.operand_index(name),
        _ => None,
    };
    let written = position.map(|p| p - absent.iter().filter(|a| **a < p).count());
    let span = written.and_then(|p| raw.operands.get(p)).map_or(mnemonic, |o| o.span);
    // An operand of the wrong kind means that this form was not intended; any other error is worth reporting.
    let rank = position.map_or(ENCODE_RANK, |p| 300 + p as u16);
    Err(Refusal { rank, span, why: Why::Encode(fault) })
}

/// True if the only literal of the instruction is the one whose value is not known yet.
fn one_literal(parsed: &ParsedInst) -> bool {
    let literals =
        parsed.inst.operands.iter().filter(|o| matches!(o, Operand::Literal(_) | Operand::Literal64(_)));
    literals.count() == 1
}
