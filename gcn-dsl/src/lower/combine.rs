//! Peephole patterns of instruction selection: two instructions are replaced by one, usually with three sources.
//!
//! A row of [`PATTERNS`] names an outer instruction, an inner one whose result is a source of the outer one, and the
//! instruction that replaces both. It applies if the target has that instruction in an encoding that takes the
//! operands, and if every reader of the inner instruction can fold it, so that the inner one becomes dead
//! ([`crate::mir::dce`]); otherwise the inner operation would be computed twice. A row of [`MODIFIERS`] is a sign
//! change of a float that the instructions of [`FLOATS`] can apply to a source themselves. Conversions from f16 are in
//! [`mix`], limits to an interval in [`clamp`], extracted parts of registers in [`sdwa`], and products of words in
//! [`sums`].

mod clamp;
mod literals;
mod mix;
mod patterns;
mod sdwa;
mod sums;

use gcn_isa::RegFile;
use gcn_isa::inst::Mods;
use gcn_isa::mods::Modifiers;
use gcn_isa::operand::{Inline, Operand};
use gcn_isa::table::{self, Access, Class, InstDesc};
use gcn_isa::target::Subtarget;
use hashbrown::HashMap;
use smallvec::SmallVec;

use literals::Literals;
use patterns::Source::{Bits, First, Inner, Outer, Width};
use patterns::{At, PATTERNS, Pattern};

use super::Src;
use super::emit::{Bus, reaches_all, slot_takes};
use crate::mir::{Function, MInst, MOperand, Op, VReg};

/// A bit operation on a float that instructions of `FLOATS` have as a source modifier.
struct Modifier {
    inner: &'static str,
    mask: u32,
    apply: fn(&mut Mods, u8),
}

const MODIFIERS: &[Modifier] = &[
    Modifier { inner: "v_xor_b32", mask: 1 << 31, apply: |mods, bit| mods.neg ^= bit & !mods.abs },
    Modifier { inner: "v_and_b32", mask: !(1 << 31), apply: |mods, bit| mods.abs |= bit },
];

/// Instructions whose sources are all f32.
#[rustfmt::skip]
const FLOATS: &[&str] = &[
    "v_add_f32", "v_sub_f32", "v_mul_f32", "v_fma_f32", "v_min_f32", "v_max_f32",
    "v_cmp_lt_f32", "v_cmp_le_f32", "v_cmp_gt_f32", "v_cmp_ge_f32", "v_cmp_eq_f32", "v_cmp_neq_f32",
    "v_exp_f32", "v_log_f32", "v_rcp_f32", "v_rsq_f32", "v_sqrt_f32", "v_cvt_f16_f32",
];

/// The instruction that selects one of two words, and can change their signs while doing so.
const SELECTION: &str = "v_cndmask_b32";

/// Applies the patterns to all of `f`.
pub(super) fn run(f: &mut Function) {
    let mut facts = Facts::of(f);
    let mut literals = Literals::default();
    // Go backwards, so that the last instruction of a chain chooses its pattern first. Instructions folded into one
    // that is later removed itself become dead and are removed with it.
    for (block, index) in facts.order.clone().into_iter().rev() {
        while let Some(found) = facts.best(f, block, index) {
            // Do not count readers that a previous pattern introduced: they replace an instruction that is dead by
            // then.
            let inner = facts.at(found.inner);
            inner.readers = inner.readers.saturating_sub(1);
            let mut sources = found.sources;
            if let Some(slot) = found.literal {
                sources[slot] = literals.register(f, (block, index), sources[slot]);
                let new = Use { writers: 1, writer: (block as u32, index as u32), ..Use::default() };
                facts.uses.resize(f.vregs.len(), new);
            }
            let inst = &mut f.blocks[block].insts[index];
            inst.operands.truncate(1);
            inst.operands.extend(sources);
            inst.op = Op::Machine(found.row, found.mods);
        }
    }
    literals.insert(f);
    sdwa::run(f);
    let mut literals = Literals::default();
    sums::run(f, &mut literals);
    literals.insert(f);
}

/// A match of a pattern.
struct Found {
    row: &'static InstDesc,
    mods: Mods,
    sources: SmallVec<[MOperand; 3]>,
    inner: VReg,
    /// The index of a source that is a literal and must be moved to a scalar register; `None` if there is no such
    /// source.
    literal: Option<usize>,
}

/// The definitions and uses of a register.
#[derive(Clone, Copy, Default)]
struct Use {
    writers: u32,
    /// The last writer in program order: block and instruction.
    writer: (u32, u32),
    readers: u32,
    /// True if the instruction that defines the register must not be replaced.
    named: bool,
    /// The number of readers that can fold the defining instruction.
    folding: u32,
}

