//! Rules that concern several operands, or the modifiers as a whole.

use gcn_isa::mods::Modifier;
use gcn_isa::table::{Access, Class, Format, OperandDesc};
use gcn_isa::target::Generation;
use gcn_isa::{Inst, InstructionSet, Mods, Operand, Reg, RegFile, SrcSpecial, Target};
use smallvec::SmallVec;

use super::error::{EncodeFault, ModifierFault};
use crate::fields::check::OperandFault;

/// Checks that an instruction has at most one literal.
pub(super) fn one_literal(seen: &mut Option<Operand>, value: Operand) -> Result<(), EncodeFault> {
    match seen.replace(value) {
        Some(first) if first != value => Err(EncodeFault::TwoLiterals { first, second: value }),
        _ => Ok(()),
    }
}

/// Checks the constant bus limit: a vector instruction reads at most as many different scalar values (SGPR, VCC, M0, EXEC, special register
/// or literal) as the target's constant bus can transfer. A value that is read twice counts once.
pub(super) fn constant_bus(inst: &Inst, target: Target) -> Result<(), EncodeFault> {
    if !inst.desc.format.is_vop() {
        return Ok(());
    }
    let limit = inst.desc.constant_bus_reads(target);
    let mut different: SmallVec<[Operand; 3]> = SmallVec::new();
    let mut read = |operand: Operand| {
        if different.contains(&operand) {
            return Ok(());
        }
        different.push(operand);
        match different.len() > limit {
            true => Err(EncodeFault::ConstantBus { read: different.to_vec(), limit }),
            false => Ok(()),
        }
    };
    if inst.desc.implicit_reads.contains(gcn_isa::table::ImplicitRegs::VCC) {
        read(Operand::Reg(gcn_isa::reg::VCC))?;
    }
    for (operand, slot) in inst.operands.iter().zip(inst.desc.operands) {
        if slot.access == Access::Read && is_scalar(*operand) && !is_lane_in_m0(inst, slot, *operand) {
            read(*operand)?;
        }
    }
    Ok(())
}

/// True if the operand uses the constant bus; data read directly from LDS do not.
fn is_scalar(operand: Operand) -> bool {
    match operand {
        Operand::Reg(reg) => reg.file == RegFile::Sgpr && reg != gcn_isa::reg::NULL,
        Operand::Special(special) => special != SrcSpecial::LdsDirect,
        operand => matches!(operand, Operand::Literal(_) | Operand::Literal64(_)),
    }
}

/// True for the lane number of `v_writelane_b32` if it is in M0, which does not count towards the limit (LLVM 22 accepts an additional
/// SGPR).
fn is_lane_in_m0(inst: &Inst, slot: &OperandDesc, operand: Operand) -> bool {
    inst.desc.class == Class::Writelane && slot.name == "src1" && operand == Operand::Reg(gcn_isa::reg::M0)
}

/// Rules of individual instruction classes that relate operands or modifiers to each other.
pub(super) fn of_class(inst: &Inst) -> Result<(), EncodeFault> {
    match inst.desc.class {
        Class::MfmaXdl | Class::MfmaSgemm | Class::MfmaDgemm | Class::Smfmac => matrix_overlap(inst),
        Class::Gws => gws_alignment(inst),
        Class::GprIdx => gpr_idx_mask(inst),
        Class::FlatAtomicRet | Class::GlobalAtomicRet => sc1_with_agprs(inst),
        _ if inst.desc.format.is_pair() => pair(inst),
        _ => Ok(()),
    }
}

/// The halves of VOPD share the ports of the register file. The first sources of both halves must be in different banks of four, and so
/// must the second sources; of the two third sources, one must be even and one odd, and likewise for the destinations (RDNA3 ISA 7.6). On
/// RDNA 4, two moves may read registers of the same bank (LLVM 22 emits and accepts such pairs).
fn pair(inst: &Inst) -> Result<(), EncodeFault> {
    let [x, y] = [
        ["vdstx", "src0x", "vsrc1x", "vsrc2x", "literalx"],
        ["vdsty", "src0y", "vsrc1y", "vsrc2y", "literaly"],
    ]
    .map(|names| ports(inst, names));
    let moves = inst.operands.len() == 4 && inst.desc.generation() == Generation::GFX12;
    // VOPD3 encodes both destinations completely, and has separate fields for third sources.
    let wide = inst.desc.format == Format::Vopd3;
    let banks = if wide { [u16::MAX, 4, 4, 4] } else { [2, 4, 4, 2] };
    // On targets that require even tuples, both halves may read the same register, through one port.
    let shared = inst.desc.targets.iter().all(InstructionSet::needs_even_vgpr_tuples);
    for ((port, (first, second)), banks) in x.into_iter().zip(y).enumerate().zip(banks) {
        if let (Some(first), Some(second)) = (first, second)
            && let (Some(one), Some(other)) = (inst.operands[first].reg(), inst.operands[second].reg())
            && (one.file, other.file) == (RegFile::Vgpr, RegFile::Vgpr)
            && in_one_bank(one, other, banks)
            && !(moves && banks == 4)
            && !(shared && port > 0 && one == other)
        {
            let fault = OperandFault::SameBank { other: inst.desc.operands[first].name, banks };
            return Err(EncodeFault::operand(inst, second, fault));
        }
    }
    Ok(())
}

/// True if a register of one tuple is in the same bank as a register of the other.
fn in_one_bank(one: Reg, other: Reg, banks: u16) -> bool {
    let of = |reg: Reg| (reg.index..reg.end()).map(move |index| index % banks);
    of(one).any(|bank| of(other).any(|second| second == bank))
}

