//! Joins a table row with its format's fields: the template that encoder and decoder use.

use std::sync::{LazyLock, OnceLock};

use gcn_isa::mods::{HINTS, Modifier};
use gcn_isa::table::{Format, InstDesc, OperandDesc, OperandKinds};
use gcn_isa::target::Family;
use gcn_isa::{Mods, RegFile, table};
use smallvec::SmallVec;

use super::layout::{Code, Layout, Slot, layout};
use super::source::{Scalars, Specials};

/// The template of one row.
#[derive(Debug)]
pub(crate) struct RowCodec {
    /// The bits that every instruction of the row has.
    pub base: u128,
    /// The bits that the decoder compares with `base`.
    pub compared: u128,
    /// The operand fields, parallel to the row's operands.
    pub operands: Vec<OperandField>,
    /// The pieces of modifiers.
    pub mods: Vec<ModPiece>,
    /// The row's [`InstDesc::default_mods`].
    pub default_mods: Mods,
    /// The bits of `default_mods`.
    pub default_bits: u128,
    /// `default_mods` with every modifier that has a field set to zero.
    pub cleared_mods: Mods,
    /// The size in bytes, without a literal that a source operand may add.
    pub bytes: usize,
    /// Fields (mask, value) that must not have this value: register codes that mean `off`.
    pub excluded: SmallVec<[(u128, u128); 2]>,
    /// The lower of two bits that always differ; `None` if the format has no such bits.
    pub opposite: Option<u8>,
    /// The bits of `op_sel` that are encoded in register fields.
    pub halves: u8,
    /// The lowest bit of a literal.
    pub literal: u8,
    /// The encoding numbers of scalar registers.
    pub scalars: Scalars,
    /// The number of VGPRs that a wave can have.
    pub vgprs: u16,
}

/// How an operand is encoded.
#[derive(Debug)]
pub(crate) struct OperandField {
    /// How the value is represented; `None` if the operand is not encoded (an implied VCC, `off`).
    pub code: Option<Code>,
    /// The lowest bit.
    pub lo: u8,
    /// The width in bits.
    pub len: u8,
    /// What determines whether the register is a VGPR or an AGPR.
    pub acc: Acc,
    /// The bit of `op_sel` that is encoded above the seven bits of a VGPR's number; `None` if no half can be selected in this way.
    pub half: Option<u8>,
    /// True for a two's complement immediate.
    pub signed: bool,
    /// The accepted kinds of operands: those of the row; in rows like `madmk` also the literal.
    pub kinds: OperandKinds,
    /// The accepted named registers and special values.
    pub specials: Specials,
    /// A register number that means `off` instead; `None` if no number does.
    pub reserved: Option<u16>,
    /// What determines the operand's width in dwords.
    pub width: Width,
}

/// What determines the vector register file of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Acc {
    /// The register is always in this file.
    Always(RegFile),
    /// The register is in the AGPR file if this bit is set, otherwise in the VGPR file.
    Bit(u8),
}

/// What determines the width of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    /// The row determines the width.
    Fixed(u8),
    /// The element format in `cbsz` determines the width (f8f6f4 source A): 4, 6 or 8 times this number of dwords.
    Cbsz(u8),
    /// The element format in `blgp` determines the width (f8f6f4 source B), as for `Cbsz`.
    Blgp(u8),
    /// The row's width; with `tfe`, plus the status dword.
    Tfe(u8),
}

impl Width {
    /// The number of dwords of the operand, given the modifiers. Formats 2 and 3 (6 bits) take six registers, format 4 (4 bits) takes four,
    /// all others eight (CDNA4 ISA, F8F6F4 matrix operands). In waves of 32 lanes, each lane has twice as many.
    pub(crate) fn dwords(self, mods: &Mods) -> u8 {
        let of_format = |format| match format {
            2 | 3 => 6,
            4 => 4,
            _ => 8,
        };
        match self {
            Width::Fixed(n) => n,
            Width::Cbsz(unit) => unit * of_format(mods.cbsz),
            Width::Blgp(unit) => unit * of_format(mods.blgp),
            Width::Tfe(n) => n + u8::from(mods.tfe),
        }
    }
}

