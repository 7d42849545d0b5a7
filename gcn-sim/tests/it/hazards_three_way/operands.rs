//! Generates operands and modifiers of random instructions.

use gcn_isa::operand::Inline;
use gcn_isa::table::{Format, InstDesc, Modifiers, OperandDesc, OperandKinds};
use gcn_isa::{Dpp, Inst, Operand, Reg, RegFile, SrcSpecial};
use gcn_test_support::Random;

/// Vector register tuples for data start below this number. The longest one extends 31 registers further.
const DATA_VECTORS: u16 = 8;
/// The first SGPR for data. A tuple has up to sixteen SGPRs.
const FIRST_SCALAR: u16 = 16;

/// The registers that contain addresses. [`super::program::prologue`] sets them.
pub mod fixed {
    use gcn_isa::Reg;

    /// A flat address in each lane.
    pub const FLAT: Reg = Reg::v(40, 2);
    /// A small offset in each lane, which increases by 16 bytes from lane to lane; the next register has the same contents.
    pub const OFFSETS: Reg = Reg::v(42, 2);
    /// The address of the buffer.
    pub const BASE: Reg = Reg::s(8, 2);
    /// A small offset.
    pub const OFFSET: Reg = Reg::s(10, 1);
    /// A buffer resource for the buffer.
    pub const RESOURCE: Reg = Reg::s(12, 4);
}

/// A random operand for a slot of `inst`, whose modifiers have been chosen already. Operands that may be in either vector register file are
/// AGPRs if `agprs`.
pub fn operand(rng: &mut Random, inst: &Inst, slot: &OperandDesc, agprs: bool) -> Operand {
    match address(rng, inst.desc, slot) {
        Some(operand) => operand,
        None => data(rng, inst, slot, agprs),
    }
}

/// The operand that contains the address of a memory instruction.
fn address(rng: &mut Random, desc: &InstDesc, slot: &OperandDesc) -> Option<Operand> {
    if !(desc.is_vmem() || desc.is_ds() || desc.is_smem()) {
        return None;
    }
    let reg = match (slot.name, slot.dwords) {
        _ if slot.kinds == OperandKinds::OFF => return Some(Operand::Off),
        ("vaddr", 2) if matches!(desc.format, Format::Flat | Format::Global) => fixed::FLAT,
        ("vaddr" | "addr", dwords @ 1..=2) => fixed::OFFSETS.slice(0, dwords),
        ("saddr" | "sbase", 2) => fixed::BASE,
        ("saddr", 1) => fixed::OFFSET,
        ("srsrc", _) | ("sbase", 4) => fixed::RESOURCE,
        ("soffset", _) if slot.kinds.contains(OperandKinds::INLINE_INT) && rng.below(2) == 0 => {
            return Some(Inline::Int(0).into());
        }
        ("soffset", _) => fixed::OFFSET,
        ("offset", _) => return Some(Operand::Imm(16 * rng.below(4) as i64)),
        _ => return None,
    };
    Some(reg.into())
}

/// A random data register or constant.
fn data(rng: &mut Random, inst: &Inst, slot: &OperandDesc, agprs: bool) -> Operand {
    let either = OperandKinds::VGPR | OperandKinds::AGPR;
    let excluded = match slot.kinds.contains(either) {
        true if agprs => OperandKinds::VGPR,
        true => OperandKinds::AGPR,
        false => OperandKinds::empty(),
    };
    let mut kinds = slot.kinds.difference(excluded | OperandKinds::LITERAL | OperandKinds::INLINE_FLOAT);
    if inst.desc.is_relative() {
        // An operand relative to M0 must be a numbered register.
        kinds.remove(OperandKinds::SPECIAL);
    }
    if inst.desc.format == Format::Vop3p {
        // The upper word of a packed constant is not defined in the simulator.
        kinds.remove(OperandKinds::INLINE_INT);
    }
    let vector = kinds.intersection(either);
    let scalar = kinds.difference(either);
    let take_vector = !vector.is_empty() && (scalar.is_empty() || rng.below(5) < 3);
    let kinds: Vec<OperandKinds> = if take_vector { vector } else { scalar }.iter().collect();
    let Some(kind) = (!kinds.is_empty()).then(|| *rng.pick(&kinds)) else { return Operand::Literal(0x1234) };
    of_kind(rng, kind, inst, slot)
}

