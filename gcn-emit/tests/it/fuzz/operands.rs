//! Generates random operands that a slot of the table accepts.

use gcn_isa::operand::INLINE_FLOATS;
use gcn_isa::table::{Format, InstDesc, OperandDesc, OperandKinds};
use gcn_isa::{Inline, Mods, Operand, Reg, RegFile, SrcSpecial};
use gcn_test_support::Random;

/// A random operand for `position`. Operands that may be in either vector register file are AGPRs if `agprs`.
pub fn operand(rng: &mut Random, desc: &InstDesc, position: usize, mods: &Mods, agprs: bool) -> Operand {
    let slot = &desc.operands[position];
    let either = slot.kinds.contains(OperandKinds::VGPR | OperandKinds::AGPR);
    let excluded = match either {
        true if agprs => OperandKinds::VGPR,
        true => OperandKinds::AGPR,
        false => OperandKinds::empty(),
    };
    let kinds: Vec<OperandKinds> = slot.kinds.difference(excluded).iter().collect();
    let kind = *rng.pick(&kinds);
    of_kind(rng, desc, slot, kind, width(desc, slot, mods))
}

/// The number of dwords of a slot with these modifiers (F8F6F4 matrix operands, buffer loads with a status dword).
pub fn width(desc: &InstDesc, slot: &OperandDesc, mods: &Mods) -> u8 {
    let by_format = |format: u8| [8, 8, 6, 6, 4, 8, 8, 8][usize::from(format & 7)];
    match slot.name {
        "src0" if desc.mnemonic.ends_with("f8f6f4") => by_format(mods.cbsz),
        "src1" if desc.mnemonic.ends_with("f8f6f4") => by_format(mods.blgp),
        "vdata" => slot.dwords + u8::from(mods.tfe),
        _ => slot.dwords,
    }
}

/// An operand of this kind with `dwords` registers.
pub fn of_kind(
    rng: &mut Random,
    desc: &InstDesc,
    slot: &OperandDesc,
    kind: OperandKinds,
    dwords: u8,
) -> Operand {
    let vgpr_align = if dwords > 1 { desc.vgpr_align } else { 1 };
    match kind {
        OperandKinds::VGPR => tuple(rng, RegFile::Vgpr, 256, dwords, vgpr_align),
        OperandKinds::AGPR => tuple(rng, RegFile::Agpr, 256, dwords, vgpr_align),
        OperandKinds::SGPR => tuple(rng, RegFile::Sgpr, 102, dwords, sgpr_align(dwords)),
        OperandKinds::INLINE_INT => Inline::Int(rng.within(-16, 64) as i8).into(),
        OperandKinds::INLINE_FLOAT => Inline::Float(240 + rng.below(INLINE_FLOATS.len()) as u8).into(),
        OperandKinds::LITERAL => Operand::Literal(literal(rng)),
        OperandKinds::LITERAL16 => Operand::Literal(literal(rng) & 0xffff),
        OperandKinds::SPECIAL => special(rng, slot, dwords),
        OperandKinds::IMM => Operand::Imm(immediate(rng, desc, slot)),
        _ => Operand::Off,
    }
}

/// The alignment of an SGPR tuple.
pub fn sgpr_align(dwords: u8) -> u8 {
    match dwords {
        0 | 1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// A random tuple in `file`, which has `size` registers; the ends are more likely than the middle.
pub fn tuple(rng: &mut Random, file: RegFile, size: u16, dwords: u8, align: u8) -> Operand {
    let (dwords, align) = (dwords.max(1), i64::from(align));
    let last = i64::from(size - u16::from(dwords)) / align;
    Reg { file, index: (rng.within(0, last) * align) as u16, len: dwords }.into()
}

/// A random literal of any magnitude, including float patterns and neighbours of inline constants.
pub fn literal(rng: &mut Random) -> u32 {
    match rng.below(6) {
        0 => 65 + rng.below(3) as u32,
        1 => (-17i32 - rng.below(3) as i32) as u32,
        2 => rng.below(0x1_0000) as u32,
        3 => (rng.next_u64() as u32) & 0xffff_0000,
        4 => rng.next_u64() as u32 >> rng.below(31),
        _ => rng.next_u64() as u32,
    }
}

/// A named register or special value from the slot's list.
fn special(rng: &mut Random, slot: &OperandDesc, dwords: u8) -> Operand {
    let names: Vec<&str> = slot.specials.split(',').collect();
    let name = *rng.pick(&names);
    let limit = |name: &str| match name {
        "src_shared_base" => Some(SrcSpecial::SharedLimit),
        "src_private_base" => Some(SrcSpecial::PrivateLimit),
        _ => None,
    };
    if let Some(special) = SrcSpecial::ALL.into_iter().find(|s| s.name() == name) {
        // The table lists only one of each pair of apertures.
        return Operand::Special(limit(name).filter(|_| rng.one_in(2)).unwrap_or(special));
    }
    let (first, count) = match name.trim_end_matches("_lo") {
        "flat_scratch" => (102, 2),
        "xnack_mask" => (104, 2),
        "vcc" => (106, 2),
        "ttmp" => (108, 16),
        "m0" => (124, 1),
        _ => (126, 2),
    };
    let align = u16::from(sgpr_align(dwords));
    let places = (count - u16::from(dwords).min(count)) / align + 1;
    Reg::s(first + align * rng.below(usize::from(places)) as u16, dwords).into()
}

/// A random value of an immediate field, in the form in which the decoder returns it.
fn immediate(rng: &mut Random, desc: &InstDesc, slot: &OperandDesc) -> i64 {
    match (desc.format, slot.name) {
        (Format::Smem, "offset") if desc.operands.iter().any(|o| o.name == "sbase" && o.dwords == 4) => {
            rng.within(0, (1 << 20) - 1)
        }
        (Format::Smem, "offset") => rng.within(-(1 << 20), (1 << 20) - 1),
        (Format::Smem, _) => rng.within(0, 127),
        // The four modes of VGPR indexing.
        (_, "simm8") => rng.within(0, 15),
        _ if desc.mnemonic == "s_set_gpr_idx_mode" => rng.within(0, 15),
        _ => rng.within(0, 0xffff),
    }
}
