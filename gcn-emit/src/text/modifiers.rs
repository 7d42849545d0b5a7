//! The text of modifiers, in the order in which LLVM prints them.

use std::fmt;

use gcn_isa::mods::{Form, Modifier, Modifiers, SCOPES, SDWA_SELECTORS, SDWA_UNUSED, word_named, word_of};
use gcn_isa::table::{Behaviours, Class, Format, Unit};
use gcn_isa::target::Generation;
use gcn_isa::{Inst, Mods, Target};

use super::operand::signed_hex;
use super::symbols;

/// Writes everything after the operands, each part preceded by a space.
pub(super) fn write(f: &mut fmt::Formatter<'_>, inst: &Inst, target: Target) -> fmt::Result {
    let desc = inst.desc;
    match desc.format {
        format if format.is_dpp() => {
            if format.is_long_dpp() {
                vop3(f, inst)?;
            }
            dpp(f, inst)
        }
        Format::Vop1Sdwa | Format::Vop2Sdwa | Format::VopcSdwa => sdwa(f, inst),
        Format::Vop3a | Format::Vop3b | Format::Vop3p | Format::Vop3pMai | Format::Vop3px2 => vop3(f, inst),
        Format::Vopd3 => bitop3(f, inst),
        Format::Smem => smem(f, inst),
        Format::Ds | Format::Vds => ds(f, inst),
        Format::LdsDir | Format::VdsDir => lds_direct(f, inst),
        format if format.unit() == Unit::VectorMemory => vmem(f, inst, target),
        _ => Ok(()),
    }
}

fn flag(f: &mut fmt::Formatter<'_>, mods: &Mods, modifier: Modifier) -> fmt::Result {
    if modifier.get(mods) != 0 { write!(f, " {}", modifier.name()) } else { Ok(()) }
}

fn number(f: &mut fmt::Formatter<'_>, mods: &Mods, modifier: Modifier) -> fmt::Result {
    match modifier.get(mods) as i32 {
        0 => Ok(()),
        value => write!(f, " {}:{value}", modifier.name()),
    }
}

/// Writes `name:[1,0,…]` for the low `count` bits.
fn bits(f: &mut fmt::Formatter<'_>, mods: &Mods, modifier: Modifier, count: usize) -> fmt::Result {
    let value = modifier.get(mods);
    write!(f, " {}:[", modifier.name())?;
    for i in 0..count {
        write!(f, "{}{}", if i == 0 { "" } else { "," }, value >> i & 1)?;
    }
    f.write_str("]")
}

fn clamp_and_omod(f: &mut fmt::Formatter<'_>, mods: &Mods) -> fmt::Result {
    flag(f, mods, Modifier::Clamp)?;
    match mods.omod {
        1 => f.write_str(" mul:2"),
        2 => f.write_str(" mul:4"),
        3 => f.write_str(" div:2"),
        _ => Ok(()),
    }
}

fn dpp(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    let fetch_inactive = if inst.mods.fi { " fi:1" } else { "" };
    if inst.desc.format.is_dpp8() {
        let lanes: Vec<String> = (0..8).map(|lane| (inst.mods.dpp8 >> (3 * lane) & 7).to_string()).collect();
        return write!(f, " dpp8:[{}]{fetch_inactive}", lanes.join(","));
    }
    let Some(dpp) = inst.mods.dpp else { return Ok(()) };
    write!(f, " {}", symbols::dpp_control(dpp.ctrl, inst.desc.dpp_controls))?;
    write!(f, " row_mask:{:#x} bank_mask:{:#x}", dpp.row_mask, dpp.bank_mask)?;
    if dpp.bound_ctrl {
        f.write_str(" bound_ctrl:1")?;
    }
    f.write_str(fetch_inactive)
}

