//! Packed arithmetic from scalar code: two equal operations whose results become the halves of a register are one packed
//! instruction (superword-level parallelism; Larsen and Amarasinghe, PLDI 2000).
//!
//! The pass starts at words that are put together of two results, as for wide stores, and follows both to their operands: equal
//! operations there are a pair again, halves of one register are read where they are, and what is left is put together by an
//! instruction. A pair is packed only if nothing else reads its results; else they would be computed twice. Pairs that belong
//! together are packed if that saves instructions.
//!
//! A packed instruction gives the bits that the two single ones give. It stands at the place of the later one; both are in one
//! region, so that the same lanes run.

mod emit;
mod half;
mod table;

use gcn_isa::Target;
use hashbrown::HashMap;
use smallvec::SmallVec;

pub use table::{Packed, exists, instruction};

use super::mark::Mark;
use super::{Bin, Inst, Kernel, Place, Region, Schedule, Stmt, Type, Value};
use crate::scalar::Elem;
use half::Half;

/// Packs what pays. True if anything is packed.
pub fn run(kernel: &mut Kernel, target: Target) -> bool {
    let Some(mut pairs) = Pairs::of(kernel, target) else { return false };
    pairs.drop_shared();
    let packed = pairs.paying();
    if packed.is_empty() {
        return false;
    }
    let Pairs { pairs, words, .. } = pairs;
    emit::run(kernel, &pairs, &packed, &words);
    true
}

/// A source of a packed instruction.
struct Source {
    from: Origin,
    /// The signs of the low and of the high half are changed.
    negated: [bool; 2],
}

#[derive(Clone, Copy)]
enum Origin {
    /// The results of a pair.
    Pair(usize),
    /// Halves of one register; true for its high one.
    Halves(Value, [bool; 2]),
    /// The same constant twice.
    Constant(u16),
    /// Two values, which an instruction puts together.
    Apart([Half; 2]),
}

/// Two operations that may become one.
struct Pair {
    op: Packed,
    elem: Elem,
    results: [Value; 2],
    /// The later result in program order.
    last: Value,
    sources: SmallVec<[Source; 3]>,
    /// How often the results are read by pairs and by words that are put together of them.
    readers: usize,
    kept: bool,
}

/// Where a value is computed.
#[derive(Clone, Copy, Default, PartialEq)]
struct At {
    region: u32,
    /// In program order; 0 if it is not.
    order: u32,
}

struct Pairs<'k> {
    kernel: &'k Kernel,
    target: Target,
    at: Vec<At>,
    /// How often each value is read.
    readers: Vec<usize>,
    pairs: Vec<Pair>,
    known: HashMap<[Value; 2], usize>,
    /// Words that are put together of the results of a pair.
    words: Vec<(Value, usize)>,
}

