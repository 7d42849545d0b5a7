//! Checks whether a slot accepts an operand. Encoder and decoder share these checks, so the decoder accepts nothing
//! that the encoder could not have produced.

use std::fmt;

use gcn_isa::table::{InstDesc, OperandDesc, OperandKinds};
use gcn_isa::{Inline, Mods, Operand, Reg, RegFile, reg};

use super::row::{OperandField, RowCodec};

/// Why a slot does not accept an operand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperandFault {
    /// The kind of operand is not accepted.
    #[error("not accepted here; this operand takes {accepts}")]
    Kind {
        /// The operands that the slot accepts.
        accepts: Accepts,
    },
    /// The register tuple has the wrong length.
    #[error("{have} registers wide, but the operand has {want}")]
    Width {
        /// The slot's width in dwords.
        want: u8,
        /// The tuple's width in dwords.
        have: u8,
    },
    /// The tuple starts at a register that is not aligned.
    #[error("the first register's number must be a multiple of {align}")]
    Alignment {
        /// The required alignment.
        align: u16,
    },
    /// The tuple exceeds its register file.
    #[error("runs past the last register of its file")]
    OutOfFile,
    /// The immediate does not fit its field.
    #[error("outside {lo}..={hi}")]
    Range {
        /// The smallest permitted value.
        lo: i64,
        /// The largest permitted value.
        hi: i64,
    },
    /// VGPRs and AGPRs are mixed among operands for which a single bit selects the register file.
    #[error("must be in the same register file as `{other}` (both VGPRs or both AGPRs)")]
    SameFile {
        /// The other operand.
        other: &'static str,
    },
    /// D and C of a matrix instruction share some registers, but not all.
    #[error("overlaps `vdst` partly; make it the same registers or disjoint ones")]
    PartialOverlap,
    /// The halves of a dual instruction use registers of the same bank.
    #[error(
        "must not have the same remainder by {banks} as the number of `{other}`; choose another register"
    )]
    SameBank {
        /// The operand of the first half.
        other: &'static str,
        /// The number of banks.
        banks: u16,
    },
    /// A label is used outside of a program, where it has no value.
    #[error("a label has no value outside a program; use encode_program")]
    LooseLabel,
    /// The value has no encoding.
    #[error("not a value that the encoding has")]
    Undefined,
}

/// The operands that a slot accepts; displayed as a list in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepts {
    kinds: OperandKinds,
    specials: &'static str,
}

impl Accepts {
    pub(crate) fn of(desc: &OperandDesc) -> Accepts {
        Accepts { kinds: desc.kinds, specials: desc.specials }
    }
}

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            (OperandKinds::VGPR, "a VGPR"),
            (OperandKinds::HALF_VGPR, "half a VGPR such as v0.l"),
            (OperandKinds::AGPR, "an AGPR"),
            (OperandKinds::SGPR, "an SGPR"),
            (OperandKinds::INLINE_INT, "an integer from -16 to 64"),
            (OperandKinds::INLINE_FLOAT, "an inline float"),
            (OperandKinds::LITERAL, "a 32-bit literal"),
            (OperandKinds::LITERAL16, "a 16-bit literal"),
            (OperandKinds::LITERAL64, "a 64-bit literal"),
            (OperandKinds::IMM, "an immediate"),
            (OperandKinds::OFF, "`off`"),
            (OperandKinds::SPECIAL, self.specials),
        ];
        let mut separator = "";
        for (_, word) in words.iter().filter(|w| self.kinds.contains(w.0)) {
            write!(f, "{separator}{word}")?;
            separator = ", ";
        }
        Ok(())
    }
}

