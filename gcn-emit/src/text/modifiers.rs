//! The text of modifiers, in the order in which LLVM prints them.

use std::fmt;

use gcn_isa::table::{Behaviours, Class, Format, InstDesc, Modifiers};
use gcn_isa::{Inst, Target};

use super::operand::signed_hex;
use super::symbols;
use crate::fields::modifier::is_permlane_swap_e64;

/// Writes everything behind the operands, each part after a space.
pub(super) fn write(f: &mut fmt::Formatter<'_>, inst: &Inst, target: Target) -> fmt::Result {
    let desc = inst.desc;
    match desc.format {
        Format::Vop1Dpp | Format::Vop2Dpp => dpp(f, inst),
        Format::Vop1Sdwa | Format::Vop2Sdwa | Format::VopcSdwa => sdwa(f, inst),
        Format::Vop3a | Format::Vop3b | Format::Vop3p | Format::Vop3pMai | Format::Vop3px2 => vop3(f, inst),
        Format::Smem => smem(f, inst),
        Format::Ds => ds(f, inst),
        Format::Flat | Format::Global | Format::Scratch | Format::Mubuf | Format::Mtbuf => {
            vmem(f, inst, target)
        }
        _ => Ok(()),
    }
}

fn flag(f: &mut fmt::Formatter<'_>, set: bool, name: &str) -> fmt::Result {
    if set { write!(f, " {name}") } else { Ok(()) }
}

fn number(f: &mut fmt::Formatter<'_>, name: &str, value: impl Into<i64>) -> fmt::Result {
    match value.into() {
        0 => Ok(()),
        value => write!(f, " {name}:{value}"),
    }
}

/// `name:[1,0,…]` of the low `count` bits.
fn bits(f: &mut fmt::Formatter<'_>, name: &str, value: u8, count: usize) -> fmt::Result {
    write!(f, " {name}:[")?;
    for i in 0..count {
        write!(f, "{}{}", if i == 0 { "" } else { "," }, value >> i & 1)?;
    }
    f.write_str("]")
}

fn clamp_and_omod(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    flag(f, inst.mods.clamp, "clamp")?;
    match inst.mods.omod {
        1 => f.write_str(" mul:2"),
        2 => f.write_str(" mul:4"),
        3 => f.write_str(" div:2"),
        _ => Ok(()),
    }
}

fn dpp(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    let Some(dpp) = inst.mods.dpp else { return Ok(()) };
    write!(f, " {}", symbols::dpp_control(dpp.ctrl))?;
    write!(f, " row_mask:{:#x} bank_mask:{:#x}", dpp.row_mask, dpp.bank_mask)?;
    flag(f, dpp.bound_ctrl, "bound_ctrl:1")
}

fn sdwa(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    clamp_and_omod(f, inst)?;
    let Some(sdwa) = inst.mods.sdwa else { return Ok(()) };
    let mut select = |has: Modifiers, name: &str, names: &[&str], value: u8| {
        let text = names.get(usize::from(value));
        match text.filter(|_| inst.desc.modifiers.contains(has)) {
            Some(text) => write!(f, " {name}:{text}"),
            None => Ok(()),
        }
    };
    select(Modifiers::DST_SEL, "dst_sel", &symbols::SDWA_SELECTORS, sdwa.dst_sel)?;
    select(Modifiers::DST_UNUSED, "dst_unused", &symbols::SDWA_UNUSED, sdwa.dst_unused)?;
    select(Modifiers::SRC0_SEL, "src0_sel", &symbols::SDWA_SELECTORS, sdwa.src0_sel)?;
    select(Modifiers::SRC1_SEL, "src1_sel", &symbols::SDWA_SELECTORS, sdwa.src1_sel)
}

fn sources(desc: &InstDesc) -> usize {
    desc.operands.iter().filter(|o| o.name.starts_with("src")).count()
}

