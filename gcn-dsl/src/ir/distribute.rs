//! Products of sums in loops: the part of an index that the loop changes is computed by the scalar unit.
//!
//! In `(c * height + y) * width + x`, where the loop counts `c` and every lane has a `y` and an `x` of its own, each
//! trip would multiply in every lane. Distributed, the sum is `c * (height * width)`, one scalar product, and
//! `y * width + x`, which no trip changes: a trip adds the two. Integers wrap, so that both sums are the same bits.
//!
//! The pass runs after loop-invariant code motion and appends what is invariant before the loop.

use gcn_isa::program::SourceLoc;
use hashbrown::HashMap;
use smallvec::SmallVec;

use super::{Bin, Inst, Kernel, Place, Region, Stmt, Type, Value};
use crate::scalar::Elem;

/// The largest number of terms of a sum. Each costs a product before the loop.
const MOST_TERMS: usize = 6;

/// Distributes products in the loops of `kernel`. Returns true if anything was changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let readers = kernel.readers();
    let place = vec![0; kernel.values.len()];
    kernel.rewrite(|kernel, body| {
        let mut pass = Distributor { kernel, readers, place, next: 0, changed: false };
        pass.region(body);
        pass.changed
    })
}

struct Distributor<'k> {
    kernel: &'k mut Kernel,
    /// For each value that was there before the pass, its number of readers.
    readers: Vec<u32>,
    /// For each value, the number of its statement in program order; for a value that the pass appends before a loop,
    /// the number of the loop.
    place: Vec<u32>,
    next: u32,
    changed: bool,
}

/// An addend: a value, and the uniform values that no trip changes and by which it is multiplied.
#[derive(Clone)]
struct Term {
    of: Value,
    factors: SmallVec<[Value; 2]>,
}

/// An integer as a sum.
#[derive(Clone)]
struct Sum {
    terms: SmallVec<[Term; 4]>,
    /// True if a product of a sum was distributed.
    is_distributed: bool,
}

impl Sum {
    fn of(v: Value) -> Sum {
        Sum::of_terms([Term { of: v, factors: SmallVec::new() }])
    }

    fn of_terms(terms: impl IntoIterator<Item = Term>) -> Sum {
        Sum { terms: terms.into_iter().collect(), is_distributed: false }
    }
}

/// Where instructions are appended.
struct List<'s> {
    stmts: &'s mut Vec<Stmt>,
    /// The place of the values.
    place: u32,
    loc: Option<SourceLoc>,
}

