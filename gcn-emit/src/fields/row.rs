//! A table row joined with its format's fields: the template that encoder and decoder walk.

use std::sync::{LazyLock, OnceLock};

use gcn_isa::mods::Modifier;
use gcn_isa::table::{Format, InstDesc, OperandDesc, OperandKinds};
use gcn_isa::{Mods, RegFile, table};

use super::layout::{Code, Layout, Slot, layout};
use super::source::Specials;

/// The template of one row.
#[derive(Debug)]
pub(crate) struct RowCodec {
    /// Bits that every instruction of the row has.
    pub base: u128,
    /// Bits that the decoder compares with `base`.
    pub compared: u128,
    /// Operands, parallel to the row's.
    pub operands: Vec<OperandField>,
    /// Modifier pieces.
    pub mods: Vec<ModPiece>,
    /// The row's [`InstDesc::default_mods`].
    pub default_mods: Mods,
    /// The bits of `default_mods`.
    pub default_bits: u128,
    /// `default_mods` with every modifier that has a piece set to zero.
    pub cleared_mods: Mods,
    /// Bytes without a literal that a source operand may add.
    pub bytes: usize,
    /// A field (mask, value) that must not look like this: a register code that means `off`.
    pub excluded: Option<(u128, u128)>,
}

/// Where an operand goes.
#[derive(Debug)]
pub(crate) struct OperandField {
    /// How the value is written; `None` if it is not (an implied VCC, `off`).
    pub code: Option<Code>,
    /// Lowest bit.
    pub lo: u8,
    /// Width in bits.
    pub len: u8,
    /// VGPR or AGPR.
    pub acc: Acc,
    /// True for a two's complement immediate.
    pub signed: bool,
    /// Kinds of operand accepted: the row's, and for `madmk`-like rows the literal a second time.
    pub kinds: OperandKinds,
    /// Named registers and special values accepted.
    pub specials: Specials,
    /// A register number that means `off` instead.
    pub reserved: Option<u16>,
    /// Where the width in dwords comes from.
    pub width: Width,
}

/// How the vector register file of an operand is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Acc {
    /// Always this one.
    Always(RegFile),
    /// AGPR if the bit is set.
    Bit(u8),
}

/// How the width of an operand is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    /// The row's.
    Fixed(u8),
    /// By the element format in `cbsz` (f8f6f4 source A).
    Cbsz,
    /// By the element format in `blgp` (f8f6f4 source B).
    Blgp,
    /// The row's, and the status dword if there is `tfe`.
    Tfe(u8),
}

impl Width {
    /// Dwords of the operand, given the modifiers. Formats 2 and 3 (6 bits) take six registers, 4 (4 bits)
    /// four, all others eight (CDNA4 ISA, F8F6F4 matrix operands).
    pub(crate) fn dwords(self, mods: &Mods) -> u8 {
        let of_format = |format| match format {
            2 | 3 => 6,
            4 => 4,
            _ => 8,
        };
        match self {
            Width::Fixed(n) => n,
            Width::Cbsz => of_format(mods.cbsz),
            Width::Blgp => of_format(mods.blgp),
            Width::Tfe(n) => n + u8::from(mods.tfe),
        }
    }
}

/// Consecutive bits of one modifier's value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModPiece {
    /// The modifier.
    pub field: Modifier,
    /// First bit of the value.
    pub shift: u8,
    /// Lowest bit in the word.
    pub lo: u8,
    /// Width in bits.
    pub len: u8,
    /// True if the value is two's complement of this width.
    pub signed: bool,
}

/// A mask of `len` bits from `lo` on.
pub(crate) const fn mask(lo: u8, len: u8) -> u128 {
    ((1u128 << len) - 1) << lo
}

/// The templates, each made when it is first asked for: a program uses few of the rows, and takes memory for
/// those only.
static CODECS: LazyLock<Vec<OnceLock<Box<RowCodec>>>> =
    LazyLock::new(|| table::rows().iter().map(|_| OnceLock::new()).collect());

/// The template of a row.
pub(crate) fn codec(desc: &InstDesc) -> &'static RowCodec {
    let id = usize::from(desc.id);
    CODECS[id].get_or_init(|| Box::new(RowCodec::new(&table::rows()[id])))
}