fn sdwa(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    clamp_and_omod(f, &inst.mods)?;
    let Some(sdwa) = inst.mods.sdwa else { return Ok(()) };
    let mut select = |modifier: Modifier, names: &[&str], value: u8| {
        let text = names.get(usize::from(value));
        match text.filter(|_| inst.desc.modifiers.contains(modifier.flag())) {
            Some(text) => write!(f, " {}:{text}", modifier.name()),
            None => Ok(()),
        }
    };
    select(Modifier::DstSel, &SDWA_SELECTORS, sdwa.dst_sel)?;
    select(Modifier::DstUnused, &SDWA_UNUSED, sdwa.dst_unused)?;
    select(Modifier::Src0Sel, &SDWA_SELECTORS, sdwa.src0_sel)?;
    select(Modifier::Src1Sel, &SDWA_SELECTORS, sdwa.src1_sel)
}

fn bitop3(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    match inst.mods.bitop3 {
        0 => Ok(()),
        small @ ..=10 => write!(f, " bitop3:{small}"),
        table => write!(f, " bitop3:{table:#x}"),
    }
}

/// The modifiers of matrix instructions of gfx12.5, in the order in which they are printed.
const OF_MATRICES: [Modifier; 8] = [
    Modifier::MatrixAFmt,
    Modifier::MatrixBFmt,
    Modifier::MatrixAScale,
    Modifier::MatrixBScale,
    Modifier::MatrixAScaleFmt,
    Modifier::MatrixBScaleFmt,
    Modifier::MatrixAReuse,
    Modifier::MatrixBReuse,
];

fn of_matrices(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    for modifier in OF_MATRICES.into_iter().filter(|m| inst.desc.modifiers.contains(m.flag())) {
        let value = modifier.get(&inst.mods);
        match word_named(modifier.name()).map(|word| word.form) {
            _ if value == 0 => {}
            Some(Form::Name(names)) => match names.get(value as usize) {
                Some(name) => write!(f, " {}:{name}", modifier.name())?,
                None => write!(f, " {}:{value}", modifier.name())?,
            },
            _ => flag(f, &inst.mods, modifier)?,
        }
    }
    Ok(())
}

fn vop3(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    let (desc, mods) = (inst.desc, &inst.mods);
    bitop3(f, inst)?;
    if desc.has_fetch_inactive() {
        let bound_ctrl = if mods.op_sel & 2 != 0 { " bound_ctrl:1" } else { "" };
        let fetch_inactive = if mods.op_sel & 1 != 0 { " fi:1" } else { "" };
        return write!(f, "{bound_ctrl}{fetch_inactive}");
    }
    number(f, mods, Modifier::ScaleSel)?;
    number(f, mods, Modifier::IndexKey)?;
    of_matrices(f, inst)?;
    // Scaled matrix instructions have op_sel bits for a third source, which are always zero but are printed.
    let op_sel_bits = if desc.scales_by_op_sel() { 3 } else { usize::from(desc.op_sel_bits()) };
    let all_ones = (1u8 << op_sel_bits.min(7)) - 1;
    let mixed_precision = desc.is_mixed_precision();
    // An instruction that selects by a mask specifies halves of registers only by name.
    let named = desc.has_halves() && desc.does(Behaviours::SELECTS_BY_MASK);
    if mods.op_sel != 0 && !named {
        bits(f, mods, Modifier::OpSel, op_sel_bits)?;
    }
    number(f, mods, Modifier::ByteSel)?;
    let has_op_sel_hi = desc.modifiers.contains(Modifiers::OP_SEL_HI) || desc.scales_by_op_sel();
    if has_op_sel_hi && mods.op_sel_hi != if mixed_precision { 0 } else { all_ones } {
        bits(f, mods, Modifier::OpSelHi, op_sel_bits)?;
    }
    if mods.neg_lo != 0 {
        bits(f, mods, Modifier::NegLo, desc.sources().into())?;
    }
    if mods.neg_hi != 0 {
        bits(f, mods, Modifier::NegHi, desc.sources().into())?;
    }
    clamp_and_omod(f, mods)?;
    if !desc.modifiers.intersects(Modifiers::MATRIX_A_FMT) {
        number(f, mods, Modifier::Cbsz)?;
        number(f, mods, Modifier::Abid)?;
        number(f, mods, Modifier::Blgp)?;
    }
    if desc.modifiers.contains(Modifiers::NEG) && mods.neg != 0 {
        bits(f, mods, Modifier::Neg, desc.sources().into())?;
    }
    Ok(())
}