struct Facts {
    uses: Vec<Use>,
    /// The instructions that can be the outer one of a pattern, in program order.
    order: Vec<(usize, usize)>,
    rows: HashMap<&'static str, SmallVec<[&'static InstDesc; 2]>>,
    /// True if the kernel sets rounding or denormal modes.
    sets_mode: bool,
}

impl Facts {
    /// Facts with only the definitions and uses of registers.
    fn of_uses(f: &Function) -> Facts {
        let sets_mode = |inst: &MInst| matches!(&inst.op, Op::Machine(row, _) if row.class == Class::Setreg);
        let mut facts = Facts {
            uses: vec![Use::default(); f.vregs.len()],
            order: Vec::new(),
            rows: HashMap::new(),
            sets_mode: f.blocks.iter().flat_map(|block| &block.insts).any(sets_mode),
        };
        let fixed = f.kept.iter().chain(f.pins.iter().map(|pin| &pin.reg));
        fixed.chain(&f.named).for_each(|reg| facts.at(*reg).named = true);
        for (block, insts) in f.blocks.iter().enumerate() {
            for (index, inst) in insts.insts.iter().enumerate() {
                for (slot, operand) in inst.operands.iter().enumerate() {
                    let MOperand::Virt(slice) = operand else { continue };
                    let (reads, writes) = accesses(inst, slot);
                    let known = facts.at(slice.reg);
                    known.readers += u32::from(reads);
                    if writes {
                        known.writers += 1 + u32::from(inst.keeps_dst);
                        known.writer = (block as u32, index as u32);
                    }
                }
            }
        }
        facts
    }

    fn of(f: &Function) -> Facts {
        let mut facts = Facts { rows: rows(f.on()), ..Facts::of_uses(f) };
        for (block, insts) in f.blocks.iter().enumerate() {
            for (index, inst) in insts.insts.iter().enumerate() {
                let float = signed(inst).is_some();
                let mut found: SmallVec<[VReg; 2]> =
                    facts.candidates(f, inst, (block, index)).map(|found| found.inner).collect();
                if !found.is_empty() {
                    facts.order.push((block, index));
                }
                // A pattern consumes the outer instruction, so of two candidates for the inner one only one is folded.
                // Sign modifiers, however, apply to each source independently.
                found.truncate(if float { 3 } else { 1 });
                found.into_iter().for_each(|reg| facts.at(reg).folding += 1);
            }
        }
        facts
    }

    fn at(&mut self, reg: VReg) -> &mut Use {
        &mut self.uses[reg.0 as usize]
    }

    /// The first pattern that matches an instruction and makes the inner instruction dead.
    fn best(&self, f: &Function, block: usize, index: usize) -> Option<Found> {
        let inst = &f.blocks[block].insts[index];
        self.candidates(f, inst, (block, index)).find(|found| {
            // Fold only if every reader can: if one cannot, the inner instruction stays, and folding would only
            // lengthen the live ranges of its operands.
            let known = self.uses[found.inner.0 as usize];
            known.folding >= known.readers || found.mods.clamp && known.readers == 1
        })
    }

