//! The text of operands.

use std::fmt;

use gcn_isa::operand::INLINE_FLOATS;
use gcn_isa::table::{Behaviours, Class, ConstType, Format};
use gcn_isa::{Inline, Inst, Operand, Program, Target, counters::WaitCnt};

use super::symbols;
use crate::encode::Plain;

/// The inline constant that an operand of this type reads as `bits` (the literal's 32 bits), if there is one.
pub(crate) fn inline_of_literal(ty: ConstType, bits: u32) -> Option<Inline> {
    let float = |bits_of: fn(&(&str, u16, u32, u64)) -> u32, bits: u32| {
        let found = INLINE_FLOATS.iter().position(|f| bits_of(f) == bits);
        found.map(|i| Inline::Float(240 + i as u8))
    };
    let f16 = |bits| float(|f| f.1.into(), bits);
    let int = |value: i32| (-16..=64).contains(&value).then_some(Inline::Int(value as i8));
    match ty {
        ConstType::B32 => Inline::of_bits32(bits),
        ConstType::I16 => int(bits as i32),
        ConstType::F16 => int((bits as i16).into()).or_else(|| f16(bits & 0xffff)),
        ConstType::Bf16 => int((bits as i16).into()).or_else(|| float(|f| f.2 >> 16, bits & 0xffff)),
        ConstType::PackedF16 => int(bits as i32).or_else(|| f16(bits)),
        // bf16 is the upper half of an f32.
        ConstType::PackedBf16 => int(bits as i32).or_else(|| float(|f| f.2 >> 16, bits)),
        ConstType::B64 => Inline::of_bits64(bits.into()),
        ConstType::F64 => Inline::of_bits64(u64::from(bits) << 32),
    }
}

/// An operand in its place: needs the instruction for the spelling of immediates and constants, the target
/// for the names of hardware registers, the program for the names of labels.
pub(super) struct InPlace<'a> {
    pub inst: &'a Inst,
    pub position: usize,
    pub target: Target,
    pub program: Option<&'a Program>,
}

impl fmt::Display for InPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let desc = self.inst.desc;
        let operand = self.inst.operands[self.position];
        let Some(slot) = desc.operands.get(self.position) else {
            return write!(f, "{}", Plain(operand));
        };
        match operand {
            Operand::Imm(value) => self.immediate(f, slot.name, value),
            Operand::Label(label) => match self.program.and_then(|p| p.labels.get(label.0 as usize)) {
                Some(def) => f.write_str(&def.name),
                None => write!(f, ".L{}", label.0),
            },
            _ => self.source(f, slot.name, operand),
        }
    }
}

impl InPlace<'_> {
    fn immediate(&self, f: &mut fmt::Formatter<'_>, name: &str, value: i64) -> fmt::Result {
        let desc = self.inst.desc;
        let field = value as u16;
        match (desc.format, desc.class, name) {
            (_, _, "hwreg") => f.write_str(&symbols::hwreg(self.target, field)),
            (_, _, "simm8") => f.write_str(&symbols::gpr_idx(field)),
            (Format::Smem, _, "offset") => signed_hex(f, value),
            (Format::Sopp, Class::Waitcnt, _) if WaitCnt::decode(field).encode() == field => {
                write!(f, "{}", WaitCnt::decode(field))
            }
            (Format::Sopp, Class::Sendmsg, _) => f.write_str(&symbols::sendmsg(field)),
            (Format::Sopp, _, _) if desc.does(Behaviours::SELECTS_INDEXED) => {
                f.write_str(&symbols::gpr_idx(field))
            }
            (_, Class::Branch | Class::Endpgm, _) => write!(f, "{field}"),
            (Format::Sopk, _, _) => write!(f, "{field:#x}"),
            _ if field <= 64 => write!(f, "{field}"),
            _ => write!(f, "{field:#x}"),
        }
    }

    fn source(&self, f: &mut fmt::Formatter<'_>, name: &str, operand: Operand) -> fmt::Result {
        let mods = &self.inst.mods;
        let bit = |mask: u8| source_number(name).is_some_and(|n| mask >> n & 1 == 1);
        // The f64 matrix instructions spell their negation `neg:[…]` after the operands.
        let (neg, abs, sext) = if self.inst.desc.modifiers.contains(gcn_isa::table::Modifiers::NEG) {
            (false, false, false)
        } else {
            (bit(mods.neg), bit(mods.abs), bit(mods.sext))
        };
        let constant = matches!(operand, Operand::Inline(_) | Operand::Literal(_));
        let (open, close) = match (neg, abs) {
            (true, false) if constant => ("neg(", ")"),
            (true, false) => ("-", ""),
            (true, true) => ("-|", "|"),
            (false, true) => ("|", "|"),
            (false, false) => ("", ""),
        };
        if sext {
            f.write_str("sext(")?;
        }
        f.write_str(open)?;
        self.value(f, name, operand)?;
        f.write_str(close)?;
        if sext { f.write_str(")") } else { Ok(()) }
    }

    fn value(&self, f: &mut fmt::Formatter<'_>, name: &str, operand: Operand) -> fmt::Result {
        let ty = self.inst.desc.constant_type(self.position);
        match operand {
            Operand::Inline(Inline::Float(248)) if matches!(ty, ConstType::B64 | ConstType::F64) => {
                f.write_str("0.15915494309189532")
            }
            Operand::Literal(value) if name == "literal" => match Inline::of_bits32(value) {
                Some(inline) if self.inst.desc.format == Format::Sopk => write!(f, "{inline}"),
                _ => write!(f, "{value:#x}"),
            },
            Operand::Literal(value) if inline_of_literal(ty, value).is_some() => write!(f, "lit({value:#x})"),
            _ => write!(f, "{}", Plain(operand)),
        }
    }
}

/// The number of a source operand, which is its bit in the source modifiers.
pub(crate) fn source_number(name: &str) -> Option<u8> {
    name.strip_prefix("src").and_then(|n| n.parse().ok())
}

/// A signed number in hexadecimal: `0x10`, `-0x10`.
pub(super) fn signed_hex(f: &mut dyn fmt::Write, value: i64) -> fmt::Result {
    let sign = if value < 0 { "-" } else { "" };
    write!(f, "{sign}{:#x}", value.unsigned_abs())
}
