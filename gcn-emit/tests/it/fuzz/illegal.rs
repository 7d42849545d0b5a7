//! Generates instructions with one or two errors: operands of the wrong kind, width, alignment or file, modifiers that the row lacks or
//! that are out of range, wrong numbers of operands. Some of the results are legal nevertheless.

use gcn_isa::table::{self, Format, InstDesc};
use gcn_isa::{Inline, Inst, Operand, Reg, RegFile, SrcSpecial, Target};
use gcn_test_support::Random;

use super::legal::Generator;
use super::operands::{self, literal, sgpr_align};
use super::{unfaithful, wrong_text};

/// Known differences from LLVM are generated only once in this many times, so that unknown differences are noticed while the known ones
/// still occur.
const SELDOM: usize = 200;

/// The text of the next instruction, with errors.
pub fn text(generator: &mut Generator, target: Target) -> String {
    let desc = generator.row();
    let desc = if generator.rng().one_in(40) { foreign_row(generator.rng(), desc) } else { desc };
    let mut inst = generator.draw(desc);
    if unfaithful::reason(&inst).is_some() && !generator.rng().one_in(SELDOM) {
        inst = generator.draw(desc);
    }
    let rng = generator.rng();
    let mut in_text = Vec::new();
    for _ in 0..1 + usize::from(rng.one_in(4)) {
        match rng.below(10) {
            0..6 => break_operand(rng, &mut inst),
            6 => break_number(rng, &mut inst),
            // Operands that are legal individually, but may violate rules about several operands.
            7 if rng.one_in(2) => {}
            _ => in_text.push(rng.next_u64()),
        }
    }
    let mut text = super::text(&inst, target);
    for seed in in_text {
        text = wrong_text::change(&mut Random::new(seed), &text);
    }
    text
}

