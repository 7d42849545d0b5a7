//! The text of operands.

use std::fmt;

use gcn_isa::immediate::{Field, Immediate, VERSION_FLAGS, VERSIONS};
use gcn_isa::table::{Behaviours, Class, ConstType, Format};
use gcn_isa::target::Generation;
use gcn_isa::{Inline, Inst, Operand, Program, Reg, RegFile, Target};

use super::parse::{of_integer, of_literal};
use super::source::{inline_of_literal, source_number};
use super::symbols::{self, CHANNELS};
use crate::encode::Plain;

/// An operand in its context: the instruction determines the notation of immediates and constants, the target the names of hardware
/// registers, and the program the names of labels.
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
            (_, _, "attr") => {
                let channel = CHANNELS[usize::from(field & 3)];
                write!(f, "attr{}.{channel}", field >> 2)
            }
            (_, _, "simm8") => f.write_str(&symbols::gpr_idx(field)),
            (Format::Smem, _, "offset") => signed_hex(f, value),
            _ if desc.entry.immediate != Immediate::Plain => self.fields(f, field),
            (_, Class::Sendmsg, _) => f.write_str(&symbols::sendmsg(field, self.target.instruction_set())),
            (Format::Sopp, _, _) if desc.does(Behaviours::SELECTS_INDEXED) => {
                f.write_str(&symbols::gpr_idx(field))
            }
            (_, Class::Branch | Class::Endpgm, _) => write!(f, "{field}"),
            (Format::Sopk, _, _) => write!(f, "{field:#x}"),
            _ if field <= 64 => write!(f, "{field}"),
            _ => write!(f, "{field:#x}"),
        }
    }

    /// Writes an immediate as named fields, or as a number if bits outside of the fields are set.
    fn fields(&self, f: &mut fmt::Formatter<'_>, value: u16) -> fmt::Result {
        let immediate = self.inst.desc.entry.immediate;
        let fields = immediate.fields(self.target.instruction_set());
        let all = fields.iter().fold(0, |all, field| all | field.encode(field.decode(value)));
        match immediate {
            Immediate::Counters | Immediate::Dependencies if all == value => {
                let waits = |field: &&Field| field.decode(value) < field.largest();
                // If the instruction waits for no counter, every counter is printed.
                let none = !fields.iter().any(|field| waits(&field));
                let shown = fields.iter().filter(|field| none || waits(field));
                let parts: Vec<String> =
                    shown.map(|field| format!("{}({})", field.name, field.decode(value))).collect();
                f.write_str(&parts.join(" "))
            }
            Immediate::Delay if all == value => {
                let named = fields.iter().filter(|field| field.decode(value) != 0).map(|field| {
                    field
                        .values
                        .get(usize::from(field.decode(value)))
                        .map(|name| format!("{}({name})", field.name))
                });
                match named.collect::<Option<Vec<String>>>() {
                    Some(parts) if !parts.is_empty() => f.write_str(&parts.join(" | ")),
                    _ => write!(f, "{value}"),
                }
            }
            Immediate::Version => {
                let flags = VERSION_FLAGS.iter().filter(|flag| value & flag.1 != 0);
                let rest = flags.clone().fold(value, |rest, flag| rest & !flag.1);
                match VERSIONS.iter().find(|version| version.1 == rest) {
                    Some(version) => {
                        f.write_str(version.0)?;
                        flags.clone().try_for_each(|flag| write!(f, "|{}", flag.0))
                    }
                    None if value <= 0xff => write!(f, "{value}"),
                    None => write!(f, "{value:#x}"),
                }
            }
            Immediate::Delay if value <= 64 => write!(f, "{value}"),
            _ => write!(f, "{value:#x}"),
        }
    }

    fn source(&self, f: &mut fmt::Formatter<'_>, name: &str, operand: Operand) -> fmt::Result {
        let mods = &self.inst.mods;
        let bit = |mask: u8| source_number(name).is_some_and(|n| mask >> n & 1 == 1);
        // The f64 matrix instructions write their negation as `neg:[…]` after the operands.
        let (neg, abs, sext) = if self.inst.desc.modifiers.contains(gcn_isa::table::Modifiers::NEG) {
            (false, false, false)
        } else {
            (bit(mods.neg), bit(mods.abs), bit(mods.sext))
        };
        let constant = matches!(operand, Operand::Inline(_) | Operand::Literal(_) | Operand::Literal64(_));
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
        self.value(f, operand)?;
        f.write_str(close)?;
        if sext { f.write_str(")") } else { Ok(()) }
    }

    fn value(&self, f: &mut fmt::Formatter<'_>, operand: Operand) -> fmt::Result {
        let ty = self.inst.desc.constant_type(self.position);
        match operand {
            Operand::Inline(Inline::Float(248)) if matches!(ty, ConstType::B64 | ConstType::F64) => {
                f.write_str("0.15915494309189532")
            }
            Operand::Literal(value) if self.is_literal() => match Inline::of_bits32(value) {
                Some(inline) if self.inst.desc.format == Format::Sopk => write!(f, "{inline}"),
                _ => write!(f, "{value:#x}"),
            },
            Operand::Literal64(value) if value >> 32 == 0 || !self.reads_as(value as i64, operand) => {
                match value {
                    // An operand that accepts no 32-bit literals would interpret a short number as the upper half.
                    _ if value as u32 == 0 && self.reads_as((value >> 32) as i64, operand) => {
                        write!(f, "{:#x}", value >> 32)
                    }
                    _ => write!(f, "lit64({value:#x})"),
                }
            }
            Operand::Literal(value) if inline_of_literal(ty, value).is_some() => write!(f, "lit({value:#x})"),
            // A small integer is an inline constant also where a literal gives the upper half of a float.
            Operand::Literal(value)
                if ty == ConstType::F64
                    && !self.reads_as(value.into(), operand)
                    && of_literal(self.inst.desc, self.position, value.into()) == Some(operand) =>
            {
                write!(f, "lit({value:#x})")
            }
            Operand::Reg(reg) => {
                write!(f, "{}", reg.on(self.target.instruction_set()))?;
                f.write_str(self.half(reg))
            }
            _ => write!(f, "{}", Plain(operand)),
        }
    }

    /// True if an assembler would interpret the number as this operand.
    fn reads_as(&self, number: i64, operand: Operand) -> bool {
        of_integer(self.inst.desc, self.position, number) == Some(operand)
    }

    fn is_literal(&self) -> bool {
        self.inst.desc.operands.get(self.position).is_some_and(gcn_isa::OperandDesc::is_literal)
    }

    /// The suffix of a register's name, if the operand is half a register.
    fn half(&self, reg: Reg) -> &'static str {
        let desc = self.inst.desc;
        let slot = &desc.operands[self.position];
        match desc.half_bit(slot).filter(|_| reg.file == RegFile::Vgpr) {
            Some(bit) if names_halves(self.inst) => {
                [".l", ".h"][usize::from(self.inst.mods.op_sel >> bit & 1)]
            }
            _ => "",
        }
    }
}

/// True if halves of registers are written as such. On RDNA 4, LLVM writes whole registers; but if a form has no other way to select an
/// upper half, LLVM names the half nevertheless.
fn names_halves(inst: &Inst) -> bool {
    let desc = inst.desc;
    let halves =
        desc.operands.iter().filter_map(|slot| desc.half_bit(slot)).fold(0, |all, bit| all | 1u8 << bit);
    match desc.generation() {
        Generation::GFX12 => {
            desc.does(Behaviours::NAMES_HALVES) || inst.mods.op_sel & halves != 0 && !desc.halves_by_op_sel
        }
        _ => true,
    }
}

/// Writes a signed number in hexadecimal: `0x10`, `-0x10`.
pub(super) fn signed_hex(f: &mut dyn fmt::Write, value: i64) -> fmt::Result {
    let sign = if value < 0 { "-" } else { "" };
    write!(f, "{sign}{:#x}", value.unsigned_abs())
}