impl Distributor<'_> {
    /// Visits inner loops first: what is appended before them is part of the outer loop's body.
    fn region(&mut self, region: &mut Region) {
        region.rebuild(|mut stmt, out| {
            self.next += 1;
            let number = self.next;
            if let Stmt::Inst(v) = stmt {
                self.place[v.0 as usize] = number;
            }
            for inner in stmt.regions_mut() {
                self.region(inner);
            }
            if stmt.repeats() {
                for inner in stmt.regions_mut() {
                    self.body(number, inner, out);
                }
            }
            out.push(stmt);
        });
    }

    /// Distributes products of the instructions that run in each trip of the loop with this number, outside branches;
    /// `before` receives what is invariant.
    fn body(&mut self, loop_: u32, region: &mut Region, before: &mut Vec<Stmt>) {
        let mut sums: HashMap<Value, Sum> = HashMap::new();
        // How many readers of each value are themselves part of a sum.
        let mut within: HashMap<Value, u32> = HashMap::new();
        for v in region.insts() {
            let Some(sum) = self.sum(loop_, v, &sums) else { continue };
            self.kernel.def(v).inst.operands(|operand| *within.entry(operand).or_default() += 1);
            sums.insert(v, sum);
        }
        let is_read_elsewhere = |v: &Value| {
            // Something reads a value that the pass has appended.
            let readers = self.readers.get(v.0 as usize).copied().unwrap_or(u32::MAX);
            readers > within.get(v).copied().unwrap_or(0)
        };
        sums.retain(|v, sum| sum.is_distributed && is_read_elsewhere(v));
        self.changed |= !sums.is_empty();
        region.rebuild(|mut stmt, out| {
            match &mut stmt {
                Stmt::Inst(v) => {
                    if let Some(sum) = sums.get(v) {
                        self.emit(loop_, *v, sum, before, out);
                    }
                }
                Stmt::Block { body, .. } => self.body(loop_, body, before),
                _ => {}
            }
            out.push(stmt);
        });
    }

    /// The sum that `v` is; `None` if it is none, or has too many terms.
    fn sum(&self, loop_: u32, v: Value, known: &HashMap<Value, Sum>) -> Option<Sum> {
        let ty = self.kernel.ty(v);
        if !(matches!(ty.elem, Elem::U32 | Elem::I32) && ty == Type::varying(ty.elem)) {
            return None;
        }
        let Inst::Bin(op, a, b) = self.kernel.def(v).inst else { return None };
        let operand = |x: Value| match (&self.kernel.def(x).inst, known.get(&x)) {
            (_, Some(sum)) => Some(sum.clone()),
            (Inst::Splat(of), _) if self.kernel.ty(*of) == Type::uniform(ty.elem) => {
                Some(Sum::of_terms([self.scalar(loop_, *of)]))
            }
            _ => self.is_invariant(loop_, x).then(|| Sum::of(x)),
        };
        match op {
            // Accesses contain constants, so several of them may share what they are added to.
            Bin::Add if ![a, b].into_iter().any(|x| self.kernel.constant(x).is_some()) => {
                let (a, b) = (operand(a)?, operand(b)?);
                let terms: SmallVec<[Term; 4]> = a.terms.into_iter().chain(b.terms).collect();
                let is_distributed = a.is_distributed || b.is_distributed;
                (terms.len() <= MOST_TERMS).then_some(Sum { terms, is_distributed })
            }
            Bin::Mul => {
                let (of, factor) = match [self.factor(loop_, a), self.factor(loop_, b)] {
                    [None, Some(factor)] => (a, factor),
                    [Some(factor), None] => (b, factor),
                    _ => return None,
                };
                let mut sum = operand(of)?;
                let is_varying = |t: &Term| self.kernel.ty(t.of).place == Place::Varying;
                let is_changed = |t: &Term| !is_varying(t) && !self.is_invariant(loop_, t.of);
                sum.is_distributed |= sum.terms.iter().any(is_varying) && sum.terms.iter().any(is_changed);
                sum.terms.iter_mut().for_each(|term| term.factors.push(factor));
                Some(sum)
            }
            _ => None,
        }
    }

    /// A uniform value as a term: of a product, the operand that the loop changes.
    fn scalar(&self, loop_: u32, v: Value) -> Term {
        match self.kernel.def(v).inst {
            Inst::Bin(Bin::Mul, a, b) if !self.is_invariant(loop_, v) => {
                for (of, factor) in [(a, b), (b, a)] {
                    if self.is_invariant(loop_, factor) {
                        let mut term = self.scalar(loop_, of);
                        term.factors.push(factor);
                        return term;
                    }
                }
                Term { of: v, factors: SmallVec::new() }
            }
            _ => Term { of: v, factors: SmallVec::new() },
        }
    }

    /// The uniform value that the varying `v` has in every lane, if no trip changes it: a uniform value, or a constant.
    fn factor(&self, loop_: u32, v: Value) -> Option<Value> {
        match self.kernel.def(v).inst {
            Inst::Splat(of) => self.is_invariant(loop_, of).then_some(of),
            Inst::Const(_) => Some(v),
            _ => None,
        }
    }

    /// True if `v` is defined before the loop.
    fn is_invariant(&self, loop_: u32, v: Value) -> bool {
        self.place[v.0 as usize] <= loop_
    }

    /// Makes `v` the sum of what the loop changes, computed in `out`, and of the rest, computed in `before`.
    fn emit(&mut self, loop_: u32, v: Value, sum: &Sum, before: &mut Vec<Stmt>, out: &mut Vec<Stmt>) {
        let (ty, loc) = (self.kernel.ty(v), self.kernel.def(v).loc);
        let (mut changed, mut uniform, mut varying) = (None, None, None);
        for term in &sum.terms {
            let mut before = List { stmts: before, place: loop_, loc };
            let factor = self.product(&term.factors, ty.elem, &mut before);
            let place = self.kernel.ty(term.of).place;
            let factor = match place {
                Place::Varying => self.splat(factor, &mut before),
                _ => factor,
            };
            let invariant = self.is_invariant(loop_, term.of);
            let total = match (place, invariant) {
                (Place::Varying, _) => &mut varying,
                (_, true) => &mut uniform,
                (_, false) => &mut changed,
            };
            let mut list = match invariant {
                true => before,
                false => List { stmts: out, place: u32::MAX, loc },
            };
            let term = self.bin(Bin::Mul, Some(term.of), factor, &mut list);
            *total = self.bin(Bin::Add, *total, term, &mut list);
        }
        let mut before = List { stmts: before, place: loop_, loc };
        let uniform = self.splat(uniform, &mut before);
        let rest = self.bin(Bin::Add, varying, uniform, &mut before);
        let changed = self.splat(changed, &mut List { stmts: out, place: u32::MAX, loc });
        if let (Some(changed), Some(rest)) = (changed, rest) {
            self.kernel.values[v.0 as usize].inst = Inst::Bin(Bin::Add, changed, rest);
        }
    }

    /// The product of uniform values; `None` for none.
    fn product(&mut self, factors: &[Value], elem: Elem, list: &mut List<'_>) -> Option<Value> {
        let mut product = None;
        for &factor in factors {
            let factor = match self.kernel.def(factor).inst {
                Inst::Const(bits) => self.append(Inst::Const(bits), Type::uniform(elem), list),
                _ => factor,
            };
            product = self.bin(Bin::Mul, product, Some(factor), list);
        }
        product
    }

    fn splat(&mut self, of: Option<Value>, list: &mut List<'_>) -> Option<Value> {
        let ty = Type::varying(self.kernel.ty(of?).elem);
        Some(self.append(Inst::Splat(of?), ty, list))
    }

    /// Appends an operation on two values; of one value, that is the result.
    fn bin(&mut self, op: Bin, a: Option<Value>, b: Option<Value>, list: &mut List<'_>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.append(Inst::Bin(op, a, b), self.kernel.ty(a), list)),
            (a, b) => a.or(b),
        }
    }

    fn append(&mut self, inst: Inst, ty: Type, list: &mut List<'_>) -> Value {
        self.place.push(list.place);
        self.kernel.append(inst, ty, list.loc, list.stmts)
    }
}