/// Consecutive bits of one modifier's value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModPiece {
    /// The modifier.
    pub field: Modifier,
    /// The first bit of the value.
    pub shift: u8,
    /// The lowest bit in the word.
    pub lo: u8,
    /// The width in bits.
    pub len: u8,
    /// True if the value is two's complement of this width.
    pub signed: bool,
}

/// The bit above the seven bits of a VGPR's number that selects a half, counted from the lowest bit of the field.
pub(crate) const HALF_BIT: u8 = 7;

/// A mask of `len` bits from `lo` on.
pub(crate) const fn mask(lo: u8, len: u8) -> u128 {
    ((1u128 << len) - 1) << lo
}

/// The templates, each created on first use. A program uses few of the rows, and only their templates take memory.
static CODECS: [LazyLock<Vec<OnceLock<Box<RowCodec>>>>; 2] =
    [LazyLock::new(|| empty(Family::GFX9)), LazyLock::new(|| empty(Family::RDNA))];

fn empty(family: Family) -> Vec<OnceLock<Box<RowCodec>>> {
    table::rows_of(family).iter().map(|_| OnceLock::new()).collect()
}

/// The template of a row.
pub(crate) fn codec(desc: &InstDesc) -> &'static RowCodec {
    let family = desc.family();
    let first = table::rows_of(family)[0].id;
    CODECS[family as usize][usize::from(desc.id - first)]
        .get_or_init(|| Box::new(RowCodec::new(table::row(desc.id))))
}

/// The bits of a row's format and opcode, without those of operands and modifiers. Much less work than the whole template.
pub(crate) fn head(desc: &InstDesc) -> u128 {
    let layout = layout(desc);
    head_of(desc, &layout) | layout.opposite.map_or(0, |bit| mask(bit, 1))
}

fn head_of(desc: &InstDesc, layout: &Layout) -> u128 {
    let fixed = layout.fixed.iter().filter(|f| f.when.holds(desc));
    fixed.fold(opcode(desc.opcode, layout), |bits, f| bits | u128::from(f.value) << f.lo)
}

impl RowCodec {
    fn new(desc: &'static InstDesc) -> RowCodec {
        let layout = layout(desc);
        let bytes = usize::from(desc.bytes);
        let scalars = Scalars::of(desc.instruction_set());
        let mut row = RowCodec {
            base: head_of(desc, &layout),
            compared: if bytes == 16 { u128::MAX } else { mask(0, desc.bytes * 8) },
            operands: Vec::with_capacity(desc.operands.len()),
            mods: Vec::new(),
            default_mods: desc.default_mods(),
            default_bits: 0,
            cleared_mods: desc.default_mods(),
            bytes,
            excluded: SmallVec::new(),
            opposite: layout.opposite,
            halves: 0,
            literal: desc.bytes * 8,
            scalars,
            vgprs: desc.instruction_set().addressable_vgprs() as u16,
        };
        for fixed in layout.fixed.iter().filter(|f| f.ignored && f.when.holds(desc)) {
            row.compared &= !mask(fixed.lo, fixed.len);
        }
        for operand in desc.operands {
            row.add_operand(desc, operand, &layout);
        }
        for &field in Modifier::ALL {
            row.add_modifier(desc, field, &layout);
        }
        row.ignore_absent_sources(desc, &layout);
        row.add_defaults();
        if let Some(bit) = row.opposite {
            row.free(bit, 1);
            row.base |= mask(bit, 1);
        }
        row
    }

    /// The hardware does not read the field of a source that an instruction does not have. Assemblers fill it differently: LLVM 22 with 0;
    /// later versions, on GFX11 and GFX12, with the code of the constant 0.
    fn ignore_absent_sources(&mut self, desc: &InstDesc, layout: &Layout) {
        let fixed = layout.fixed.iter().filter(|f| f.when.holds(desc)).map(|f| mask(f.lo, f.len));
        let used = fixed.fold(!self.compared, |used, bits| used | bits);
        for slot in layout.slots.iter().filter(|s| s.code == Code::Source) {
            let bits = mask(slot.lo, slot.len);
            if used & bits == 0 {
                self.compared &= !bits;
            }
        }
    }