/// A row of any target.
fn foreign_row(rng: &mut Random, own: &'static InstDesc) -> &'static InstDesc {
    let rows = table::rows();
    let near = (usize::from(own.id) + rng.below(40)).saturating_sub(20).min(rows.len() - 1);
    &rows[if rng.one_in(2) { near } else { rng.below(rows.len()) }]
}

fn break_operand(rng: &mut Random, inst: &mut Inst) {
    if inst.operands.is_empty() {
        return;
    }
    let at = rng.below(inst.operands.len());
    let width = operands::width(inst.desc, &inst.desc.operands[at], &inst.mods).max(1);
    let operand = inst.operands[at];
    if let Operand::Imm(_) = operand {
        break_number(rng, inst);
        return;
    }
    inst.operands[at] = match (rng.below(10), operand) {
        (0, Operand::Reg(reg)) => other_width(rng, reg).into(),
        (1, Operand::Reg(reg)) if reg.file != RegFile::Sgpr || reg.index < 100 => moved(rng, reg).into(),
        (2, Operand::Reg(reg)) => other_file(rng, reg).into(),
        (3, Operand::Reg(reg)) => near_the_end(rng, reg).into(),
        (4, _) => Operand::Literal(literal(rng) | 0x100),
        (5, _) => constant(rng),
        (6, _) => named(rng, width),
        (7, _) => operands::tuple(rng, RegFile::Sgpr, 102, width, sgpr_align(width)),
        (8, _) => {
            scalars_everywhere(rng, inst);
            return;
        }
        (9, _) if inst.desc.is_matrix() => {
            overlap(rng, inst);
            return;
        }
        _ => any(rng, width),
    };
}

fn other_width(rng: &mut Random, reg: Reg) -> Reg {
    let len = match rng.below(3) {
        0 => reg.len + 1,
        1 if reg.len > 1 => reg.len - 1,
        _ => *rng.pick(&[1, 2, 3, 4, 5, 6, 8, 12, 16, 32]),
    };
    Reg { len, ..reg }
}

/// The tuple moved by one or two registers.
fn moved(rng: &mut Random, reg: Reg) -> Reg {
    let size = if reg.file == RegFile::Sgpr { 102 } else { 256 };
    let index = reg.index + 1 + rng.below(2) as u16;
    if index + u16::from(reg.len) <= size { Reg { index, ..reg } } else { reg }
}

fn other_file(rng: &mut Random, reg: Reg) -> Reg {
    let file = *rng.pick(&[RegFile::Vgpr, RegFile::Agpr, RegFile::Agpr, RegFile::Sgpr]);
    let index = if file == RegFile::Sgpr { (reg.index % 96) & !3 } else { reg.index };
    Reg { file, index, ..reg }
}

/// A tuple near the last register of its file.
fn near_the_end(rng: &mut Random, reg: Reg) -> Reg {
    let last = if reg.file == RegFile::Sgpr { 98 } else { 254 };
    Reg { index: last + rng.below(3) as u16, ..reg }
}

fn constant(rng: &mut Random) -> Operand {
    if rng.one_in(2) {
        Inline::Float(240 + rng.below(9) as u8).into()
    } else {
        Inline::Int(rng.within(-16, 64) as i8).into()
    }
}

/// A named register or special value. LLVM accepts read-only values as scalar destinations and drops a bit of their number.
fn named(rng: &mut Random, width: u8) -> Operand {
    if rng.one_in(SELDOM) {
        return Operand::Special(*rng.pick(&SrcSpecial::ALL));
    }
    let first = *rng.pick(&[102, 104, 106, 108, 112, 124, 126]);
    let len = if first == 124 { 1 } else { width.min(2) };
    Reg::s(first, len).into()
}

fn any(rng: &mut Random, width: u8) -> Operand {
    match rng.below(6) {
        0 => Operand::Off,
        1 => operands::tuple(rng, RegFile::Agpr, 256, width, 2),
        2 => operands::tuple(rng, RegFile::Vgpr, 256, width, 1),
        3 => operands::tuple(rng, RegFile::Sgpr, 102, width, 1),
        4 => Operand::Imm(rng.within(0, 0xffff)),
        _ => constant(rng),
    }
}

/// Scalar values in several sources, to test the constant bus limit and the limit of one literal.
fn scalars_everywhere(rng: &mut Random, inst: &mut Inst) {
    for at in 1..inst.operands.len() {
        let width = inst.desc.operands[at].dwords;
        if width == 0 || !rng.one_in(2) {
            continue;
        }
        inst.operands[at] = match rng.below(4) {
            0 => Operand::Literal(literal(rng) | 0x100),
            1 => named(rng, width),
            _ => operands::tuple(rng, RegFile::Sgpr, 102, width, sgpr_align(width)),
        };
    }
}

/// Moves C a few registers before or after D.
fn overlap(rng: &mut Random, inst: &mut Inst) {
    let at = |name| inst.desc.operand_index(name);
    if let (Some(d), Some(c)) = (at("vdst"), at("src2"))
        && let Operand::Reg(reg) = inst.operands[d]
    {
        let distance = rng.below(usize::from(reg.len) + 2) as u16;
        let index = if rng.one_in(2) { reg.index.saturating_sub(distance) } else { reg.index + distance };
        inst.operands[c] = Reg { index: index.min(256 - u16::from(reg.len)), ..reg }.into();
    }
}

/// Replaces a number by one that its field may not contain.
fn break_number(rng: &mut Random, inst: &mut Inst) {
    for (operand, slot) in inst.operands.iter_mut().zip(inst.desc.operands) {
        // LLVM truncates the immediate of s_atc_probe.
        if let Operand::Imm(value) = operand
            && (slot.name != "simm" || rng.one_in(SELDOM))
        {
            *value = *rng.pick(&[-1, 16, 0x80, 0x100, 0xffff, -0x10_0001, 0x10_0000, 0xf_ffff]);
            return;
        }
    }
    let mods = &mut inst.mods;
    // LLVM truncates the offsets of buffer instructions.
    let is_buffer = matches!(inst.desc.format, Format::Mubuf | Format::Mtbuf);
    if is_buffer && !rng.one_in(SELDOM) {
        mods.offen = !mods.offen;
    } else if let Some((lo, hi)) = inst.desc.offset_range {
        let beyond = [lo - 1, hi + 1, -1, lo * 2 - 1, hi * 2 + 1];
        mods.offset = *rng.pick(&beyond);
    } else if let Some(dpp) = &mut mods.dpp {
        dpp.ctrl = *rng.pick(&[0x100, 0x110, 0x120, 0x131, 0x144, 0x150, 0x15f, 0x160, 0x1ff]);
    }
}