/// Checks one operand against its slot.
pub(crate) fn operand(
    desc: &OperandDesc,
    field: &OperandField,
    row: &RowCodec,
    vgpr_align: u8,
    mods: &Mods,
    operand: Operand,
) -> Result<(), OperandFault> {
    let kind = |accepted: bool| {
        if accepted { Ok(()) } else { Err(OperandFault::Kind { accepts: Accepts::of(desc) }) }
    };
    let has = |kind| field.kinds.contains(kind);
    match operand {
        Operand::Reg(reg) => register(desc, field, row, vgpr_align, mods, reg),
        Operand::Inline(Inline::Int(i)) => {
            kind(has(OperandKinds::INLINE_INT))?;
            if (-16..=64).contains(&i) { Ok(()) } else { Err(OperandFault::Range { lo: -16, hi: 64 }) }
        }
        Operand::Inline(Inline::Float(code)) => {
            kind(has(OperandKinds::INLINE_FLOAT))?;
            if (240..=248).contains(&code) { Ok(()) } else { Err(OperandFault::Undefined) }
        }
        Operand::Literal(value) if has(OperandKinds::LITERAL16) && !has(OperandKinds::LITERAL) => {
            // Assemblers emit negative values sign-extended; the operand reads the low half.
            let fits = matches!(value, 0..=0xffff | 0xffff_8000..);
            if fits { Ok(()) } else { Err(OperandFault::Range { lo: 0, hi: 0xffff }) }
        }
        Operand::Literal(_) => kind(has(OperandKinds::LITERAL)),
        Operand::Literal64(_) => kind(has(OperandKinds::LITERAL64)),
        Operand::Imm(value) => {
            kind(has(OperandKinds::IMM))?;
            let (lo, hi) = immediate_range(field);
            if (lo..=hi).contains(&value) { Ok(()) } else { Err(OperandFault::Range { lo, hi }) }
        }
        Operand::Special(special) => kind(field.specials.accept(special as u16, 1)),
        Operand::Label(_) => Err(OperandFault::LooseLabel),
        Operand::Off => kind(has(OperandKinds::OFF)),
    }
}

/// The values that an immediate field accepts. A 16-bit field accepts both the signed and the unsigned notation of the same bits.
pub(crate) fn immediate_range(field: &OperandField) -> (i64, i64) {
    let top = 1i64 << field.len;
    match (field.signed, field.len) {
        (true, _) => (-top / 2, top / 2 - 1),
        (false, 16) => (-top / 2, top - 1),
        (false, _) => (0, top - 1),
    }
}

fn register(
    desc: &OperandDesc,
    field: &OperandField,
    row: &RowCodec,
    vgpr_align: u8,
    mods: &Mods,
    reg: Reg,
) -> Result<(), OperandFault> {
    let named = row.scalars.count;
    let accepted = match reg.file {
        RegFile::Vgpr => desc.kinds.intersects(OperandKinds::VGPR | OperandKinds::HALF_VGPR),
        RegFile::Agpr => desc.kinds.contains(OperandKinds::AGPR),
        RegFile::Sgpr if reg.index < named => desc.kinds.contains(OperandKinds::SGPR),
        RegFile::Sgpr if field.reserved == Some(reg.index) => false,
        // Without a field, nothing could say which half of VCC is meant: it is the lower one.
        RegFile::Sgpr if field.code.is_none() && reg.index != reg::VCC.index => false,
        RegFile::Sgpr => field.specials.accept(reg.index, reg.len.into()),
    };
    if !accepted {
        return Err(OperandFault::Kind { accepts: Accepts::of(desc) });
    }
    let want = field.width.dwords(mods);
    // `null` fits any width.
    if reg == reg::NULL {
        return Ok(());
    }
    if reg.len != want {
        return Err(OperandFault::Width { want, have: reg.len });
    }
    let last = match reg.file {
        RegFile::Sgpr if reg.index < named => named,
        RegFile::Sgpr => 128,
        // An instruction can name only the first 256 registers, but a tuple that begins there may extend past them.
        RegFile::Vgpr if row.vgprs > 256 && reg.len > 1 => row.vgprs,
        RegFile::Vgpr | RegFile::Agpr => u16::from(desc.last_vgpr) + 1,
    };
    let is_vector = reg.file != RegFile::Sgpr;
    if reg.end() > last || is_vector && reg.index > desc.last_vgpr.into() {
        return Err(OperandFault::OutOfFile);
    }
    let align = match (reg.file, reg.len) {
        (_, 1) => 1,
        (RegFile::Sgpr, 2) => 2,
        (RegFile::Sgpr, _) => 4,
        _ => vgpr_align.into(),
    };
    if reg.index.is_multiple_of(align) { Ok(()) } else { Err(OperandFault::Alignment { align }) }
}

/// Checks that operands for which a single bit selects the register file are all in the same file.
pub(crate) fn same_file(desc: &InstDesc, operands: &[Operand]) -> Result<(), (usize, OperandFault)> {
    let file = |i: u8| match operands.get(usize::from(i)) {
        Some(Operand::Reg(reg)) => Some(reg.file),
        _ => None,
    };
    for pair in desc.same_file {
        if let (Some(a), Some(b)) = (file(pair.a), file(pair.b))
            && a != b
        {
            let other = desc.operands[usize::from(pair.a)].name;
            return Err((usize::from(pair.b), OperandFault::SameFile { other }));
        }
    }
    Ok(())
}
