//! From a line taken apart to an instruction: the first row of the mnemonic that accepts all of it.

use gcn_isa::counters::WaitCnt;
use gcn_isa::table::{Class, Format, InstDesc, OperandKinds};
use gcn_isa::{Inst, Label, Operand, Target};

use super::error::ParseFault;
use super::grammar::{Located, Number, RawInst, RawOperand, RawValue, integer};
use super::{constant, modifier, names};
use crate::encode::{EncodeFault, encode_inst};
use crate::fields::ModField;
use crate::text::operand::source_number;
use crate::text::symbols;

/// Gives a label name its label, if labels have a meaning here.
pub(super) type Labels<'a> = dyn FnMut(&str) -> Option<Label> + 'a;

/// How far a row got before it refused; the row that got farthest explains the error best.
type Refusal = (usize, Located);

/// Resolves a line.
pub(super) fn resolve(raw: &RawInst<'_>, target: Target, labels: &mut Labels<'_>) -> Result<Inst, Located> {
    let rows = names::rows(target, raw.mnemonic).map_err(|fault| (raw.at, fault))?;
    let mut best: Option<Refusal> = None;
    for desc in rows {
        if needs_controls(desc) && !raw.mnemonic.ends_with(suffix(desc)) && !has_controls(raw) {
            continue;
        }
        match try_row(desc, raw, target, labels) {
            Ok(inst) => return Ok(inst),
            Err(refusal) if best.as_ref().is_none_or(|b| b.0 < refusal.0) => best = Some(refusal),
            Err(_) => {}
        }
    }
    let refused = best.map(|b| b.1);
    Err(refused.unwrap_or((raw.at, ParseFault::Expected("DPP or SDWA controls behind the operands"))))
}

fn needs_controls(desc: &InstDesc) -> bool {
    !suffix(desc).is_empty()
}

fn suffix(desc: &InstDesc) -> &'static str {
    match desc.format {
        Format::Vop1Sdwa | Format::Vop2Sdwa | Format::VopcSdwa => "_sdwa",
        Format::Vop1Dpp | Format::Vop2Dpp => "_dpp",
        _ => "",
    }
}

fn has_controls(raw: &RawInst<'_>) -> bool {
    let marks = ["_sel", "dst_unused", "quad_perm", "row_", "wave_", "bank_mask"];
    raw.mods.iter().any(|m| marks.iter().any(|mark| m.name.contains(mark)) && !m.name.starts_with("op_sel"))
        || raw.operands.iter().any(|o| o.sext)
}

fn try_row(
    desc: &'static InstDesc,
    raw: &RawInst<'_>,
    target: Target,
    labels: &mut Labels<'_>,
) -> Result<Inst, Refusal> {
    let mut inst = Inst::new(desc, []);
    let operands = operand_texts(desc, raw);
    if operands.len() != desc.operands.len() {
        let fault = operand_count(desc, operands.len());
        let at = operands.get(desc.operands.len()).map_or(raw.at, |o| o.at);
        // Of several forms the one with the nearest number of operands explains best.
        return Err((100usize.saturating_sub(operands.len().abs_diff(desc.operands.len())), (at, fault)));
    }
    for (position, operand) in operands.iter().enumerate() {
        let parsed = one_operand(desc, position, &raw.operands, operand, target, labels, &mut inst);
        let operand = parsed
            .map_err(|problem| (200 + position, (operand.at, operand_fault(desc, position, problem))))?;
        inst.operands.push(operand);
    }
    let mut written: Vec<ModField> = Vec::with_capacity(raw.mods.len());
    for raw_mod in &raw.mods {
        let field = modifier::apply(desc, target, raw_mod, &mut inst.mods).map_err(|problem| {
            let name = raw_mod.name.to_owned();
            (
                250 + written.len(),
                (raw_mod.at, ParseFault::Modifier { mnemonic: desc.printed, name, problem }),
            )
        })?;
        written.push(field);
    }
    if let Some(what) = modifier::missing(desc, &written) {
        return Err((240, (raw.at, ParseFault::Missing { mnemonic: desc.printed, what })));
    }
    check(&inst, raw, operands, target)?;
    Ok(inst)
}

