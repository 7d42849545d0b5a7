//! Combines products of words and the sums that they are terms of: `v_mul_lo_u32` and `v_add_u32` become
//! `v_mad_u64_u32` where it takes as long as the multiplication alone. On RDNA it takes longer, as operations on 64 bits
//! do there (LLVM's scheduling model).
//!
//! The addend and the result of that instruction are pairs of registers. Only the lower halves matter, since the lower
//! half of the result depends on no other. So the registers of the addend and of the result are made longer, which needs
//! no copies; the upper half of the addend is undefined.

use gcn_isa::RegFile;
use gcn_isa::operand::{Inline, Operand};
use gcn_isa::table::{self, InstDesc};
use hashbrown::HashSet;
use smallvec::SmallVec;

use super::clamp::constant;
use super::literals::Literals;
use super::{Facts, accesses, plain, takes};
use crate::mir::{Function, MInst, MOperand, Op, VReg, VRegInfo, VSlice, dce};

const PRODUCT: &str = "v_mul_lo_u32";
const MULTIPLY_ADD: &str = "v_mad_u64_u32";
/// For each sum, the number of products from which on it is replaced. With one product, `v_mul_lo_u32` and `v_add3_u32`
/// are as few instructions as `v_mad_u64_u32` and `v_add_u32`.
const SUMS: [(&str, usize); 3] = [("v_add_u32", 1), ("v_add3_u32", 2), (DIFFERENCE, 1)];
/// The subtraction of a product with a constant factor is the addition of the product with the negative constant.
const DIFFERENCE: &str = "v_sub_u32";

pub(super) fn run(f: &mut Function, literals: &mut Literals) {
    let insts = || f.blocks.iter().flat_map(|block| &block.insts);
    let is_product = |inst: &MInst| plain(inst).is_some_and(|row| row.entry.mnemonic == PRODUCT);
    let row = |name| table::find_operation(f.on(), name).next();
    let (Some(product), Some(row)) = (row(PRODUCT), row(MULTIPLY_ADD)) else { return };
    if row.class != product.class || !insts().any(is_product) {
        return;
    }
    // Instructions that other patterns have replaced still read products.
    dce::run(f);
    let mut pass = Sums { row, facts: Facts::of_uses(f), copied: copied(f), pairs: HashSet::new() };
    // Go backwards, so that positions in front stay valid.
    for block in (0..f.blocks.len()).rev() {
        for index in (0..f.blocks[block].insts.len()).rev() {
            if let Some(insts) = pass.replacement(f, literals, (block, index)) {
                f.blocks[block].insts.splice(index..=index, insts);
            }
        }
    }
    begin(f, &pass.pairs);
}

struct Sums {
    row: &'static InstDesc,
    facts: Facts,
    /// The registers that are copied to or from tuples. They may become a part of the tuple.
    copied: HashSet<VReg>,
    /// The registers that have become pairs.
    pairs: HashSet<VReg>,
}

impl Sums {
    /// The multiply-adds that replace the instruction at this position, if it is a sum with enough products.
    fn replacement(
        &mut self,
        f: &mut Function,
        literals: &mut Literals,
        at: (usize, usize),
    ) -> Option<SmallVec<[MInst; 2]>> {
        let sum = f.blocks[at.0].insts[at.1].clone();
        let Op::Machine(desc, mods) = &sum.op else { return None };
        let (_, least) = SUMS.iter().find(|(name, _)| *name == desc.entry.mnemonic)?;
        if sum.keeps_dst || *mods != desc.default_mods() || desc.format.is_dpp() || desc.format.is_sdwa() {
            return None;
        }
        let mut terms: SmallVec<[MOperand; 3]> = sum.operands[1..].into();
        let mut factors: SmallVec<[[MOperand; 2]; 2]> = SmallVec::new();
        for slot in (0..terms.len()).rev() {
            if factors.len() < *least
                && let Some(of) = self.factors(f, terms[slot], at)
            {
                factors.push(of);
                terms.remove(slot);
            }
        }
        let [addend] = terms[..] else { return None };
        let (mut addend, result) = (self.as_pair(f, addend)?, self.as_pair(f, sum.operands[0])?);
        if !factors.iter().all(|[a, b]| takes(f, self.row, &[*a, *b, addend])) {
            return None;
        }
        if desc.entry.mnemonic == DIFFERENCE {
            let [of] = &mut factors[..] else { return None };
            // The first term is not negated.
            if terms[0] != sum.operands[1] {
                return None;
            }
            self.negate(f, of, literals, at)?;
        }
        [addend, result].into_iter().for_each(|operand| self.make_pair(f, operand));
        let mut insts = SmallVec::new();
        while let Some([a, b]) = factors.pop() {
            let to = match factors.is_empty() {
                true => result,
                false => whole(f, RegFile::Vgpr, 2),
            };
            let carry = whole(f, RegFile::Sgpr, f.wave.mask_registers());
            let operands = [to, carry, a, b, addend].into_iter().collect();
            insts.push(MInst { op: Op::Machine(self.row, self.row.default_mods()), operands, ..sum.clone() });
            addend = to;
        }
        Some(insts)
    }

