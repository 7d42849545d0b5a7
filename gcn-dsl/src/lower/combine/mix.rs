//! Folds conversions from f16 to f32 into `v_fma_mix_f32`, whose sources may each be f16 or f32, in either half of a
//! register.
//!
//! A sum becomes a fused multiply-add with factor 1, a product one with addend -0. The results are identical, including
//! signs of zeros, unless the rounding mode is towards minus infinity. So nothing is folded in kernels that set MODE,
//! where the denormal mode could also change between the conversion and its reader. gfx900 is excluded because its
//! `v_mad_mix_f32` flushes denormals.

use gcn_isa::inst::Mods;
use gcn_isa::operand::{Inline, Operand};
use smallvec::SmallVec;

use super::sdwa::WORDS;
use super::{Facts, Found, MInst, MOperand, Op, takes};
use crate::mir::Function;

/// The replacement instruction.
pub(super) const MIX: &str = "v_fma_mix_f32";
/// The conversion that is folded.
const CONVERSION: &str = "v_cvt_f32_f16";

/// The origin of a source of the mixed instruction.
#[derive(Clone, Copy)]
enum Part {
    /// A source of the original instruction.
    Source(usize),
    /// A source of the original instruction, negated.
    Minus(usize),
    One,
    MinusZero,
}
use Part::{Minus, MinusZero, One, Source};

/// The `v_fma_mix` form of an instruction.
struct Row {
    outer: &'static str,
    sources: [Part; 3],
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { outer: "v_add_f32", sources: [Source(0), One, Source(1)] },
    Row { outer: "v_sub_f32", sources: [Source(0), One, Minus(1)] },
    Row { outer: "v_mul_f32", sources: [Source(0), Source(1), MinusZero] },
    Row { outer: "v_fma_f32", sources: [Source(0), Source(1), Source(2)] },
    Row { outer: MIX, sources: [Source(0), Source(1), Source(2)] },
];

impl Facts {
    /// The mixed instructions that can replace `outer`.
    pub(super) fn mixed<'a>(
        &'a self,
        f: &'a Function,
        outer: &'a MInst,
        at: (usize, usize),
    ) -> impl Iterator<Item = Found> + 'a {
        let name = match &outer.op {
            Op::Machine(row, mods) if !mods.clamp && mods.omod == 0 && !row.format.is_dpp() => {
                row.entry.mnemonic
            }
            _ => "",
        };
        let rows = ROWS.iter().filter(move |row| row.outer == name && !outer.keeps_dst);
        let slots = rows.flat_map(move |row| (0..outer.operands.len() - 1).map(move |slot| (row, slot)));
        slots.filter_map(move |(row, slot)| self.mix(f, (row, slot), outer, at))
    }

    /// The mixed instruction that reads source `half` as f16.
    fn mix(
        &self,
        f: &Function,
        (row, half): (&Row, usize),
        outer: &MInst,
        at: (usize, usize),
    ) -> Option<Found> {
        let Op::Machine(_, old) = &outer.op else { return None };
        if self.sets_mode {
            return None;
        }
        let (result, inner) = self.inner(f, outer.operands[1 + half], at)?;
        let plain = matches!(&inner.op, Op::Machine(desc, mods)
            if desc.entry.mnemonic == CONVERSION && *mods == desc.default_mods() && !desc.format.is_sdwa() && !desc.format.is_dpp());
        let of_register = matches!(inner.operands.get(1), Some(MOperand::Virt(_)));
        if !plain || !of_register || inner.keeps_dst || old.op_sel_hi >> half & 1 == 1 {
            return None;
        }
        // The upper or lower half of a dword is read where it is, so that it need not be extracted.
        let (narrow, upper) = match self.extracted(f, inner.operands[1], at) {
            Some((_, part)) if WORDS.contains(&part.selector) => (part.of, part.selector == WORDS[1]),
            _ => (inner.operands[1], false),
        };
        let desc = *self.rows.get(MIX)?.first()?;
        let mut mods = Mods { op_sel: 0, op_sel_hi: 0, ..desc.default_mods() };
        let mut sources: SmallVec<[MOperand; 3]> = SmallVec::new();
        for (i, from) in row.sources.into_iter().enumerate() {
            let bit = 1 << i;
            match from {
                Source(slot) | Minus(slot) => {
                    let of = |bits: u8| if bits >> slot & 1 == 1 { bit } else { 0 };
                    let is_half = slot == half;
                    sources.push(if is_half { narrow } else { outer.operands[1 + slot] });
                    mods.neg |= of(old.neg);
                    mods.abs |= of(old.abs);
                    mods.op_sel |= if is_half && upper { bit } else { of(old.op_sel) };
                    mods.op_sel_hi |= if is_half { bit } else { of(old.op_sel_hi) };
                    if matches!(from, Minus(_)) {
                        mods.neg ^= bit;
                    }
                }
                One => sources.push(MOperand::Fixed(Operand::const32(1f32.to_bits()))),
                MinusZero => {
                    sources.push(MOperand::Fixed(Operand::Inline(Inline::Int(0))));
                    mods.neg |= bit;
                }
            }
        }
        takes(f, desc, &sources).then_some(Found { row: desc, mods, sources, inner: result, literal: None })
    }
}