    fn add_defaults(&mut self) {
        for piece in &self.mods {
            let fixed = piece.field.get(&self.default_mods) & ((1 << piece.shift) - 1);
            let fixed = if piece.field == Modifier::Th { fixed } else { 0 };
            piece.field.set(&mut self.cleared_mods, fixed);
            let value = piece.field.get(&self.default_mods) >> piece.shift;
            self.default_bits |= (u128::from(value) & mask(0, piece.len)) << piece.lo;
        }
    }

    fn add_operand(&mut self, desc: &InstDesc, operand: &OperandDesc, layout: &Layout) {
        let slot = layout.slots.iter().find(|s| s.names.contains(&operand.name) && s.when.holds(desc));
        let specials = Specials::parse(operand.specials);
        let mut field = OperandField {
            code: None,
            lo: 0,
            len: 0,
            acc: acc(operand, slot),
            half: None,
            signed: false,
            kinds: kinds(desc, operand),
            specials,
            reserved: slot.and_then(|s| s.off).map(|code| self.scalars.exchange(code)),
            width: width(desc, operand),
        };
        let implied = operand.kinds == OperandKinds::SPECIAL && specials.is_only_vcc();
        match slot {
            Some(slot) if operand.kinds == OperandKinds::OFF => {
                self.base |= u128::from(slot.off.unwrap_or(0)) << slot.lo;
            }
            Some(slot) if !implied => {
                field.code = Some(slot.code);
                // Assemblers accept read-only registers here and drop the high bit of their code, which is never intended, so they are
                // rejected here.
                if matches!(
                    slot.code,
                    Code::Scalar | Code::ScalarPair | Code::ScalarQuad | Code::SdwaScalar(_)
                ) {
                    field.specials = specials.registers();
                }
                (field.lo, field.len, field.signed) = (slot.lo, slot.len, slot.signed);
                if slot.code == Code::Literal {
                    self.literal = slot.lo;
                }
                if operand.kinds.contains(OperandKinds::HALF_VGPR) && operand.last_vgpr < 128 {
                    field.half = desc.half_bit(operand);
                    self.halves |= field.half.map_or(0, |bit| 1 << bit);
                }
                let is_long = operand.kinds.contains(OperandKinds::LITERAL64) && slot.code == Code::Literal;
                self.free(slot.lo, if is_long { 64 } else { slot.len });
                // If the operand can be `off`, `null` is not accepted as its register either.
                let null = self.scalars.null().filter(|_| slot.off.is_some());
                for code in slot.off.into_iter().chain(null) {
                    self.excluded.push((mask(slot.lo, slot.len), u128::from(code) << slot.lo));
                }
                if let Code::SdwaSource(bit) | Code::SdwaScalar(bit) = slot.code {
                    self.free(bit, 1);
                }
                if let Acc::Bit(bit) = field.acc {
                    self.free(bit, 1);
                }
            }
            // The table test visits every row, so it would find a missing field.
            _ => debug_assert!(implied, "{}: no field for {}", desc.printed, operand.name),
        }
        self.operands.push(field);
    }

