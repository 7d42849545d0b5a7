//! The cost model of packing: which pairs save instructions.

use gcn_isa::Operand;
use hashbrown::HashMap;

use super::super::uniform;
use super::super::{Inst, Manner, Place, Value};
use super::half::Half;
use super::{Origin, Pair, Pairs, Source};
use crate::scalar::Elem;

impl Pairs<'_> {
    /// Drops pairs whose results have readers outside of pairs, unless these readers come after both results and can
    /// read them in place.
    pub(super) fn drop_shared(&mut self) {
        let mut readers: HashMap<Value, Vec<Value>> = HashMap::new();
        let kernel = self.kernel;
        kernel.body.each_inst(&mut |v| {
            kernel.def(v).inst.operands(|operand| {
                if self.pair_of.contains_key(&operand) {
                    readers.entry(operand).or_default().push(v);
                }
            });
        });
        let mut work: Vec<usize> = (0..self.pairs.len()).collect();
        while let Some(at) = work.pop() {
            let pair = &self.pairs[at];
            let stays = if pair.elem == Elem::F32 {
                pair.results
                    .iter()
                    .flat_map(|v| readers.get(v))
                    .flatten()
                    .all(|reader| self.may_read(*reader, at))
            } else {
                pair.results.map(|v| self.readers[v.0 as usize]) == [pair.readers; 2]
            };
            if !pair.kept || stays {
                continue;
            }
            let results = pair.results;
            self.pairs[at].kept = false;
            for source in std::mem::take(&mut self.pairs[at].sources) {
                if let Origin::Pair(of) = source.from {
                    self.pairs[of].readers -= 1;
                    work.push(of);
                }
            }
            for result in results {
                kernel.def(result).inst.operands(|operand| work.extend(self.pair_of.get(&operand)));
            }
        }
    }

    /// True if `reader` comes after both results of the pair, or is itself a result of a pair that reads them, which is
    /// emitted after them.
    fn may_read(&self, reader: Value, pair: usize) -> bool {
        let order = |v: Value| self.at[v.0 as usize].order;
        let reads = |of: &Pair| of.sources.iter().any(|s| matches!(s.from, Origin::Pair(of) if of == pair));
        order(reader) > order(self.pairs[pair].last)
            || self.pair_of.get(&reader).is_some_and(|of| self.pairs[*of].kept && reads(&self.pairs[*of]))
    }

    /// Drops connected sets of pairs of dwords that cost more instructions than they save.
    pub(super) fn drop_costly(&mut self) {
        let mut saved = vec![0; self.pairs.len()];
        // The sources of a pair have larger indices than the pair.
        for at in (0..self.pairs.len()).rev() {
            self.separate(at);
            let pair = &self.pairs[at];
            let of_source = |source: &Source| match source.from {
                Origin::Pair(of) if of > at => saved[of],
                _ => 0,
            };
            saved[at] = self.saves(pair) + pair.sources.iter().map(of_source).sum::<i32>();
            self.pairs[at].kept &= pair.elem != Elem::F32 || saved[at] >= 0;
        }
    }

    pub(super) fn separate_all(&mut self) {
        (0..self.pairs.len()).for_each(|at| self.separate(at));
    }

    /// Makes the readers of a dropped pair read its results as two separate values.
    fn separate(&mut self, at: usize) {
        let mut sources = std::mem::take(&mut self.pairs[at].sources);
        for source in &mut sources {
            if let Origin::Pair(of) = source.from
                && !self.pairs[of].kept
            {
                source.from = Origin::Apart(self.pairs[of].results.map(Half::Low));
            }
        }
        self.pairs[at].sources = sources;
    }

    /// The pairs whose packing pays, in program order.
    pub(super) fn paying(&self) -> Vec<usize> {
        let mut groups = Groups((0..self.pairs.len()).collect());
        let kept = || self.pairs.iter().enumerate().filter(|(_, pair)| pair.kept);
        for (at, pair) in kept() {
            for source in &pair.sources {
                if let Origin::Pair(of) = source.from {
                    groups.join(at, of);
                }
            }
        }
        let mut saved = vec![0; self.pairs.len()];
        kept().for_each(|(at, pair)| saved[groups.first(at)] += self.saves(pair));
        for word in &self.words {
            saved[groups.first(word.pair)] += word.costs;
        }
        let mut paying: Vec<usize> =
            kept().map(|(at, _)| at).filter(|at| saved[groups.first(*at)] > 0).collect();
        paying.sort_unstable_by_key(|at| self.at[self.pairs[*at].last.0 as usize].order);
        paying
    }

    /// The number of instructions that packing the pair saves.
    fn saves(&self, pair: &Pair) -> i32 {
        // Narrow integer results must be extended again after single instructions.
        let single = if pair.elem.is_float() { 2 } else { 4 };
        let moves: i32 = pair.sources.iter().map(|source| self.moves(pair, source.from)).sum();
        let scalars = pair.sources.iter().filter(|source| self.is_scalar(source.from)).count() as i32;
        // An instruction can read only one scalar register.
        single - 1 - moves - (scalars - 1).max(0)
    }

    /// The number of instructions needed to compose a source.
    fn moves(&self, pair: &Pair, from: Origin) -> i32 {
        match from {
            Origin::Apart(halves) if pair.elem == Elem::F32 => {
                halves.into_iter().map(|half| i32::from(!self.is_free(half, pair))).sum()
            }
            Origin::Apart(_) => 1,
            Origin::Halves(v, _) if pair.elem == Elem::F32 => {
                i32::from(!matches!(self.kernel.def(v).inst, Inst::Splat(_)) && !self.is_computed(v))
            }
            _ => 0,
        }
    }

    /// True for a dword that can be computed directly in the register next to the other dword, because no other pair
    /// needs it in another place.
    fn is_free(&self, half: Half, pair: &Pair) -> bool {
        let Half::Low(v) = half else { return false };
        let here = self.at[v.0 as usize].region == self.at[pair.last.0 as usize].region;
        self.is_computed(v) && here && self.readers[v.0 as usize] <= 2
    }

    fn is_computed(&self, v: Value) -> bool {
        let inst = &self.kernel.def(v).inst;
        matches!(
            inst,
            Inst::Bin(..)
                | Inst::Fma(..)
                | Inst::Un(..)
                | Inst::Cast(_)
                | Inst::Load { manner: Manner::Plain, .. }
        )
    }

    fn is_scalar(&self, from: Origin) -> bool {
        match from {
            Origin::Halves(v, _) => {
                matches!(self.kernel.def(v).inst, Inst::Splat(of) if !uniform::is_computed(self.kernel, of))
            }
            Origin::Dwords(v, ..) => self.kernel.ty(v).place == Place::Uniform,
            Origin::Constant(bits) => !is_inline(bits),
            _ => false,
        }
    }
}

/// True for inline constants, which need no literal.
pub(super) fn is_inline(bits: u32) -> bool {
    !matches!(Operand::const32(bits), Operand::Literal(_))
}

/// Disjoint sets (union-find).
struct Groups(Vec<usize>);

impl Groups {
    fn first(&self, mut at: usize) -> usize {
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        // The smaller index is the root; paths stay short because pairs are joined in ascending order.
        self.0[a.max(b)] = a.min(b);
    }
}