    /// The factors of a term that is a product which nothing else reads.
    fn factors(&self, f: &Function, term: MOperand, at: (usize, usize)) -> Option<[MOperand; 2]> {
        let (result, inner) = self.facts.inner(f, term, at)?;
        let alone = self.facts.uses[result.0 as usize].readers == 1;
        (alone && plain(inner)?.entry.mnemonic == PRODUCT).then(|| [inner.operands[1], inner.operands[2]])
    }

    /// Changes the sign of a constant factor; `None` if there is none.
    fn negate(
        &self,
        f: &mut Function,
        factors: &mut [MOperand; 2],
        literals: &mut Literals,
        at: (usize, usize),
    ) -> Option<()> {
        let slot = factors.iter().position(|factor| self.constant(f, *factor).is_some())?;
        let negative = Operand::const32(self.constant(f, factors[slot])?.wrapping_neg());
        factors[slot] = match (factors[slot], negative) {
            (MOperand::Virt(_), Operand::Literal(_)) => literals.register(f, at, MOperand::Fixed(negative)),
            (MOperand::Fixed(Operand::Inline(_)), Operand::Literal(_)) => return None,
            _ => MOperand::Fixed(negative),
        };
        Some(())
    }

    /// The value of a constant, or of a scalar register that only ever contains this constant.
    fn constant(&self, f: &Function, operand: MOperand) -> Option<u32> {
        let MOperand::Virt(slice) = operand else { return constant(operand) };
        let known = self.facts.uses[slice.reg.0 as usize];
        let (block, index) = (known.writer.0 as usize, known.writer.1 as usize);
        match (known.writers, f.blocks.get(block)?.insts.get(index)) {
            (1, Some(MInst { op: Op::Copy, operands, .. })) if slice.len == 1 => constant(operands[1]),
            _ => None,
        }
    }

    /// An addend or result as an operand of 64 bits, of which the upper half does not matter; `None` if this needs a copy.
    fn as_pair(&self, f: &Function, operand: MOperand) -> Option<MOperand> {
        match operand {
            MOperand::Virt(slice) => {
                let info = f.info(slice.reg);
                let free = info.len == 1
                    && !self.copied.contains(&slice.reg)
                    && !self.facts.uses[slice.reg.0 as usize].named;
                (info.file == RegFile::Vgpr && (free || self.pairs.contains(&slice.reg)))
                    .then_some(MOperand::Virt(VSlice { len: 2, ..slice }))
            }
            MOperand::Fixed(Operand::Inline(Inline::Int(_)) | Operand::Literal(_)) => Some(operand),
            MOperand::Fixed(_) => None,
        }
    }

    fn make_pair(&mut self, f: &mut Function, operand: MOperand) {
        if let MOperand::Virt(slice) = operand
            && self.pairs.insert(slice.reg)
        {
            let align = f.target.tuple_alignment(RegFile::Vgpr, 2);
            f.vregs[slice.reg.0 as usize] = VRegInfo { file: RegFile::Vgpr, len: 2, align };
        }
    }
}

/// A new register.
fn whole(f: &mut Function, file: RegFile, len: u8) -> MOperand {
    MOperand::Virt(VSlice { reg: f.new_vreg(file, len), start: 0, len })
}

/// The registers that are copied to or from tuples.
fn copied(f: &Function) -> HashSet<VReg> {
    let mut found = HashSet::new();
    for inst in f.blocks.iter().flat_map(|block| &block.insts) {
        if let (Op::Copy, [MOperand::Virt(to), MOperand::Virt(from)]) = (&inst.op, &inst.operands[..])
            && [to, from].into_iter().any(|slice| f.info(slice.reg).len > 1)
        {
            found.extend([to.reg, from.reg]);
        }
    }
    found
}

/// Marks the upper half of each pair as undefined where a new value of its lower half is computed.
fn begin(f: &mut Function, pairs: &HashSet<VReg>) {
    let whole = |reg: VReg| VSlice { reg, start: 0, len: 2 };
    for block in f.blocks.iter_mut().filter(|_| !pairs.is_empty()) {
        let mut insts = Vec::with_capacity(block.insts.len());
        for inst in std::mem::take(&mut block.insts) {
            for (slot, operand) in inst.operands.iter().enumerate() {
                let MOperand::Virt(part) = operand else { continue };
                let reads = |(slot, operand): (usize, &MOperand)| {
                    matches!(operand, MOperand::Virt(s) if s.reg == part.reg) && accesses(&inst, slot).0
                };
                if part.len == 1
                    && pairs.contains(&part.reg)
                    && accesses(&inst, slot).1
                    && !inst.operands.iter().enumerate().any(reads)
                {
                    let operands = [MOperand::Virt(whole(part.reg))].into_iter().collect();
                    insts.push(MInst { op: Op::Undef, operands, keeps_dst: false, loc: inst.loc });
                }
            }
            insts.push(inst);
        }
        block.insts = insts;
    }
}
