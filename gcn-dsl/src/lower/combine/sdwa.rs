//! Folds extractions of bytes and words into SDWA forms, which read a part of a source, extended to 32 bits.
//!
//! `v_bfe_u32 v1, v0, 8, 8` and `v_sub_u32 v2, v1, v3` become `v_sub_u32_sdwa v2, v0, v3 src0_sel:BYTE_1`. An
//! extraction is folded only if all its readers fold it, so that it becomes dead. SDWA forms take no constants: one
//! scalar register contains a constant for all instructions of a block, and is set outside of loops if possible.

use gcn_isa::mods::Sdwa;
use gcn_isa::operand::Operand;
use gcn_isa::table::{self, InstDesc};
use gcn_isa::{RegFile, Target};
use hashbrown::HashMap;
use smallvec::SmallVec;

use super::clamp::constant;
use super::literals::Literals;
use super::{Facts, takes};
use crate::mir::{Function, MInst, MOperand, Op, VReg, VSlice};

/// Instructions that may be replaced by their SDWA forms: those on 32-bit integers, and the conversion of an f16, which
/// reads the lower half of its source.
#[rustfmt::skip]
const READERS: &[&str] = &[
    "v_add_u32", "v_sub_u32", "v_mul_u32_u24", "v_mul_i32_i24", "v_and_b32", "v_or_b32", "v_xor_b32", "v_lshlrev_b32",
    "v_lshrrev_b32", "v_ashrrev_i32", "v_min_u32", "v_max_u32", "v_min_i32", "v_max_i32", "v_cvt_f32_i32", "v_cvt_f32_u32",
    "v_cvt_f32_f16",
];

/// The selector of the whole register. It is also used for destinations, so that no bits of the old value are kept.
const DWORD: u8 = 6;
const UNUSED_PAD: u8 = 0;

/// The selectors of the halves of a register.
pub(super) const WORDS: [u8; 2] = [4, 5];

/// A part of a register, extended to 32 bits.
pub(super) struct Part {
    pub of: MOperand,
    pub selector: u8,
    signed: bool,
}

/// The value of the operand with this index, if it is constant.
type Constants<'a> = &'a dyn Fn(usize) -> Option<u32>;

/// An instruction that extracts a part of a register.
struct Extraction {
    name: &'static str,
    /// The index of the operand from which the part is extracted.
    of: usize,
    signed: bool,
    /// The first bit and the number of bits, given the constant operands; `None` if they do not select a byte or a
    /// word.
    bits: fn(Constants<'_>) -> Option<(u32, u32)>,
}

const EXTRACTIONS: &[Extraction] = &[
    Extraction { name: "v_bfe_u32", of: 1, signed: false, bits: as_written },
    Extraction { name: "v_bfe_i32", of: 1, signed: true, bits: as_written },
    Extraction { name: "v_and_b32", of: 2, signed: false, bits: masked },
    Extraction { name: "v_lshrrev_b32", of: 2, signed: false, bits: to_the_end },
    Extraction { name: "v_ashrrev_i32", of: 2, signed: true, bits: to_the_end },
];

fn as_written(constant: Constants<'_>) -> Option<(u32, u32)> {
    Some((constant(2)?, constant(3)?))
}

fn masked(constant: Constants<'_>) -> Option<(u32, u32)> {
    match constant(1)? {
        0xff => Some((0, 8)),
        0xffff => Some((0, 16)),
        _ => None,
    }
}

fn to_the_end(constant: Constants<'_>) -> Option<(u32, u32)> {
    let first = constant(1)?;
    Some((first, 32u32.checked_sub(first)?))
}

/// The part that an instruction extracts; `None` if it is not an extraction.
fn part(inst: &MInst) -> Option<Part> {
    let Op::Machine(row, mods) = &inst.op else { return None };
    if *mods != row.default_mods() || inst.keeps_dst || row.format.is_dpp() || row.format.is_sdwa() {
        return None;
    }
    let extraction = EXTRACTIONS.iter().find(|extraction| extraction.name == row.entry.mnemonic)?;
    let constant = |i: usize| inst.operands.get(i).copied().and_then(constant);
    let (first, width) = (extraction.bits)(&constant)?;
    let selector = match (first, width) {
        (0 | 8 | 16 | 24, 8) => first / 8,
        (0, 16) => WORDS[0].into(),
        (16, 16) => WORDS[1].into(),
        _ => return None,
    };
    let of = inst.operands[extraction.of];
    Some(Part { of, selector: selector as u8, signed: extraction.signed })
}

/// The SDWA form of an instruction that is one of `READERS`; `None` for all others.
fn form(target: Target, inst: &MInst) -> Option<&'static InstDesc> {
    let Op::Machine(row, mods) = &inst.op else { return None };
    let plain =
        *mods == row.default_mods() && !inst.keeps_dst && !row.format.is_dpp() && !row.format.is_sdwa();
    if !plain || !READERS.contains(&row.entry.mnemonic) {
        return None;
    }
    table::find_mnemonic(target, row.mnemonic).find(|row| row.format.is_sdwa())
}

