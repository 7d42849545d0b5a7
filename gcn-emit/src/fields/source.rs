//! The source code space shared by scalar and vector formats (CDNA3 ISA, table "SGPR and constant operand
//! encodings").

use gcn_isa::target::NamedSgprs;
use gcn_isa::{Inline, InstructionSet, Operand, Reg, RegFile, SrcSpecial, reg};

/// The source code that indicates a literal dword.
pub(crate) const LITERAL: u16 = 255;

/// The source code that indicates a two-dword literal on instruction sets that have such literals. On others, the code is a direct read of
/// LDS.
pub(crate) const LITERAL64: u16 = 254;

/// The source code of an operand; `None` if it has none. VGPRs and AGPRs share the codes 256..=511; the file is determined by another bit
/// or by the row.
pub(crate) fn code_of(operand: Operand, scalars: Scalars) -> Option<u16> {
    Some(match operand {
        Operand::Reg(Reg { file: RegFile::Sgpr, index, .. }) => scalars.exchange(index),
        Operand::Reg(Reg { index, .. }) => 256 + index,
        Operand::Inline(inline) => inline.code(),
        Operand::Special(special) => special as u16,
        Operand::Literal(_) => LITERAL,
        Operand::Literal64(_) => LITERAL64,
        Operand::Imm(_) | Operand::Label(_) | Operand::Off => return None,
    })
}

/// The bits of a literal, and its size in bytes; `None` for other operands.
pub(crate) fn literal(operand: Operand) -> Option<(u64, usize)> {
    match operand {
        Operand::Literal(bits) => Some((bits.into(), 4)),
        Operand::Literal64(bits) => Some((bits, 8)),
        _ => None,
    }
}

/// The operand with source code `code` in a slot of `dwords` dwords; vector codes denote registers of `file`. `None` for the literal marker
/// and for codes without meaning.
pub(crate) fn operand_of(code: u16, dwords: u8, file: RegFile, scalars: Scalars) -> Option<Operand> {
    match code {
        0..=127 => Some(Operand::Reg(scalars.register(code, dwords))),
        256..=511 => Some(Operand::Reg(Reg { file, index: code - 256, len: dwords })),
        _ => Inline::from_code(code)
            .map(Operand::Inline)
            .or_else(|| SrcSpecial::from_code(code).map(Operand::Special)),
    }
}

/// How an instruction set numbers its scalar registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scalars {
    named: NamedSgprs,
    /// The number of scalar registers that are referred to by number.
    pub count: u16,
}

impl Scalars {
    pub(crate) fn of(set: InstructionSet) -> Scalars {
        Scalars { named: set.named_sgprs(), count: set.addressable_sgprs() as u16 }
    }

    /// The code of `null`, if there is one.
    pub(crate) fn null(self) -> Option<u16> {
        self.named.null
    }

    /// Maps the number of a register to its code and vice versa. On RDNA 3 and later, the codes of M0 and `null` are exchanged.
    pub(crate) fn exchange(self, index: u16) -> u16 {
        match index {
            _ if self.named.m0 == reg::M0.index => index,
            124 => 125,
            125 => 124,
            _ => index,
        }
    }

    /// The register with a code. `null` is never a tuple.
    pub(crate) fn register(self, code: u16, dwords: u8) -> Reg {
        match self.exchange(code) {
            index if self.named.null.is_some() && index == reg::NULL.index => reg::NULL,
            index => Reg::s(index, dwords),
        }
    }
}

/// The named scalar registers and special sources that a slot accepts, one bit per group.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Specials(u16);

/// A group: its name in the table (32-bit slots list the `_lo` half), and the first and the last of its source codes.
const GROUPS: [(&str, u16, u16); 15] = [
    ("flat_scratch", 102, 103),
    ("xnack_mask", 104, 105),
    ("vcc", 106, 107),
    ("ttmp", 108, 123),
    ("m0", 124, 124),
    ("null", 125, 125),
    ("exec", 126, 127),
    ("src_flat_scratch_base", 230, 231),
    // The table lists only one of each pair of apertures.
    ("src_shared_base", 235, 236),
    ("src_private_base", 237, 238),
    ("src_pops_exiting_wave_id", 239, 239),
    ("src_vccz", 251, 251),
    ("src_execz", 252, 252),
    ("src_scc", 253, 253),
    ("src_lds_direct", 254, 254),
];

impl Specials {
    /// Parses the table's list.
    pub(crate) fn parse(list: &str) -> Specials {
        if list.is_empty() {
            return Specials(0);
        }
        let bits = list.split(',').filter(|n| !n.is_empty()).fold(0, |bits, name| {
            let name = name.strip_suffix("_lo").unwrap_or(name);
            bits | GROUPS.iter().position(|g| g.0 == name).map_or(0, |i| 1 << i)
        });
        Specials(bits)
    }

    /// True if the tuple of `dwords` registers (or the value) at `code` is in a single accepted group.
    pub(crate) fn accept(self, code: u16, dwords: u16) -> bool {
        GROUPS
            .iter()
            .position(|g| (g.1..=g.2).contains(&code))
            .is_some_and(|i| self.0 >> i & 1 == 1 && (code >= 128 || code + dwords - 1 <= GROUPS[i].2))
    }

    /// Only the registers, for fields that can only contain scalar register numbers.
    pub(crate) fn registers(self) -> Specials {
        let registers = GROUPS.iter().filter(|g| g.2 < 128).count();
        Specials(self.0 & ((1 << registers) - 1))
    }

    /// True if VCC is the only accepted value.
    pub(crate) fn is_only_vcc(self) -> bool {
        self.0 == 1 << 2
    }
}