    fn add_modifier(&mut self, desc: &InstDesc, field: Modifier, layout: &Layout) {
        let accepted = desc.accepted_bits(field);
        if accepted == 0 {
            return;
        }
        for slot in layout.mods.iter().filter(|m| m.field == field && m.when.holds(desc)) {
            if desc.requires(field) && field == Modifier::Th {
                // Only the lowest bit is required: it makes an atomic return the old value.
                self.base |= mask(slot.lo, 1);
                self.add_piece(ModPiece {
                    field,
                    shift: 1,
                    lo: slot.lo + 1,
                    len: slot.len - 1,
                    signed: false,
                });
                continue;
            }
            if field == Modifier::Th
                && HINTS.iter().all(|hint| !desc.hints.contains(hint.0) || hint.1 & 1 == 0)
            {
                // An atomic that does not return the old value never has that bit set.
                self.add_piece(ModPiece {
                    field,
                    shift: 1,
                    lo: slot.lo + 1,
                    len: slot.len - 1,
                    signed: false,
                });
                continue;
            }
            if desc.requires(field) {
                self.base |= mask(slot.lo, slot.len);
                continue;
            }
            match field {
                Modifier::OpSel
                | Modifier::OpSelHi
                | Modifier::Neg
                | Modifier::NegLo
                | Modifier::NegHi
                | Modifier::Abs
                | Modifier::Sext => {
                    for bit in (0..slot.len).filter(|b| accepted >> (slot.shift + b) & 1 == 1) {
                        self.add_bit(desc, field, slot.shift + bit, slot.lo + bit);
                    }
                }
                _ => self.add_piece(ModPiece {
                    field,
                    shift: slot.shift,
                    lo: slot.lo,
                    len: slot.len,
                    signed: field == Modifier::Offset && desc.offset_range.is_some_and(|r| r.0 < 0),
                }),
            }
        }
    }

    fn add_bit(&mut self, desc: &InstDesc, field: Modifier, shift: u8, lo: u8) {
        // The op_sel bit of a VOP3 destination is always the fourth bit, even if the text lists fewer bits.
        let is_dst = field == Modifier::OpSel && desc.op_sel_dst_bit() == Some(shift);
        let lo = if is_dst { 14 } else { lo };
        self.add_piece(ModPiece { field, shift, lo, len: 1, signed: false });
    }

    fn add_piece(&mut self, piece: ModPiece) {
        self.free(piece.lo, piece.len);
        self.mods.push(piece);
    }

    /// Marks bits as variable: they are neither fixed nor compared.
    fn free(&mut self, lo: u8, len: u8) {
        self.base &= !mask(lo, len);
        self.compared &= !mask(lo, len);
    }
}

fn acc(operand: &OperandDesc, slot: Option<&Slot>) -> Acc {
    let has = |kind| operand.kinds.contains(kind);
    match (has(OperandKinds::VGPR), has(OperandKinds::AGPR), slot.and_then(|s| s.acc)) {
        (true, true, Some(bit)) => Acc::Bit(bit),
        (false, true, _) => Acc::Always(RegFile::Agpr),
        _ => Acc::Always(RegFile::Vgpr),
    }
}

/// The bits of an opcode, which may have two parts.
fn opcode(opcode: u16, layout: &Layout) -> u128 {
    match layout.opcode_hi {
        None => u128::from(opcode) << layout.opcode_lo,
        Some((low, hi)) => {
            let upper = u128::from(opcode >> low) << hi;
            u128::from(opcode & ((1 << low) - 1)) << layout.opcode_lo | upper
        }
    }
}

/// A row with a literal operand accepts the same literal for its other source (CDNA3 ISA, `V_MADMK_F32`: there is one literal dword,
/// whichever operands use it).
fn kinds(desc: &InstDesc, operand: &OperandDesc) -> OperandKinds {
    let shares = matches!(desc.format, Format::Vop2 | Format::Vopd | Format::Sop2);
    let shared = desc.operands.iter().find(|o| o.is_literal() && shares);
    match shared {
        Some(literal) if operand.kinds.contains(OperandKinds::INLINE_INT) => operand.kinds | literal.kinds,
        _ => operand.kinds,
    }
}

/// The width of the widest format, as a multiple of the number in [`Width::Cbsz`].
const WIDEST: u8 = 8;

fn width(desc: &InstDesc, operand: &OperandDesc) -> Width {
    match operand.name {
        "src0" if desc.width_by_format => Width::Cbsz(operand.dwords / WIDEST),
        "src1" if desc.width_by_format => Width::Blgp(operand.dwords / WIDEST),
        "vdata" if desc.has_tfe() => Width::Tfe(operand.dwords),
        _ => Width::Fixed(operand.dwords),
    }
}