impl RowCodec {
    fn new(desc: &'static InstDesc) -> RowCodec {
        let layout = layout(desc.format);
        let bytes = usize::from(desc.bytes);
        let mut row = RowCodec {
            base: u128::from(desc.opcode) << layout.opcode_lo,
            compared: if bytes == 16 { u128::MAX } else { mask(0, desc.bytes * 8) },
            operands: Vec::with_capacity(desc.operands.len()),
            mods: Vec::new(),
            default_mods: desc.default_mods(),
            default_bits: 0,
            cleared_mods: desc.default_mods(),
            bytes,
            excluded: None,
        };
        for fixed in layout.fixed.iter().filter(|f| f.when.holds(desc)) {
            row.base |= u128::from(fixed.value) << fixed.lo;
            if fixed.ignored {
                row.compared &= !mask(fixed.lo, fixed.len);
            }
        }
        for operand in desc.operands {
            row.add_operand(desc, operand, &layout);
        }
        for &field in Modifier::ALL {
            row.add_modifier(desc, field, &layout);
        }
        row.add_defaults();
        row
    }

    fn add_defaults(&mut self) {
        for piece in &self.mods {
            piece.field.set(&mut self.cleared_mods, 0);
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
            signed: false,
            kinds: kinds(desc, operand),
            specials,
            reserved: slot.and_then(|s| s.off),
            width: width(desc, operand),
        };
        let implied = operand.kinds == OperandKinds::SPECIAL && specials.is_only_vcc();
        match slot {
            Some(slot) if operand.kinds == OperandKinds::OFF => {
                self.base |= u128::from(slot.off.unwrap_or(0)) << slot.lo;
            }
            Some(slot) if !implied => {
                field.code = Some(slot.code);
                // Assemblers accept read-only registers here and drop the high bit of their code, which is
                // never intended.
                if matches!(
                    slot.code,
                    Code::Scalar | Code::ScalarPair | Code::ScalarQuad | Code::SdwaScalar(_)
                ) {
                    field.specials = specials.registers();
                }
                (field.lo, field.len, field.signed) = (slot.lo, slot.len, slot.signed);
                self.free(slot.lo, slot.len);
                if let Some(off) = slot.off {
                    self.excluded = Some((mask(slot.lo, slot.len), u128::from(off) << slot.lo));
                }
                if let Code::SdwaSource(bit) | Code::SdwaScalar(bit) = slot.code {
                    self.free(bit, 1);
                }
                if let Acc::Bit(bit) = field.acc {
                    self.free(bit, 1);
                }
            }
            // The table test walks every row, so a missing slot is found there.
            _ => debug_assert!(implied, "{}: no field for {}", desc.printed, operand.name),
        }
        self.operands.push(field);
    }

    fn add_modifier(&mut self, desc: &InstDesc, field: Modifier, layout: &Layout) {
        let accepted = desc.accepted_bits(field);
        if accepted == 0 {
            return;
        }
        for slot in layout.mods.iter().filter(|m| m.field == field) {
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
        // The destination's op_sel of VOP3 is always the fourth bit, also where the text lists fewer.
        let is_dst = field == Modifier::OpSel && desc.op_sel_dst_bit() == Some(shift);
        let lo = if is_dst { 14 } else { lo };
        self.add_piece(ModPiece { field, shift, lo, len: 1, signed: false });
    }

    fn add_piece(&mut self, piece: ModPiece) {
        self.free(piece.lo, piece.len);
        self.mods.push(piece);
    }

    /// The bits vary: they are neither fixed nor compared.
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

/// A row with a literal operand of its own takes the same literal in its other source (CDNA3 ISA,
/// `V_MADMK_F32`: the literal is one dword, whichever operands name it).
fn kinds(desc: &InstDesc, operand: &OperandDesc) -> OperandKinds {
    let shared = desc.operands.iter().find(|o| o.name == "literal" && desc.format == Format::Vop2);
    match shared {
        Some(literal) if operand.name == "src0" => operand.kinds | literal.kinds,
        _ => operand.kinds,
    }
}

fn width(desc: &InstDesc, operand: &OperandDesc) -> Width {
    match operand.name {
        "src0" if desc.width_by_format => Width::Cbsz,
        "src1" if desc.width_by_format => Width::Blgp,
        "vdata" if desc.has_tfe() => Width::Tfe(operand.dwords),
        _ => Width::Fixed(operand.dwords),
    }
}