fn of_kind(rng: &mut Random, kind: OperandKinds, inst: &Inst, slot: &OperandDesc) -> Operand {
    let len = width(inst, slot).max(1);
    match kind {
        OperandKinds::VGPR | OperandKinds::AGPR => {
            let align = if len > 1 { u16::from(inst.desc.vgpr_align) } else { 1 };
            let file = if kind == OperandKinds::VGPR { RegFile::Vgpr } else { RegFile::Agpr };
            let index = rng.below(usize::from(DATA_VECTORS / align)) as u16 * align;
            Reg { file, index, len }.into()
        }
        OperandKinds::SGPR => {
            let align = match len {
                1 => 1,
                2 => 2,
                _ => 4,
            };
            let starts = if len > 8 { 1 } else { usize::from(8 / align) };
            Reg::s(FIRST_SCALAR + align * rng.below(starts) as u16, len).into()
        }
        OperandKinds::SPECIAL => special(rng, slot, len),
        OperandKinds::INLINE_INT => Inline::Int(rng.below(8) as i8).into(),
        OperandKinds::IMM => Operand::Imm(rng.below(4) as i64),
        OperandKinds::LITERAL16 => Operand::Literal(0x1234),
        _ => Operand::Off,
    }
}

/// VCC, or another named register or value that is only read.
fn special(rng: &mut Random, slot: &OperandDesc, len: u8) -> Operand {
    let written = slot.access != gcn_isa::table::Access::Read;
    let vcc = if len == 1 { Reg::s(106 + rng.below(2) as u16, 1) } else { gcn_isa::reg::VCC };
    let mut choices: Vec<Operand> = vec![vcc.into()];
    if !written && rng.below(3) == 0 {
        let exec = if len == 1 { Reg::s(126, 1) } else { gcn_isa::reg::EXEC };
        choices.push(exec.into());
        if len == 1 && slot.allows_special("m0") {
            choices.push(gcn_isa::reg::M0.into());
        }
        let named = [SrcSpecial::Vccz, SrcSpecial::Execz, SrcSpecial::Scc];
        let named = named.into_iter().filter(|s| slot.allows_special(s.name()));
        choices.extend(named.map(Operand::Special));
    }
    *rng.pick(&choices)
}

/// The number of dwords of a slot, given the instruction's modifiers.
fn width(inst: &Inst, slot: &OperandDesc) -> u8 {
    let by_format = |format: u8| [8, 8, 6, 6, 4, 8, 8, 8][usize::from(format & 7)];
    match slot.name {
        "src0" if inst.desc.mnemonic.ends_with("f8f6f4") => by_format(inst.mods.cbsz),
        "src1" if inst.desc.mnemonic.ends_with("f8f6f4") => by_format(inst.mods.blgp),
        _ => slot.dwords,
    }
}

/// Sets random modifiers that affect hazards, and offsets that stay within the buffer.
pub fn modifiers(rng: &mut Random, inst: &mut Inst) {
    let desc = inst.desc;
    let has = |m: Modifiers| desc.modifiers.contains(m);
    let mods = &mut inst.mods;
    if let Some((_, highest)) = desc.offset_range {
        mods.offset = (16 * rng.below(5) as i32).min(highest);
    }
    if has(Modifiers::OFFSET0) {
        (mods.offset0, mods.offset1) = (rng.below(2) as u8, 2);
    }
    if has(Modifiers::OP_SEL) && desc.op_sel_bits() > 0 && !desc.is_matrix() {
        mods.op_sel = rng.next_u64() as u8 & ((1 << desc.op_sel_bits()) - 1);
    }
    if has(Modifiers::CBSZ) && desc.mnemonic.ends_with("f8f6f4") {
        (mods.cbsz, mods.blgp) = (*rng.pick(&[0, 2, 4]), *rng.pick(&[0, 2, 4]));
    }
    if mods.dpp.is_some() && desc.dpp_controls != gcn_isa::mods::DppControls::ROW_NEWBCAST {
        let row_mask = *rng.pick(&[0xf, 0xf, 0x5]);
        mods.dpp = Some(Dpp { ctrl: 0x111, row_mask, bank_mask: 0xf, bound_ctrl: rng.below(2) == 0 });
    }
    if let Some(sdwa) = &mut mods.sdwa
        && has(Modifiers::DST_SEL)
    {
        (sdwa.dst_sel, sdwa.dst_unused) = (*rng.pick(&[6, 4, 5]), rng.below(3) as u8);
    }
}