fn smem(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    if inst.desc.modifiers.contains(Modifiers::OFFSET) {
        f.write_str(" offset:")?;
        signed_hex(f, inst.mods.offset.into())?;
    }
    flag(f, &inst.mods, Modifier::ScaleOffset)?;
    cache_bits(f, inst, None)
}

/// The word for an instruction's temporal hint; `None` if the hint is the default or its value has no word.
pub(crate) fn hint(inst: &Inst) -> Option<&'static str> {
    symbols::hint(inst.desc, &inst.mods).and_then(|hint| hint.iter_names().next()).map(|(name, _)| name)
}

/// Writes `glc slc dlc`, or the hint and the scope of RDNA 4.
fn cache_bits(f: &mut fmt::Formatter<'_>, inst: &Inst, target: Option<Target>) -> fmt::Result {
    let mods = &inst.mods;
    for modifier in [Modifier::Glc, Modifier::Slc, Modifier::Dlc, Modifier::Scc] {
        if modifier.get(mods) != 0 {
            write!(f, " {}", target.map_or(modifier.name(), |target| word_of(modifier, target)))?;
        }
    }
    if mods.th != 0 {
        match hint(inst) {
            Some(name) => write!(f, " th:{name}")?,
            None => write!(f, " th:{:#x}", mods.th)?,
        }
    }
    match SCOPES.get(usize::from(mods.scope)) {
        Some(name) if mods.scope != 0 => write!(f, " scope:{name}")?,
        _ => {}
    }
    flag(f, mods, Modifier::Nv)
}

fn lds_direct(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    for modifier in [Modifier::WaitVdst, Modifier::WaitVaVdst, Modifier::WaitVmVsrc] {
        if inst.desc.modifiers.contains(modifier.flag()) {
            write!(f, " {}:{}", modifier.name(), modifier.get(&inst.mods))?;
        }
    }
    Ok(())
}

fn ds(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    let mods = &inst.mods;
    if inst.desc.does(Behaviours::PATTERN_IN_OFFSET) && mods.offset != 0 {
        write!(f, " offset:{}", symbols::swizzle(mods.offset as u16))?;
    } else {
        number(f, mods, Modifier::Offset)?;
    }
    number(f, mods, Modifier::Offset0)?;
    number(f, mods, Modifier::Offset1)?;
    flag(f, mods, Modifier::Gds)
}

fn vmem(f: &mut fmt::Formatter<'_>, inst: &Inst, target: Target) -> fmt::Result {
    let mods = &inst.mods;
    let generation = inst.desc.generation();
    let format = match generation {
        Generation::GFX9 => symbols::buffer_format(mods.format),
        _ => symbols::unified_format(mods.format, generation),
    };
    if inst.desc.is_typed_buffer()
        && let Some(format) = format
    {
        write!(f, " {format}")?;
    }
    flag(f, mods, Modifier::Idxen)?;
    flag(f, mods, Modifier::Offen)?;
    number(f, mods, Modifier::Offset)?;
    flag(f, mods, Modifier::ScaleOffset)?;
    let stores_lds = inst.desc.class == Class::VmemStoreLds;
    if stores_lds {
        flag(f, mods, Modifier::Lds)?;
    }
    cache_bits(f, inst, Some(target))?;
    flag(f, mods, Modifier::Tfe)?;
    if stores_lds { Ok(()) } else { flag(f, mods, Modifier::Lds) }
}
