//! Limits to an interval of two constants: `v_med3`, or `clamp` for the interval 0 to 1.
//!
//! `min(max(x, low), high)` with `low <= high` is the median of the three. For floats this is not true if `x` is a
//! signalling NaN, which `v_max` quiets; so `x` must be the result of arithmetic, which is never a signalling NaN. A
//! quiet NaN gives `low` in both forms: the median of a NaN and two numbers is the smaller number, and `clamp` turns a
//! NaN into 0 (DX10_CLAMP, which every kernel sets). A lower bound of zero keeps the sign that `max` gives it, since
//! the upper bound is not zero.

use gcn_isa::mods::Modifiers;
use gcn_isa::operand::{Inline, Operand};
use gcn_isa::table::Class;
use smallvec::SmallVec;

use super::{Bus, Facts, Found, MInst, MOperand, Op, float, plain, takes_beside};
use crate::mir::Function;

/// A minimum and a maximum instruction, and the median that replaces both.
struct Row {
    min: &'static str,
    max: &'static str,
    median: &'static str,
    /// True if the first bound is not above the second and the median is correct for these bounds.
    ordered: fn(u32, u32) -> bool,
    of_float: bool,
}

const fn row(
    min: &'static str,
    max: &'static str,
    median: &'static str,
    ordered: fn(u32, u32) -> bool,
) -> Row {
    Row { min, max, median, ordered, of_float: false }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("v_min_i32", "v_max_i32", "v_med3_i32", |low, high| low.cast_signed() <= high.cast_signed()),
    row("v_min_u32", "v_max_u32", "v_med3_u32", |low, high| low <= high),
    Row { of_float: true, ..row("v_min_f32", "v_max_f32", MEDIAN_F32, |low, high| {
        let (low, high) = (f32::from_bits(low), f32::from_bits(high));
        low < high && high != 0.0
    }) },
];

pub(super) const MEDIANS: [&str; 3] = ["v_med3_i32", "v_med3_u32", MEDIAN_F32];
const MEDIAN_F32: &str = "v_med3_f32";

impl Facts {
    /// The median, or the clamped instruction, that can replace `outer`.
    pub(super) fn limited(&self, f: &Function, outer: &MInst, at: (usize, usize)) -> Option<Found> {
        let Op::Machine(desc, mods) = &outer.op else { return None };
        if desc.entry.mnemonic == MEDIAN_F32 && *mods == desc.default_mods() && !outer.keeps_dst {
            return self.clamped(f, outer, at);
        }
        self.median(f, outer, at)
    }

    fn median(&self, f: &Function, outer: &MInst, at: (usize, usize)) -> Option<Found> {
        let name = plain(outer)?.entry.mnemonic;
        // The mode register determines how NaNs are treated.
        let row = ROWS
            .iter()
            .find(|row| [row.min, row.max].contains(&name) && !(row.of_float && self.sets_mode))?;
        let of = |name: &str| if name == row.min { row.max } else { row.min };
        for slot in 0..2 {
            let Some(bound) = constant(outer.operands[2 - slot]) else { continue };
            let Some((result, inner)) = self.inner(f, outer.operands[1 + slot], at) else { continue };
            if plain(inner).is_none_or(|desc| desc.entry.mnemonic != of(name)) {
                continue;
            }
            for slot in 0..2 {
                let Some(other) = constant(inner.operands[2 - slot]) else { continue };
                let (low, high) = if name == row.min { (other, bound) } else { (bound, other) };
                // If the maximum is applied last, a NaN gives the upper bound instead.
                let of_float =
                    row.of_float && (name != row.min || !self.is_arithmetic(f, inner.operands[1 + slot]));
                if of_float || !(row.ordered)(low, high) {
                    continue;
                }
                let bounds = [low, high].map(|bits| MOperand::Fixed(Operand::const32(bits)));
                let sources = SmallVec::from([inner.operands[1 + slot], bounds[0], bounds[1]]);
                return self.with_literal(f, row.median, Modifiers::empty(), sources).map(|mut found| {
                    found.inner = result;
                    found
                });
            }
        }
        None
    }

    /// Chooses an encoding that accepts the sources with these modifiers. At most one literal source may have to be
    /// moved to a register.
    pub(super) fn with_literal(
        &self,
        f: &Function,
        name: &str,
        modifiers: Modifiers,
        sources: SmallVec<[MOperand; 3]>,
    ) -> Option<Found> {
        let is_literal = |s: &MOperand| matches!(s, MOperand::Fixed(Operand::Literal(_)));
        let literal = sources.iter().position(is_literal);
        let row =
            self.rows.get(name)?.iter().filter(|row| row.modifiers.contains(modifiers)).find(|row| {
                let mut sources = sources.clone();
                if let Some(slot) = literal {
                    sources[slot] = MOperand::Fixed(Operand::Inline(Inline::Int(0)));
                }
                // The register that receives the literal counts as one of the scalars that an instruction may read.
                let bus = Bus::new(row, f.target);
                let bus = if literal.is_some() { bus.with_another() } else { bus };
                takes_beside(f, row, &sources, bus)
            })?;
        let mods = row.default_mods();
        Some(Found { row, mods, sources, inner: crate::mir::VReg(0), literal })
    }

    /// Matches a median of 0, 1 and the result of an instruction that can clamp it itself.
    fn clamped(&self, f: &Function, outer: &MInst, at: (usize, usize)) -> Option<Found> {
        let bounds = [constant(outer.operands[2])?, constant(outer.operands[3])?];
        if bounds != [0, 1f32.to_bits()] || self.sets_mode {
            return None;
        }
        let (result, inner) = self.inner(f, outer.operands[1], at)?;
        let (Op::Machine(_, old), Some(desc)) = (&inner.op, float(inner)) else { return None };
        // Other readers would need the unclamped result.
        if self.uses[result.0 as usize].readers != 1 || desc.class != Class::Valu || old.clamp {
            return None;
        }
        let sources: SmallVec<[MOperand; 3]> = inner.operands[1..].into();
        let found = self.with_literal(f, desc.entry.mnemonic, Modifiers::CLAMP, sources)?;
        let mods = gcn_isa::inst::Mods { clamp: true, ..*old };
        Some(Found { mods, inner: result, ..found })
    }

    /// True for a result of float arithmetic, which is never a signalling NaN.
    fn is_arithmetic(&self, f: &Function, source: MOperand) -> bool {
        let MOperand::Virt(result) = source else { return false };
        let known = self.uses[result.reg.0 as usize];
        let writer = f.blocks.get(known.writer.0 as usize).and_then(|b| b.insts.get(known.writer.1 as usize));
        known.writers == 1 && writer.and_then(float).is_some_and(|row| row.class == Class::Valu)
    }
}

/// The bits of a constant.
pub(super) fn constant(operand: MOperand) -> Option<u32> {
    match operand {
        MOperand::Fixed(Operand::Inline(inline @ (Inline::Int(_) | Inline::Float(_)))) => {
            Some(inline.bits32())
        }
        MOperand::Fixed(Operand::Literal(bits)) => Some(bits),
        _ => None,
    }
}