impl<'k> Pairs<'k> {
    /// The pairs of a kernel; none if their order or the mode in which they are computed matters.
    fn of(kernel: &'k Kernel, target: Target) -> Option<Pairs<'k>> {
        let (mut narrow, mut fixed) = (false, false);
        kernel.body.each_inst(&mut |v| match &kernel.def(v).inst {
            Inst::Bin(..) | Inst::Fma(..) => narrow |= is_narrow(kernel.ty(v)),
            Inst::Machine(call) => fixed |= call.changes_mode(),
            Inst::Schedule(what) => fixed |= **what != Schedule::Mark(Mark::Cold),
            _ => {}
        });
        if !narrow || fixed {
            return None;
        }
        let values = kernel.values.len();
        let mut found = Pairs {
            kernel,
            target,
            at: vec![At::default(); values],
            readers: vec![0; values],
            pairs: Vec::new(),
            known: HashMap::new(),
            words: Vec::new(),
        };
        found.visit(&kernel.body, &mut At::default());
        kernel.body.each_inst(&mut |v| found.word(v));
        Some(found)
    }

    /// Notes places and readers.
    fn visit(&mut self, region: &Region, last: &mut At) {
        last.region += 1;
        let here = last.region;
        for stmt in &region.stmts {
            if let Stmt::Inst(v) = stmt {
                last.order += 1;
                self.at[v.0 as usize] = At { region: here, order: last.order };
                self.kernel.def(*v).inst.operands(|operand| self.readers[operand.0 as usize] += 1);
            }
            stmt.regions().into_iter().for_each(|inner| self.visit(inner, last));
        }
    }

    /// Adds the pairs that lead to a word, if it is put together of two results.
    fn word(&mut self, v: Value) {
        let ty = self.kernel.ty(v);
        // Words are put together by `or` and by `v_perm_b32`; of other instructions there are no two halves.
        let may_be_made = matches!(self.kernel.def(v).inst, Inst::Bin(Bin::Or, ..) | Inst::Machine(_));
        if !may_be_made || !ty.is_varying_word() {
            return;
        }
        let Some(halves) = Half::both(self.kernel, v) else { return };
        let first = self.pairs.len();
        let Some(pair) = self.pair(halves) else { return };
        self.words.push((v, pair));
        self.pairs[pair].readers += 1;
        // Sources are found pair by pair and not by recursion: chains of operations are long in unrolled code.
        for new in first.. {
            let Some(results) = self.pairs.get(new).map(|pair| pair.results) else { break };
            let sources = self.sources(results);
            for source in &sources {
                if let Origin::Pair(of) = source.from {
                    self.pairs[of].readers += 1;
                }
            }
            self.pairs[new].sources = sources;
        }
    }

    /// The pair of two results, if one instruction computes both.
    fn pair(&mut self, halves: [Half; 2]) -> Option<usize> {
        let [Half::Low(low), Half::Low(high)] = halves else { return None };
        let results = [low, high];
        if let Some(known) = self.known.get(&results) {
            return Some(*known);
        }
        let [(op, elem), other] = results.map(|v| self.operation(v));
        let (op, places) = (op?, results.map(|v| self.at[v.0 as usize]));
        let (mnemonic, _) = instruction(op, elem)?;
        let alike = (Some(op), elem) == other && low != high && places[0].region == places[1].region;
        if !alike || places[0].order == 0 || !exists(mnemonic, self.target) {
            return None;
        }
        self.known.insert(results, self.pairs.len());
        let last = if places[0].order > places[1].order { low } else { high };
        self.pairs.push(Pair { op, elem, results, last, sources: SmallVec::new(), readers: 0, kept: true });
        Some(self.pairs.len() - 1)
    }

    fn operation(&self, v: Value) -> (Option<Packed>, Elem) {
        let ty = self.kernel.ty(v);
        let op = match self.kernel.def(v).inst {
            Inst::Bin(op, ..) if is_narrow(ty) => Some(Packed::Bin(op)),
            Inst::Fma(..) if is_narrow(ty) => Some(Packed::Fma),
            _ => None,
        };
        (op, ty.elem)
    }

    fn operands(&self, v: Value) -> SmallVec<[Value; 3]> {
        let mut operands = SmallVec::new();
        self.kernel.def(v).inst.operands(|operand| operands.push(operand));
        operands
    }

    fn sources(&mut self, [low, high]: [Value; 2]) -> SmallVec<[Source; 3]> {
        let (lows, mut highs) = (self.operands(low), self.operands(high));
        let commutes = match self.kernel.def(low).inst {
            Inst::Bin(op, ..) => op.commutes(),
            _ => true,
        };
        let fit = |a: Value, b: Value| u32::from(self.fits(a, b));
        if commutes
            && fit(lows[0], highs[1]) + fit(lows[1], highs[0])
                > fit(lows[0], highs[0]) + fit(lows[1], highs[1])
        {
            highs.swap(0, 1);
        }
        lows.into_iter().zip(highs).map(|(low, high)| self.source([low, high])).collect()
    }

    /// Whether two operands need not be put together.
    fn fits(&self, a: Value, b: Value) -> bool {
        let ([(a, _), (b, _)], kernel) = ([a, b].map(|v| Half::without_sign(self.kernel, v)), self.kernel);
        match (a, b) {
            (Half::Const(a), Half::Const(b)) => a == b,
            (Half::High(a), Half::Low(b) | Half::High(b)) | (Half::Low(a), Half::High(b)) => a == b,
            (Half::Low(a), Half::Low(b)) => {
                let (x, y) = (self.operation(a), self.operation(b));
                a == b || x.0.is_some() && x == y && kernel.ty(a) == kernel.ty(b)
            }
            _ => false,
        }
    }

    fn source(&mut self, operands: [Value; 2]) -> Source {
        let [low, high] = operands.map(|v| Half::without_sign(self.kernel, v));
        let (halves, negated) = ([low.0, high.0], [low.1, high.1]);
        let from = match halves {
            [Half::Const(a), Half::Const(b)] if a == b => Origin::Constant(a),
            [Half::Low(a), Half::Low(b)] if a == b => Origin::Halves(a, [false, false]),
            [Half::Low(a), Half::High(b)] if a == b => Origin::Halves(a, [false, true]),
            [Half::High(a), Half::Low(b)] if a == b => Origin::Halves(a, [true, false]),
            [Half::High(a), Half::High(b)] if a == b => Origin::Halves(a, [true, true]),
            _ => self.pair(halves).map_or(Origin::Apart(halves), Origin::Pair),
        };
        Source { from, negated }
    }

    /// Drops the pairs whose results others read as well.
    fn drop_shared(&mut self) {
        let mut work: Vec<usize> = (0..self.pairs.len()).collect();
        while let Some(at) = work.pop() {
            let pair = &self.pairs[at];
            let read = pair.results.map(|v| self.readers[v.0 as usize]);
            if !pair.kept || read == [pair.readers; 2] {
                continue;
            }
            self.pairs[at].kept = false;
            for source in std::mem::take(&mut self.pairs[at].sources) {
                if let Origin::Pair(of) = source.from {
                    self.pairs[of].readers -= 1;
                    work.push(of);
                }
            }
        }
        // What a pair reads of one that is dropped, it reads from two registers.
        for at in 0..self.pairs.len() {
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
    }

    /// The pairs that pay, in program order.
    fn paying(&self) -> Vec<usize> {
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
        kept().for_each(|(at, pair)| saved[groups.first(at)] += pair.saves());
        for (_, pair) in &self.words {
            // The instruction that puts the word together.
            saved[groups.first(*pair)] += 1;
        }
        let mut paying: Vec<usize> =
            kept().map(|(at, _)| at).filter(|at| saved[groups.first(*at)] > 0).collect();
        paying.sort_unstable_by_key(|at| self.at[self.pairs[*at].last.0 as usize].order);
        paying
    }
}

fn is_narrow(ty: Type) -> bool {
    ty.place == Place::Varying && ty.count == 1 && matches!(ty.elem, Elem::F16 | Elem::I16 | Elem::U16)
}

impl Pair {
    /// How many instructions a packed one saves.
    fn saves(&self) -> i32 {
        // Each result of narrow integers is extended again.
        let single = if self.elem.is_float() { 2 } else { 4 };
        let moved = |source: &&Source| matches!(source.from, Origin::Apart(_));
        single - 1 - self.sources.iter().filter(moved).count() as i32
    }
}

/// Disjoint sets.
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
        // The smaller number is the root; paths are short because pairs are joined in the order of their numbers.
        self.0[a.max(b)] = a.min(b);
    }
}