fn vop3(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    let (desc, mods) = (inst.desc, &inst.mods);
    if desc.modifiers.contains(Modifiers::BITOP3) && mods.bitop3 != 0 {
        match mods.bitop3 {
            small @ ..=10 => write!(f, " bitop3:{small}")?,
            table => write!(f, " bitop3:{table:#x}")?,
        }
    }
    if is_permlane_swap_e64(desc) {
        flag(f, mods.op_sel & 2 != 0, "bound_ctrl:1")?;
        return flag(f, mods.op_sel & 1 != 0, "fi:1");
    }
    // The scaled matrix instructions list a third source, whose bits are always zero.
    let op_sel_bits = if desc.format == Format::Vop3px2 { 3 } else { usize::from(desc.op_sel_bits) };
    let all_ones = (1u8 << op_sel_bits.min(7)) - 1;
    let mixed_precision = desc.format == Format::Vop3p && desc.source_mods.1 != 0;
    if mods.op_sel != 0 {
        bits(f, "op_sel", mods.op_sel, op_sel_bits)?;
    }
    let has_op_sel_hi = desc.modifiers.contains(Modifiers::OP_SEL_HI) || desc.format == Format::Vop3px2;
    if has_op_sel_hi && mods.op_sel_hi != if mixed_precision { 0 } else { all_ones } {
        bits(f, "op_sel_hi", mods.op_sel_hi, op_sel_bits)?;
    }
    if mods.neg_lo != 0 {
        bits(f, "neg_lo", mods.neg_lo, sources(desc))?;
    }
    if mods.neg_hi != 0 {
        bits(f, "neg_hi", mods.neg_hi, sources(desc))?;
    }
    clamp_and_omod(f, inst)?;
    number(f, "cbsz", mods.cbsz)?;
    number(f, "abid", mods.abid)?;
    number(f, "blgp", mods.blgp)?;
    if desc.modifiers.contains(Modifiers::NEG) && mods.neg != 0 {
        bits(f, "neg", mods.neg, sources(desc))?;
    }
    Ok(())
}

fn smem(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    if inst.desc.modifiers.contains(Modifiers::OFFSET) {
        f.write_str(" offset:")?;
        signed_hex(f, inst.mods.offset.into())?;
    }
    flag(f, inst.mods.glc, "glc")
}

fn ds(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    let mods = &inst.mods;
    if inst.desc.does(Behaviours::PATTERN_IN_OFFSET) && mods.offset != 0 {
        write!(f, " offset:{}", symbols::swizzle(mods.offset as u16))?;
    } else {
        number(f, "offset", mods.offset)?;
    }
    number(f, "offset0", mods.offset0)?;
    number(f, "offset1", mods.offset1)?;
    flag(f, mods.gds, "gds")
}

fn vmem(f: &mut fmt::Formatter<'_>, inst: &Inst, target: Target) -> fmt::Result {
    let mods = &inst.mods;
    if inst.desc.format == Format::Mtbuf
        && let Some(format) = symbols::buffer_format(mods.format)
    {
        write!(f, " {format}")?;
    }
    flag(f, mods.idxen, "idxen")?;
    flag(f, mods.offen, "offen")?;
    number(f, "offset", mods.offset)?;
    let stores_lds = inst.desc.class == Class::VmemStoreLds;
    flag(f, mods.lds && stores_lds, "lds")?;
    let (glc, slc, scc) = cache_names(target);
    flag(f, mods.glc, glc)?;
    flag(f, mods.slc, slc)?;
    flag(f, mods.scc, scc)?;
    flag(f, mods.tfe, "tfe")?;
    flag(f, mods.lds && !stores_lds, "lds")
}

/// The target's names of the cache bits of vector memory.
pub(crate) fn cache_names(target: Target) -> (&'static str, &'static str, &'static str) {
    if target.is_gfx940_family() { ("sc0", "nt", "sc1") } else { ("glc", "slc", "scc") }
}