    fn candidates<'a>(
        &'a self,
        f: &'a Function,
        outer: &'a MInst,
        at: (usize, usize),
    ) -> impl Iterator<Item = Found> + 'a {
        let written = outer.operands.first().filter(|dst| match dst {
            MOperand::Virt(dst) => !self.uses[dst.reg.0 as usize].named,
            MOperand::Fixed(_) => false,
        });
        let of_float = written.and(signed(outer)).map_or(0, |_| outer.operands.len() - 1);
        let modified = (0..of_float).filter_map(move |slot| self.modified(f, outer, slot, at));
        let name = written.and(plain(outer)).map(|row| row.entry.mnemonic);
        let patterns = PATTERNS.iter().filter(move |p| Some(p.outer) == name);
        let joined = patterns.flat_map(move |pattern| {
            [0, 1].into_iter().filter_map(move |slot| self.matches(f, pattern, outer, slot, at))
        });
        let mixed = written.into_iter().flat_map(move |_| self.mixed(f, outer, at));
        let limited = written.and_then(|_| self.limited(f, outer, at));
        modified.chain(mixed).chain(limited).chain(joined)
    }

    fn matches(
        &self,
        f: &Function,
        pattern: &Pattern,
        outer: &MInst,
        slot: usize,
        at: (usize, usize),
    ) -> Option<Found> {
        if pattern.at != At::Either && pattern.at != At::Only(slot) {
            return None;
        }
        let (result, inner) = self.inner(f, outer.operands[1 + slot], at)?;
        if plain(inner)?.entry.mnemonic != pattern.inner {
            return None;
        }
        let other = outer.operands[2 - slot];
        let mut sources: SmallVec<[MOperand; 3]> = SmallVec::new();
        for from in pattern.sources {
            sources.push(match from {
                Inner(i) => inner.operands[1 + i],
                Outer => other,
                Bits => MOperand::Fixed(Operand::const32(low_bits(&other)?)),
                First => {
                    MOperand::Fixed(Operand::const32(count(&other)?.checked_sub(count(&inner.operands[1])?)?))
                }
                Width => MOperand::Fixed(Operand::const32(32 - count(&other)?)),
            });
        }
        let Some(row) = self.rows.get(pattern.result)?.iter().find(|row| takes(f, row, &sources)) else {
            // Moving the literal to a register takes an issue slot of the scalar unit, which is often free, or is
            // hoisted out of the loop. This pays only if an instruction is removed in exchange, so the instruction at
            // hand must be the only reader of the inner one.
            if self.uses[result.0 as usize].readers != 1 {
                return None;
            }
            let found = self.with_literal(f, pattern.result, Modifiers::empty(), sources)?;
            return Some(Found { inner: result, ..found });
        };
        Some(Found { row, mods: row.default_mods(), sources, inner: result, literal: None })
    }

    /// Folds a sign change of a source into a modifier.
    fn modified(&self, f: &Function, outer: &MInst, slot: usize, at: (usize, usize)) -> Option<Found> {
        let Op::Machine(old, mut mods) = outer.op else { return None };
        let (result, inner) = self.inner(f, outer.operands[1 + slot], at)?;
        let name = plain(inner)?.entry.mnemonic;
        let MOperand::Fixed(Operand::Literal(mask)) = inner.operands[1] else { return None };
        let modifier = MODIFIERS.iter().find(|m| m.inner == name && m.mask == mask)?;
        let bit = 1 << slot;
        (modifier.apply)(&mut mods, bit);
        let mut sources: SmallVec<[MOperand; 3]> = outer.operands[1..].into();
        sources[slot] = inner.operands[2];
        let able = |row: &&InstDesc| row.bits.neg & row.bits.abs & bit != 0;
        let row = self
            .rows
            .get(old.entry.mnemonic)?
            .iter()
            .filter(|row| able(row))
            .find(|row| takes(f, row, &sources))?;
        Some(Found { row, mods, sources, inner: result, literal: None })
    }

    /// The instruction that defines a source, if it is the only definition and evaluating it at `at` would give the
    /// same result.
    fn inner<'f>(&self, f: &'f Function, source: MOperand, at: (usize, usize)) -> Option<(VReg, &'f MInst)> {
        let MOperand::Virt(result) = source else { return None };
        let known = self.uses[result.reg.0 as usize];
        let (block, index) = (known.writer.0 as usize, known.writer.1 as usize);
        let inner = f.blocks.get(block)?.insts.get(index)?;
        // Do not fold an instruction from outside into a deeper loop, where it would be evaluated in each iteration.
        let before = (block, index) < at && f.blocks[block].loop_depth >= f.blocks[at.0].loop_depth;
        if known.writers != 1 || known.named || !before {
            return None;
        }
        let stays = |operand: &MOperand| self.keeps_its_value(f, operand, (block, index), at);
        inner.operands.get(1..)?.iter().all(stays).then_some((result.reg, inner))
    }

    /// True if a read of the operand at `to` gives the same value as a read at `from`.
    fn keeps_its_value(
        &self,
        f: &Function,
        operand: &MOperand,
        from: (usize, usize),
        to: (usize, usize),
    ) -> bool {
        let MOperand::Virt(slice) = operand else { return is_constant(operand) };
        let known = self.uses[slice.reg.0 as usize];
        let writer = (known.writer.0 as usize, known.writer.1 as usize);
        // The register has a single definition, which comes before `from`.
        if known.writers == 1 && writer < from {
            return true;
        }
        let writes = |inst: &MInst| {
            let of_slice = |o: &MOperand| matches!(o, MOperand::Virt(s) if s.reg == slice.reg);
            inst.operands.iter().enumerate().any(|(i, o)| of_slice(o) && accesses(inst, i).1)
        };
        from.0 == to.0
            && to.1 - from.1 <= MAX_DISTANCE
            && !f.blocks[from.0].insts[from.1..to.1].iter().any(writes)
    }
}