/// The operands as written; the code of `s_endpgm 0` is no operand of the table.
fn operand_texts<'a, 'b>(desc: &InstDesc, raw: &'b RawInst<'a>) -> &'b [RawOperand<'a>] {
    match (desc.class, raw.operands.as_slice()) {
        (Class::Endpgm, [RawOperand { value: RawValue::Number(Number::Int(0)), .. }])
            if desc.operands.is_empty() =>
        {
            &[]
        }
        // Counters are one operand, however many there are.
        (Class::Waitcnt, [first, ..]) => std::slice::from_ref(first),
        (_, operands) => operands,
    }
}

fn operand_count(desc: &'static InstDesc, have: usize) -> ParseFault {
    let operands = desc.operands.iter().map(|o| o.name).collect::<Vec<_>>().join(", ");
    ParseFault::OperandCount { mnemonic: desc.printed, want: desc.operands.len(), have, operands }
}

fn operand_fault(desc: &'static InstDesc, position: usize, problem: Problem) -> ParseFault {
    match problem {
        Problem::Text(problem) => {
            ParseFault::Operand { mnemonic: desc.printed, name: desc.operands[position].name, problem }
        }
        Problem::LooseLabel(name) => ParseFault::LooseLabel(name),
    }
}

/// What is wrong with an operand.
enum Problem {
    Text(String),
    LooseLabel(String),
}

impl From<String> for Problem {
    fn from(text: String) -> Problem {
        Problem::Text(text)
    }
}

impl From<&str> for Problem {
    fn from(text: &str) -> Problem {
        Problem::Text(text.to_owned())
    }
}

