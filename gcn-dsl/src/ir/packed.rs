//! Packed arithmetic from scalar code: two equal operations whose results become the halves of a register, or of a
//! register pair, are combined into one packed instruction (superword-level parallelism; Larsen and Amarasinghe, PLDI
//! 2000).
//!
//! The pass starts at *words*: values that are composed of two results, as for wide stores and for variables that a
//! loop carries (`variables.rs`). It follows both results to their operands. If these are results of equal operations,
//! they form a *pair*, too. Operands that are halves of one register are read in place; other operands must be composed
//! by an additional instruction. Extracting a 16-bit half takes an instruction, so a pair of 16-bit results is packed
//! only if nothing else reads them; results that are dwords can be read in place. A connected set of pairs is packed if
//! that saves instructions.
//!
//! A packed instruction computes the same bits as the two single ones. It is emitted at the position of the later one.
//! Both are in the same region, so the same lanes are active.

mod cost;
mod emit;
mod half;
mod table;
mod variables;

use gcn_isa::Target;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

pub use table::{Packed, exists, instruction};

use super::mark::Mark;
use super::{Bin, Inst, Kernel, Place, Region, Schedule, Stmt, Value};
use crate::scalar::Elem;
use half::{Half, is_wide};

/// Packs pairs where that saves instructions. Returns true if any were packed.
pub fn run(kernel: &mut Kernel, target: Target) -> bool {
    let mut candidates = variables::candidates(kernel, target);
    while !candidates.is_empty() {
        // Whether joining variables pays is known only after the packing that the join enables has been planned, so
        // plan it on a copy of the kernel.
        let mut trial = kernel.clone();
        let carried = variables::join(&mut trial, &candidates);
        let made = carried.iter().flatten().copied().collect();
        let Some(found) = find(&trial, target, &made) else { break };
        // Variables are joined if that saves an instruction in the loop that writes them.
        let pays =
            |writes: &Vec<Value>| writes.iter().all(|write| found.words.iter().any(|w| w.value == *write));
        let before = candidates.len();
        let mut paying = carried.iter().map(pays);
        candidates.retain(|_| paying.next() == Some(true));
        // Accept the candidates only if all of them pay. Otherwise repeat without those that did not, because they may
        // be the reason why others did.
        if candidates.len() == before {
            emit::run(&mut trial, &found);
            *kernel = trial;
            return true;
        }
    }
    let Some(found) = find(kernel, target, &HashSet::new()) else { return false };
    emit::run(kernel, &found);
    true
}

/// The pairs whose packing saves instructions; `None` if there are none. Composing a word in `made` is assumed to need
/// no instruction.
fn find(kernel: &Kernel, target: Target, made: &HashSet<Value>) -> Option<Found> {
    let mut pairs = Pairs::of(kernel, target, made)?;
    // If a costly pair is dropped, its single instructions become readers of its operands, and pairs that compute these
    // may no longer be packed.
    pairs.drop_shared();
    pairs.drop_costly();
    pairs.drop_shared();
    pairs.separate_all();
    let packed = pairs.paying();
    let Pairs { pairs, mut words, .. } = pairs;
    let pays: HashSet<usize> = packed.iter().copied().collect();
    words.retain(|word| pays.contains(&word.pair));
    (!packed.is_empty()).then_some(Found { pairs, packed, words })
}

/// The instructions to pack.
struct Found {
    pairs: Vec<Pair>,
    /// The indices of the pairs that pay, in program order.
    packed: Vec<usize>,
    /// The words that are composed of the pairs' results.
    words: Vec<Word>,
}

/// A value, or a part of one, that is composed of the two results of a pair.
struct Word {
    value: Value,
    /// The first of the two dwords, if the value has more than two; `None` otherwise.
    dword: Option<u8>,
    pair: usize,
    /// The number of instructions that compose the word.
    costs: i32,
}

/// A source of a packed instruction.
struct Source {
    from: Origin,
    /// For the low and the high half: true if it is negated.
    negated: [bool; 2],
}

#[derive(Clone, Copy)]
enum Origin {
    /// The results of a pair.
    Pair(usize),
    /// Two halves of one register. Each flag is true for the high half, and false for the low half.
    Halves(Value, [bool; 2]),
    /// Two dwords of a value. Each flag is false for dword number `.1`, and true for the dword after it.
    Dwords(Value, u8, [bool; 2]),
    /// The same constant twice.
    Constant(u32),
    /// Two unrelated values, which must be composed by an additional instruction.
    Apart([Half; 2]),
}