/// The largest distance between two instructions for which the code between them is searched for writes of a register
/// that has several writers. The bound keeps the pass linear.
const MAX_DISTANCE: usize = 64;

/// For each replacement instruction, by mnemonic, its encodings on this target.
fn rows(on: Subtarget) -> HashMap<&'static str, SmallVec<[&'static InstDesc; 2]>> {
    let encodings = |name| {
        table::find_operation(on, name)
            .filter(|row| !row.format.is_dpp() && !row.format.is_sdwa() && reaches_all(row))
    };
    let results = PATTERNS.iter().map(|p| p.result);
    results
        .chain(FLOATS.iter().copied())
        .chain([mix::MIX, SELECTION])
        .chain(clamp::MEDIANS)
        .map(|name| (name, encodings(name).collect()))
        .collect()
}

/// The table row of an instruction with two sources, a register as result and no modifiers; `None` for all other
/// instructions.
fn plain(inst: &MInst) -> Option<&'static InstDesc> {
    let Op::Machine(row, mods) = &inst.op else { return None };
    let simple = inst.operands.len() == 3 && !inst.keeps_dst && *mods == row.default_mods();
    (simple
        && matches!(row.class, Class::Valu | Class::Salu)
        && !row.format.is_dpp()
        && !row.format.is_sdwa())
    .then_some(row)
}

/// The table row of an instruction that is one of `FLOATS`; `None` for all others.
fn float(inst: &MInst) -> Option<&'static InstDesc> {
    let Op::Machine(row, _) = &inst.op else { return None };
    (!inst.keeps_dst && FLOATS.contains(&row.entry.mnemonic)).then_some(row)
}

/// The table row of an instruction that can change the signs of its sources; `None` for all others.
fn signed(inst: &MInst) -> Option<&'static InstDesc> {
    let Op::Machine(row, _) = &inst.op else { return None };
    float(inst).or_else(|| (!inst.keeps_dst && row.entry.mnemonic == SELECTION).then_some(*row))
}

/// Two flags: true if the instruction reads its operand `slot`, and true if it writes that operand.
pub(super) fn accesses(inst: &MInst, slot: usize) -> (bool, bool) {
    match &inst.op {
        Op::Machine(row, _) => match row.operands.get(slot).map(|s| s.access) {
            Some(Access::Write) => (inst.keeps_dst, true),
            Some(Access::ReadWrite) => (true, true),
            _ => (true, false),
        },
        Op::Copy | Op::Undef => (slot > 0 || inst.keeps_dst, slot == 0),
        Op::Order | Op::Mark(_) => (false, false),
    }
}

/// The number of set bits of an operand that is a constant mask of low bits (2^n - 1); `None` for other operands.
fn low_bits(operand: &MOperand) -> Option<u32> {
    let mask = match operand {
        MOperand::Fixed(Operand::Inline(inline)) => inline.bits32(),
        MOperand::Fixed(Operand::Literal(bits)) => *bits,
        _ => return None,
    };
    (mask > 0 && mask & mask.wrapping_add(1) == 0).then_some(mask.count_ones())
}

/// The shift count, if it is constant.
fn count(operand: &MOperand) -> Option<u32> {
    match operand {
        MOperand::Fixed(Operand::Inline(inline)) => {
            Some(inline.bits32()).filter(|count| (1..32).contains(count))
        }
        _ => None,
    }
}

fn is_constant(operand: &MOperand) -> bool {
    matches!(
        operand,
        MOperand::Fixed(Operand::Inline(Inline::Int(_) | Inline::Float(_)) | Operand::Literal(_))
    )
}

/// True if the encoding accepts these operands.
fn takes(f: &Function, row: &InstDesc, operands: &[MOperand]) -> bool {
    takes_beside(f, row, operands, Bus::new(row, f.target))
}

/// As `takes`, if other operands already use the constant bus as `bus` says.
fn takes_beside(f: &Function, row: &InstDesc, operands: &[MOperand], mut bus: Bus) -> bool {
    let mut slots = row.operands.iter().filter(|slot| slot.access != Access::Write);
    operands.iter().all(|operand| {
        let (src, file) = match operand {
            MOperand::Virt(slice) => (Src::Reg(*slice), Some(f.info(slice.reg).file)),
            MOperand::Fixed(fixed) => (Src::Fixed(*fixed), None),
        };
        let agpr = file == Some(RegFile::Agpr);
        !agpr && slots.next().is_some_and(|slot| slot_takes(slot, src, file) && bus.take(src, file))
    }) && slots.next().is_none()
}