fn one_operand(
    desc: &'static InstDesc,
    position: usize,
    all: &[RawOperand<'_>],
    raw: &RawOperand<'_>,
    target: Target,
    labels: &mut Labels<'_>,
    inst: &mut Inst,
) -> Result<Operand, Problem> {
    let slot = &desc.operands[position];
    if raw.neg || raw.abs || raw.sext {
        let number = source_number(slot.name).ok_or("takes no source modifier")?;
        inst.mods.neg |= u8::from(raw.neg) << number;
        inst.mods.abs |= u8::from(raw.abs) << number;
        inst.mods.sext |= u8::from(raw.sext) << number;
    }
    if slot.kinds.contains(OperandKinds::IMM) {
        return immediate(desc, slot.name, all, raw, target, labels);
    }
    match raw.value {
        RawValue::Reg(reg) => Ok(Operand::Reg(reg)),
        RawValue::Special(special) => Ok(Operand::Special(special)),
        RawValue::Off => Ok(Operand::Off),
        RawValue::Number(number) if slot.name == "literal" => Ok(constant::literal(desc, position, number)?),
        RawValue::Lit(number) => Ok(constant::literal(desc, position, number)?),
        RawValue::Number(number) => Ok(constant::source(desc, position, number)?),
        RawValue::Call(name, _) | RawValue::Name(name) => {
            Err(Problem::Text(format!("`{name}` is neither a register nor a constant")))
        }
    }
}

fn immediate(
    desc: &InstDesc,
    name: &str,
    all: &[RawOperand<'_>],
    raw: &RawOperand<'_>,
    target: Target,
    labels: &mut Labels<'_>,
) -> Result<Operand, Problem> {
    let value = match (&raw.value, desc.class, name) {
        (RawValue::Number(Number::Int(value)), ..) => {
            i64::try_from(*value).map_err(|_| "the number is too large")?
        }
        (RawValue::Name(label), Class::Branch, "simm16") => {
            return labels(label).map(Operand::Label).ok_or_else(|| Problem::LooseLabel((*label).to_owned()));
        }
        (RawValue::Call(..), Class::Waitcnt, _) => return waits(all).map_err(Problem::from),
        (RawValue::Call("hwreg", arguments), _, "hwreg") => hwreg(arguments, target)?.into(),
        (RawValue::Call("sendmsg", arguments), Class::Sendmsg, _) => sendmsg(arguments)?.into(),
        (RawValue::Call("gpr_idx", arguments), ..) => gpr_idx(arguments)?.into(),
        _ => return Err(Problem::from("an immediate is wanted")),
    };
    // A 16-bit field may be written signed; its value is kept unsigned.
    let signed16 = matches!(name, "simm16" | "hwreg") && (-0x8000..0).contains(&value);
    Ok(Operand::Imm(if signed16 { value & 0xffff } else { value }))
}

/// The counters of an `s_waitcnt`.
fn waits(all: &[RawOperand<'_>]) -> Result<Operand, &'static str> {
    let mut waits = WaitCnt::NONE;
    for raw in all {
        let RawValue::Call(name, count) = raw.value else {
            return Err("a counter such as `vmcnt(0)` is wanted");
        };
        let count = integer(count).filter(|n| *n >= 0).ok_or("a counter takes a number")?;
        let (counter, max) = match name.trim_end_matches("_sat") {
            "vmcnt" => (&mut waits.vm, WaitCnt::VM_MAX),
            "expcnt" => (&mut waits.exp, WaitCnt::EXP_MAX),
            "lgkmcnt" => (&mut waits.lgkm, WaitCnt::LGKM_MAX),
            _ => return Err("the counters are vmcnt (up to 63), expcnt (up to 7) and lgkmcnt (up to 15)"),
        };
        if count > max.into() && !name.ends_with("_sat") {
            return Err("the counters are vmcnt (up to 63), expcnt (up to 7) and lgkmcnt (up to 15)");
        }
        *counter = count.min(max.into()) as u8;
    }
    Ok(Operand::Imm(waits.encode().into()))
}

fn hwreg(arguments: &str, target: Target) -> Result<u16, &'static str> {
    let words: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let number = |text: &str| integer(text).and_then(|n| u16::try_from(n).ok());
    let known = |name: &str| symbols::HWREGS.iter().find(|r| r.1 == name && symbols::has_hwreg(target, r.0));
    let id =
        |text: &str| known(text).map(|r| r.0).or_else(|| number(text)).ok_or("no such hardware register");
    let (id, offset, size) = match words.as_slice() {
        [reg] => (id(reg)?, 0, 32),
        [reg, offset, size] => {
            (id(reg)?, number(offset).ok_or("not a bit offset")?, number(size).ok_or("not a bit count")?)
        }
        _ => return Err("hwreg takes a register, or a register, a bit offset and a bit count"),
    };
    symbols::hwreg_imm(id, offset, size).ok_or("hwreg bits run from offset 0 to 31, with a count of 1 to 32")
}

fn sendmsg(arguments: &str) -> Result<u16, &'static str> {
    let words: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let number =
        |text: &str, limit: u16| integer(text).and_then(|n| u16::try_from(n).ok()).filter(|n| *n < limit);
    let message = symbols::MESSAGES.iter().find(|m| m.name == words[0]);
    let id = message.map(|m| m.id).or_else(|| number(words[0], 16)).ok_or("no such message")?;
    let op = match words.get(1) {
        Some(text) => {
            let named = message.and_then(|m| m.ops.iter().find(|o| o.1 == *text)).map(|o| o.0);
            named.or_else(|| number(text, 8)).ok_or("no such operation of the message")?
        }
        None => 0,
    };
    let stream = words.get(2).map_or(Some(0), |text| number(text, 4)).ok_or("a stream is 0 to 3")?;
    if words.len() > 3 {
        Err("sendmsg takes a message, an operation and a stream")
    } else {
        Ok(id | op << 4 | stream << 8)
    }
}

fn gpr_idx(arguments: &str) -> Result<u16, &'static str> {
    let mut mode = 0;
    for word in arguments.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        let bit = symbols::GPR_IDX_MODES.iter().position(|m| *m == word);
        mode |= 1 << bit.ok_or("gpr_idx takes SRC0, SRC1, SRC2 and DST")?;
    }
    Ok(mode)
}

/// The encoder has the last word on whether the row holds the instruction.
fn check(inst: &Inst, raw: &RawInst<'_>, operands: &[RawOperand<'_>], target: Target) -> Result<(), Refusal> {
    let encoded = match inst.desc.branch_operand().filter(|&i| matches!(inst.operands[i], Operand::Label(_)))
    {
        Some(position) => {
            let mut unresolved = inst.clone();
            unresolved.operands[position] = Operand::Imm(0);
            encode_inst(&unresolved, target)
        }
        None => encode_inst(inst, target),
    };
    let Err(error) = encoded else { return Ok(()) };
    let position = match &error.fault {
        EncodeFault::Operand { name, .. } => inst.desc.operand_index(name),
        _ => None,
    };
    let at = position.and_then(|p| operands.get(p)).map_or(raw.at, |o| o.at);
    // An operand of the wrong kind means that the form was a bad guess; any other fault is worth telling.
    let rank = position.map_or(400, |p| 300 + p);
    Err((rank, (at, ParseFault::Encode { mnemonic: inst.desc.printed, fault: error.fault })))
}