/// Two equal operations that may be combined.
struct Pair {
    op: Packed,
    elem: Elem,
    results: [Value; 2],
    /// The result that comes later in program order.
    last: Value,
    sources: SmallVec<[Source; 3]>,
    /// The number of times that pairs and words read the results.
    readers: u32,
    kept: bool,
}

/// The position of the instruction that computes a value.
#[derive(Clone, Copy, Default, PartialEq)]
struct At {
    region: u32,
    /// The instruction's number in program order; 0 if it is not in the body.
    order: u32,
}

struct Pairs<'k> {
    kernel: &'k Kernel,
    target: Target,
    at: Vec<At>,
    /// For each value, the number of its readers.
    readers: Vec<u32>,
    pairs: Vec<Pair>,
    known: HashMap<[Value; 2], usize>,
    /// The pair of which a value is a result.
    pair_of: HashMap<Value, usize>,
    words: Vec<Word>,
}

impl<'k> Pairs<'k> {
    /// The pairs of a kernel; `None` if there is nothing to pack, or if the kernel's instruction order or
    /// floating-point mode must be preserved.
    fn of(kernel: &'k Kernel, target: Target, made: &HashSet<Value>) -> Option<Pairs<'k>> {
        let (mut any, mut fixed) = (false, false);
        kernel.body.each_inst(&mut |v| match &kernel.def(v).inst {
            Inst::Bin(..) | Inst::Fma(..) => any |= operation(kernel, v, target).is_some(),
            Inst::Machine(call) => fixed |= call.changes_mode(),
            Inst::Schedule(what) => fixed |= **what != Schedule::Mark(Mark::Cold),
            _ => {}
        });
        // Most kernels have nothing to pack; return before building any table.
        if !any || fixed {
            return None;
        }
        let values = kernel.values.len();
        let mut found = Pairs {
            kernel,
            target,
            at: vec![At::default(); values],
            readers: kernel.readers(),
            pairs: Vec::new(),
            known: HashMap::new(),
            pair_of: HashMap::new(),
            words: Vec::new(),
        };
        found.visit(&kernel.body, &mut At::default());
        kernel.body.each_inst(&mut |v| found.words(v, made));
        Some(found)
    }

    /// Records the positions of instructions.
    fn visit(&mut self, region: &Region, last: &mut At) {
        last.region += 1;
        let here = last.region;
        for stmt in &region.stmts {
            if let Stmt::Inst(v) = stmt {
                last.order += 1;
                self.at[v.0 as usize] = At { region: here, order: last.order };
            }
            stmt.regions().into_iter().for_each(|inner| self.visit(inner, last));
        }
    }

    /// Adds the pairs of which a value, or some dwords of it, are composed.
    fn words(&mut self, v: Value, made: &HashSet<Value>) {
        let ty = self.kernel.ty(v);
        let costs = i32::from(!made.contains(&v));
        match &self.kernel.def(v).inst {
            Inst::Concat(parts) if ty.place == Place::Varying => {
                let mut dword = 0;
                for (at, part) in parts.iter().enumerate() {
                    // Packed f32 instructions write an aligned pair of registers.
                    if let Some(next) = parts.get(at + 1)
                        && dword % 2 == 0
                        && [part, next].iter().all(|part| self.kernel.ty(**part).dwords() == 1)
                    {
                        let halves = [*part, *next].map(|part| Half::of_dword(self.kernel, part));
                        self.word(v, Some(dword), halves, 0);
                    }
                    dword += self.kernel.ty(*part).dwords();
                }
            }
            // Only `or` and `v_perm_b32` compose two halves.
            Inst::Bin(Bin::Or, ..) | Inst::Machine(_) if ty.is_varying_word() => {
                if let Some(halves) = Half::both(self.kernel, v) {
                    self.word(v, None, halves, costs);
                }
            }
            _ => {}
        }
    }

    fn word(&mut self, value: Value, dword: Option<u8>, halves: [Half; 2], costs: i32) {
        let first = self.pairs.len();
        let Some(pair) = self.pair(halves, dword.is_some()) else { return };
        self.words.push(Word { value, dword, pair, costs });
        self.pairs[pair].readers += 1;
        // Find the sources pair by pair without recursion, because chains of operations in unrolled code are long.
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

    /// The index of the pair of two results; `None` if no packed instruction can compute both.
    fn pair(&mut self, halves: [Half; 2], wide: bool) -> Option<usize> {
        let [Half::Low(low), Half::Low(high)] = halves else { return None };
        let results = [low, high];
        if let Some(known) = self.known.get(&results) {
            return Some(*known);
        }
        let (op, elem) = operation(self.kernel, low, self.target)?;
        let places = results.map(|v| self.at[v.0 as usize]);
        let alike = operation(self.kernel, high, self.target) == Some((op, elem)) && low != high;
        if !alike
            // 16-bit halves and dwords are packed by different instructions.
            || wide != (elem == Elem::F32)
            // In different regions different lanes may be active, or one instruction may run without the other.
            || places[0].region != places[1].region
            || places[0].order == 0
        {
            return None;
        }
        let last = if places[0].order > places[1].order { low } else { high };
        // A 16-bit half may be computed in two packed registers, but a dword that is in two pairs would be computed
        // twice.
        if wide && results.iter().any(|v| self.pair_of.contains_key(v)) {
            return None;
        }
        self.pair_of.extend(results.map(|v| (v, self.pairs.len())));
        self.known.insert(results, self.pairs.len());
        self.pairs.push(Pair { op, elem, results, last, sources: SmallVec::new(), readers: 0, kept: true });
        Some(self.pairs.len() - 1)
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
        // Either order of the operands is correct; choose the one in which fewer operands must be composed.
        if commutes
            && fit(lows[0], highs[1]) + fit(lows[1], highs[0])
                > fit(lows[0], highs[0]) + fit(lows[1], highs[1])
        {
            highs.swap(0, 1);
        }
        lows.into_iter().zip(highs).map(|(low, high)| self.source([low, high])).collect()
    }

    /// True if two operands need no instruction to compose them.
    fn fits(&self, a: Value, b: Value) -> bool {
        let [(a, _), (b, _)] = [a, b].map(|v| Half::without_sign(self.kernel, v));
        match (a, b) {
            (Half::Const(a), Half::Const(b)) => a == b,
            (Half::High(a), Half::Low(b) | Half::High(b)) | (Half::Low(a), Half::High(b)) => a == b,
            (Half::Dword(a, i), Half::Dword(b, j)) => a == b && i / 2 == j / 2,
            (Half::Low(a), Half::Low(b)) => {
                let [x, y] = [a, b].map(|v| operation(self.kernel, v, self.target));
                a == b || x.is_some() && x == y
            }
            _ => false,
        }
    }

    fn source(&mut self, operands: [Value; 2]) -> Source {
        let [low, high] = operands.map(|v| Half::without_sign(self.kernel, v));
        let (halves, negated) = ([low.0, high.0], [low.1, high.1]);
        let wide = is_wide(self.kernel.ty(operands[0]));
        let from = match halves {
            [Half::Const(a), Half::Const(b)] if a == b => Origin::Constant(a),
            [Half::Low(a), Half::Low(b)] if a == b => Origin::Halves(a, [false, false]),
            [Half::Low(a), Half::High(b)] if a == b => Origin::Halves(a, [false, true]),
            [Half::High(a), Half::Low(b)] if a == b => Origin::Halves(a, [true, false]),
            [Half::High(a), Half::High(b)] if a == b => Origin::Halves(a, [true, true]),
            [Half::Dword(a, i), Half::Dword(b, j)] if a == b && i / 2 == j / 2 => {
                Origin::Dwords(a, i / 2 * 2, [i % 2 == 1, j % 2 == 1])
            }
            _ => self.pair(halves, wide).map_or(Origin::Apart(halves), Origin::Pair),
        };
        Source { from, negated }
    }
}

/// The target's packed operation that computes two values like `v`; `None` if there is none.
fn operation(kernel: &Kernel, v: Value, target: Target) -> Option<(Packed, Elem)> {
    let ty = kernel.ty(v);
    let op = match kernel.def(v).inst {
        Inst::Bin(op, ..) => Packed::Bin(op),
        Inst::Fma(..) => Packed::Fma,
        _ => return None,
    };
    // Loops that will be pipelined must keep their form until then.
    let keeps_form = ty.elem == Elem::F32 && !kernel.pipelines.is_empty();
    if ty.place != Place::Varying || ty.count != 1 || keeps_form {
        return None;
    }
    let (mnemonic, _) = instruction(op, ty.elem)?;
    exists(mnemonic, target).then_some((op, ty.elem))
}
