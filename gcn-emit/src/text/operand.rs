//! The text of operands.

use std::fmt;

use gcn_isa::operand::INLINE_FLOATS;
use gcn_isa::table::{Behaviours, Class, Format, InstDesc};
use gcn_isa::{Inline, Inst, Operand, Program, Target, counters::WaitCnt};

use super::symbols;
use crate::encode::Plain;

/// How an operand reads a constant. This decides which constants are inline and how they are spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConstType {
    /// 32 bits.
    B32,
    /// A 16-bit integer.
    I16,
    /// A 16-bit float.
    F16,
    /// A bf16.
    Bf16,
    /// Two 16-bit floats.
    PackedF16,
    /// Two bf16.
    PackedBf16,
    /// A 64-bit integer or bit pattern: literals are zero-extended.
    B64,
    /// A 64-bit float: a literal is the high half.
    F64,
}

/// The constant type of an operand: what LLVM's assembler takes each integer for, probed on every constant
/// operand of the table with the bits of 1.0 in each type.
///
/// The last type in the mnemonic is that of the sources, with the exceptions that stand here: operands that
/// are shift counts, scales, class masks or accumulators, and pairs that are read as one dword.
pub fn const_type(desc: &InstDesc, position: usize) -> ConstType {
    let Some(operand) = desc.operands.get(position) else { return ConstType::B32 };
    let name = desc.mnemonic;
    match operand.dwords {
        1 if desc.format.is_vop() => dword_type(desc, operand.name),
        // Packed 32-bit pairs read the same 32-bit constant twice.
        2 if name.starts_with("v_pk_") => ConstType::B32,
        2 if name.ends_with("f64") && !desc.is_matrix() => ConstType::F64,
        2 => ConstType::B64,
        8 if name.contains("_f64_") => ConstType::B64,
        _ => ConstType::B32,
    }
}

/// The type of a constant in a 32-bit operand of a vector instruction.
fn dword_type(desc: &InstDesc, slot: &str) -> ConstType {
    let name = desc.mnemonic;
    let last = name.rsplit('_').next().unwrap_or_default();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| name.starts_with(p));
    match last {
        "f32" if name.contains("_mix_") => ConstType::F16,
        "f16" | "bf16" if desc.is_matrix() || starts(&["v_cmp_class", "v_cmpx_class"]) && slot == "src1" => {
            ConstType::B32
        }
        "f16" | "bf16" if starts(&["v_pk_", "v_dot2", "v_cvt_scalef32"]) => {
            let scale = slot != "src0" && name.starts_with("v_cvt_scalef32");
            let accumulator = slot == "src2" && name.starts_with("v_dot2");
            match last {
                _ if scale || accumulator || desc.format == Format::Vop2Sdwa => ConstType::B32,
                "f16" => ConstType::PackedF16,
                _ => ConstType::PackedBf16,
            }
        }
        "f16" if name.starts_with("v_ldexp") && slot == "src1" && desc.format == Format::Vop2Sdwa => {
            ConstType::I16
        }
        "bf16" if desc.format != Format::Vop1Sdwa => ConstType::Bf16,
        "f16" | "bf16" => ConstType::F16,
        "i16" | "u16" | "b16" if starts(&["v_pk_", "v_dot2", "v_sat_pk", "v_sad"]) => ConstType::B32,
        "i16" | "u16" if slot == "src2" && starts(&["v_mad_i32", "v_mad_u32"]) => ConstType::B32,
        "i16" | "u16" | "b16" => ConstType::I16,
        _ => ConstType::B32,
    }
}

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
        let ty = const_type(self.inst.desc, self.position);
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