/// The operands of a half by port: the destination and three sources. If there is a literal, the third source follows it. A destination
/// that is also read counts as the third source.
fn ports(inst: &Inst, [vdst, src0, vsrc1, vsrc2, literal]: [&str; 5]) -> [Option<usize>; 4] {
    let place = |name| inst.desc.operand_index(name);
    let accumulates = |place: &usize| inst.desc.operands[*place].access == Access::ReadWrite;
    let is_third = place(literal).is_some_and(|literal| place(vsrc1).is_some_and(|vsrc1| literal < vsrc1));
    let (second, third) =
        if is_third { (None, place(vsrc1)) } else { (place(vsrc1), place(vdst).filter(accumulates)) };
    let third = place(vsrc2).or(third);
    [place(vdst), place(src0), second, third]
}

/// D and C of the larger matrix instructions must be the same registers or disjoint. (LLVM rejects a partial overlap, because the
/// instruction would read rows that it has already written.)
fn matrix_overlap(inst: &Inst) -> Result<(), EncodeFault> {
    let at = |name| inst.desc.operand_index(name).map(|i| (i, inst.operands[i]));
    if let (Some((_, Operand::Reg(d))), Some((i, Operand::Reg(c)))) = (at("vdst"), at("src2"))
        && d.len > 4
        && d != c
        && d.overlaps(c)
    {
        return Err(EncodeFault::operand(inst, i, OperandFault::PartialOverlap));
    }
    Ok(())
}

/// On targets whose tuples start at even registers, the single data register of global wave sync must also be even (measured with LLVM 22).
fn gws_alignment(inst: &Inst) -> Result<(), EncodeFault> {
    let align = inst.desc.vgpr_align.into();
    let odd = inst.operands.iter().position(|o| o.reg().is_some_and(|r| !r.index.is_multiple_of(align)));
    match odd {
        Some(i) => Err(EncodeFault::operand(inst, i, OperandFault::Alignment { align })),
        None => Ok(()),
    }
}

/// `s_set_gpr_idx_on` and `s_set_gpr_idx_mode` have four index modes, one bit each (CDNA3 ISA, VGPR indexing). The fields are wider, so
/// decoded values may have additional bits.
fn gpr_idx_mask(inst: &Inst) -> Result<(), EncodeFault> {
    let large =
        inst.operands.iter().position(|o| matches!(o, Operand::Imm(value) if !(0..=15).contains(value)));
    match large {
        Some(i) => Err(EncodeFault::operand(inst, i, OperandFault::Range { lo: 0, hi: 15 })),
        None => Ok(()),
    }
}

/// LLVM 22 cannot encode f64 atomics that return their result in AGPRs with `sc1`: its assembler silently drops the bit, and its
/// disassembler rejects it.
fn sc1_with_agprs(inst: &Inst) -> Result<(), EncodeFault> {
    let in_agprs = matches!(inst.operands.first(), Some(Operand::Reg(reg)) if reg.file == RegFile::Agpr);
    if inst.mods.scc && in_agprs && inst.desc.does(gcn_isa::table::Behaviours::LOSES_SC1_WITH_AGPRS) {
        let fault = ModifierFault::Conflict { with: "an AGPR destination", remedy: "use VGPRs for the data" };
        return Err(EncodeFault::Modifier { name: "sc1", fault });
    }
    Ok(())
}

/// Checks offsets, whose ranges are narrower than their fields, and DPP controls, some of which exist only on some targets.
pub(super) fn offset(inst: &Inst) -> Result<(), EncodeFault> {
    if let Some((lo, hi)) = inst.desc.offset_range
        && !(lo..=hi).contains(&inst.mods.offset)
    {
        return Err(offset_fault(inst.mods.offset, lo, hi));
    }
    match inst.mods.dpp {
        Some(dpp) if !inst.desc.takes_dpp_control(dpp.ctrl) => Err(EncodeFault::Modifier {
            name: "dpp_ctrl",
            fault: ModifierFault::DppControl { ctrl: dpp.ctrl },
        }),
        _ => Ok(()),
    }
}

fn offset_fault(value: i32, lo: i32, hi: i32) -> EncodeFault {
    let fault = ModifierFault::Range { value: value.into(), lo: lo.into(), hi: hi.into() };
    EncodeFault::Modifier { name: "offset", fault }
}

/// The error for the first modifier whose value in the instruction the row cannot express.
pub(super) fn modifier_fault(inst: &Inst, expressible: &Mods) -> EncodeFault {
    if inst.mods.dpp.is_some() != expressible.dpp.is_some() {
        return missing_or_extra("dpp_ctrl", inst.mods.dpp.is_some());
    }
    if inst.mods.sdwa.is_some() != expressible.sdwa.is_some() {
        return missing_or_extra("dst_sel", inst.mods.sdwa.is_some());
    }
    let differing: SmallVec<[_; 4]> =
        Modifier::ALL.iter().filter(|m| m.get(&inst.mods) != m.get(expressible)).collect();
    match differing.first() {
        Some(Modifier::Offset) if inst.desc.offset_range.is_some() => {
            let (lo, hi) = inst.desc.offset_range.unwrap_or_default();
            offset_fault(inst.mods.offset, lo, hi)
        }
        Some(field) if inst.desc.requires(**field) => {
            EncodeFault::Modifier { name: field.name(), fault: ModifierFault::Required }
        }
        Some(field) => {
            let value = field.get(&inst.mods);
            EncodeFault::Modifier { name: field.name(), fault: ModifierFault::NotAccepted { value } }
        }
        // Cannot happen: the list contains every modifier.
        None => missing_or_extra("modifiers", true),
    }
}

fn missing_or_extra(name: &'static str, present: bool) -> EncodeFault {
    let fault = if present { ModifierFault::NotAccepted { value: 1 } } else { ModifierFault::Required };
    EncodeFault::Modifier { name, fault }
}
