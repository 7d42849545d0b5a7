//! Generates random modifiers that a row accepts, individually and combined.

use gcn_isa::mods::DppControls;
use gcn_isa::table::{Class, Format, InstDesc, Modifiers, OperandBits};
use gcn_isa::{Dpp, Mods, Sdwa};
use gcn_test_support::Random;

/// The row's default modifiers with about half of them changed.
pub fn modifiers(rng: &mut Random, desc: &InstDesc) -> Mods {
    let mut mods = desc.default_mods();
    // A quarter of the instructions have no modifiers.
    if rng.one_in(4) {
        return mods;
    }
    let has = |m: Modifiers| desc.modifiers.contains(m) && !desc.required.contains(m);
    let sources = desc.operands.iter().filter(|o| o.name.starts_with("src")).count();
    let per_source = ((1u16 << sources) - 1) as u8;
    source_bits(rng, desc, &mut mods, per_source);
    let flags = [
        (Modifiers::CLAMP, &mut mods.clamp),
        (Modifiers::GLC, &mut mods.glc),
        (Modifiers::SLC, &mut mods.slc),
        (Modifiers::SCC, &mut mods.scc),
        (Modifiers::GDS, &mut mods.gds),
    ];
    for (flag, value) in flags {
        *value |= has(flag) && rng.one_in(2);
    }
    if let Some((lo, hi)) = desc.offset_range {
        mods.offset = rng.within(lo.into(), hi.into()) as i32;
    }
    let numbers = [
        (Modifiers::OMOD, 4, &mut mods.omod),
        (Modifiers::OFFSET0, 256, &mut mods.offset0),
        (Modifiers::OFFSET1, 256, &mut mods.offset1),
        (Modifiers::CBSZ, 8, &mut mods.cbsz),
        (Modifiers::ABID, 16, &mut mods.abid),
        (Modifiers::BLGP, 8, &mut mods.blgp),
        (Modifiers::BITOP3, 256, &mut mods.bitop3),
    ];
    for (flag, bound, value) in numbers {
        if has(flag) && !rng.one_in(3) {
            *value = rng.below(bound) as u8;
        }
    }
    if desc.format == Format::Mtbuf {
        mods.format = rng.below(128) as u8;
    }
    mods.tfe = may_have_tfe(desc) && rng.one_in(3);
    controls(rng, desc, &mut mods);
    mods
}

fn source_bits(rng: &mut Random, desc: &InstDesc, mods: &mut Mods, per_source: u8) {
    let has = |m: Modifiers| desc.modifiers.contains(m);
    let OperandBits { neg, abs, sext, .. } = desc.bits;
    mods.neg = rng.next_u64() as u8 & if has(Modifiers::NEG) { per_source } else { neg };
    mods.abs = rng.next_u64() as u8 & abs;
    mods.sext = if mods.sdwa.is_some() { rng.next_u64() as u8 & sext } else { 0 };
    // A source is negated or sign-extended, not both, because the text can contain only one of them.
    let (neg, abs) = (mods.neg, mods.abs);
    mods.sext &= !(neg | abs);
    let bits = ((1u16 << desc.op_sel_bits()) - 1) as u8;
    let is_swap = desc.format == Format::Vop3a && desc.class == Class::Permlane;
    if has(Modifiers::OP_SEL) || is_swap {
        mods.op_sel = rng.next_u64() as u8 & if is_swap { 3 } else { bits };
    }
    if has(Modifiers::OP_SEL_HI) || desc.format == Format::Vop3px2 {
        mods.op_sel_hi = rng.next_u64() as u8 & bits;
    }
    if has(Modifiers::NEG_LO) {
        mods.neg_lo = rng.next_u64() as u8 & per_source;
    }
    if has(Modifiers::NEG_HI) {
        mods.neg_hi = rng.next_u64() as u8 & per_source;
    }
}

fn may_have_tfe(desc: &InstDesc) -> bool {
    desc.format == Format::Mubuf
        && desc.class == Class::VmemLoad
        && !desc.targets.iter().any(gcn_isa::InstructionSet::has_unified_agprs)
}

fn controls(rng: &mut Random, desc: &InstDesc, mods: &mut Mods) {
    if mods.dpp.is_some() {
        mods.dpp = Some(Dpp {
            ctrl: dpp_control(rng, desc),
            row_mask: rng.below(16) as u8,
            bank_mask: rng.below(16) as u8,
            bound_ctrl: rng.one_in(2),
        });
    }
    let Some(sdwa) = &mut mods.sdwa else { return };
    let Sdwa { dst_sel, dst_unused, src0_sel, src1_sel } = sdwa;
    let fields = [
        (Modifiers::DST_SEL, 7, dst_sel),
        (Modifiers::DST_UNUSED, 3, dst_unused),
        (Modifiers::SRC0_SEL, 7, src0_sel),
        (Modifiers::SRC1_SEL, 7, src1_sel),
    ];
    for (flag, bound, value) in fields {
        if desc.modifiers.contains(flag) {
            *value = rng.below(bound) as u8;
        }
    }
}

/// A random DPP control that the row has.
fn dpp_control(rng: &mut Random, desc: &InstDesc) -> u16 {
    let newbcast = 0x150 + rng.below(16) as u16;
    if desc.dpp_controls == DppControls::ROW_NEWBCAST
        || (desc.dpp_controls.contains(DppControls::ROW_NEWBCAST) && rng.one_in(4))
    {
        return newbcast;
    }
    match rng.below(6) {
        0 | 1 => rng.below(256) as u16,
        2 => 0x101 + rng.below(15) as u16,
        3 => 0x111 + rng.below(15) as u16,
        4 => 0x121 + rng.below(15) as u16,
        _ => *rng.pick(&[0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143]),
    }
}