/// Folds extractions in `f`.
pub(super) fn run(f: &mut Function) {
    // Collecting the facts about uses takes a pass over the function, which most functions need not pay for.
    if !f.blocks.iter().flat_map(|block| &block.insts).any(|inst| part(inst).is_some()) {
        return;
    }
    let facts = Facts::of_uses(f);
    // Stands for the register of a constant until it is known whether the SDWA form is chosen.
    let scalar = f.new_vreg(RegFile::Sgpr, 1);
    let mut readers: HashMap<VReg, u32> = HashMap::new();
    let mut found = Vec::new();
    for (block, insts) in f.blocks.iter().enumerate() {
        for (index, inst) in insts.insts.iter().enumerate() {
            let parts = facts.parts(f, (block, index), inst);
            if !parts.is_empty() && facts.takes_parts(f, inst, &parts, scalar) {
                parts.iter().for_each(|(_, reg, _)| *readers.entry(*reg).or_default() += 1);
                found.push((block, index));
            }
        }
    }
    let mut literals = Literals::default();
    for (block, index) in found.into_iter().rev() {
        let inst = &f.blocks[block].insts[index];
        let mut parts = facts.parts(f, (block, index), inst);
        // If one reader cannot fold the extraction, the extraction stays, and folding it into the other readers saves
        // nothing.
        parts.retain(|(_, reg, _)| readers.get(reg) == Some(&facts.uses[reg.0 as usize].readers));
        // With fewer parts, a constant may remain that the SDWA form does not accept: `part + 0xff`, if the extraction
        // of `part` stays.
        if !parts.is_empty() && facts.takes_parts(f, inst, &parts, scalar) {
            fold(f, (block, index), parts, &mut literals);
        }
    }
    literals.insert(f);
}

/// The sources of an instruction that are extracted parts: the operand index, the extraction's result, and the part.
type Parts = SmallVec<[(usize, VReg, Part); 2]>;

impl Facts {
    fn parts(&self, f: &Function, at: (usize, usize), inst: &MInst) -> Parts {
        let written = match inst.operands.first() {
            Some(MOperand::Virt(dst)) => !self.uses[dst.reg.0 as usize].named,
            _ => false,
        };
        if !written || form(f.target, inst).is_none() {
            return Parts::new();
        }
        let part = |slot: usize| {
            let (reg, part) = self.extracted(f, inst.operands[slot], at)?;
            let vector = matches!(part.of, MOperand::Virt(of) if f.info(of.reg).file == RegFile::Vgpr);
            vector.then_some((slot, reg, part))
        };
        (1..inst.operands.len()).filter_map(part).collect()
    }

    /// The extraction whose result is this source, directly or through a copy whose only reader is this instruction.
    /// `None` if there is none.
    pub(super) fn extracted(
        &self,
        f: &Function,
        source: MOperand,
        at: (usize, usize),
    ) -> Option<(VReg, Part)> {
        let (reg, mut inner) = self.inner(f, source, at)?;
        let mut last = reg;
        while let (Op::Copy, [MOperand::Virt(_), from @ MOperand::Virt(of)]) =
            (&inner.op, &inner.operands[..])
            && of.len == f.info(of.reg).len
            && self.uses[of.reg.0 as usize].readers == 1
        {
            let place = self.uses[last.0 as usize].writer;
            (last, inner) = self.inner(f, *from, (place.0 as usize, place.1 as usize))?;
        }
        let part = part(inner)?;
        let place = self.uses[last.0 as usize].writer;
        let stays = self.keeps_its_value(f, &part.of, (place.0 as usize, place.1 as usize), at);
        stays.then_some((reg, part))
    }

    /// True if the SDWA form accepts these parts and the remaining source; if that source is a constant, it would be in
    /// the register `scalar`.
    fn takes_parts(&self, f: &Function, inst: &MInst, parts: &Parts, scalar: VReg) -> bool {
        let mut sources: SmallVec<[MOperand; 3]> = inst.operands[1..].into();
        for source in &mut sources {
            if let MOperand::Fixed(Operand::Inline(_) | Operand::Literal(_)) = source {
                *source = MOperand::Virt(VSlice { reg: scalar, start: 0, len: 1 });
            }
        }
        parts.iter().for_each(|(slot, _, part)| sources[slot - 1] = part.of);
        form(f.target, inst).is_some_and(|row| takes(f, row, &sources))
    }
}

fn fold(f: &mut Function, (block, index): (usize, usize), parts: Parts, literals: &mut Literals) {
    let Some(row) = form(f.target, &f.blocks[block].insts[index]) else { return };
    let mut sources: SmallVec<[MOperand; 3]> = f.blocks[block].insts[index].operands[1..].into();
    let mut selectors = [DWORD; 2];
    let mut mods = row.default_mods();
    for (slot, _, part) in parts {
        sources[slot - 1] = part.of;
        selectors[slot - 1] = part.selector;
        mods.sext |= u8::from(part.signed) << (slot - 1);
    }
    let [src0_sel, src1_sel] = selectors;
    mods.sdwa = Some(Sdwa { dst_sel: DWORD, dst_unused: UNUSED_PAD, src0_sel, src1_sel });
    for source in &mut sources {
        if let MOperand::Fixed(Operand::Inline(_) | Operand::Literal(_)) = source {
            *source = literals.register(f, (block, index), *source);
        }
    }
    let inst = &mut f.blocks[block].insts[index];
    inst.operands.truncate(1);
    inst.operands.extend(sources);
    inst.op = Op::Machine(row, mods);
}
