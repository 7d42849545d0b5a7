//! Joins pairs of variables that a loop carries into one packed variable.
//!
//! The accumulators of neighbouring elements are separate variables. If a loop writes two of them with the same
//! operation, the two become halves of one variable: each write composes a word, and each read extracts a half. Packing
//! then starts at these words as at any others.

use gcn_isa::Target;
use hashbrown::{HashMap, HashSet};

use super::super::{Bin, Inst, Kernel, Region, Stmt, Type, Value, ValueDef, Variable};
use super::emit::together;
use super::half::Half;
use super::operation;
use crate::scalar::Elem;

/// Two variables of one type.
pub(super) type Couple = [Variable; 2];

/// Pairs of variables that may be joined: a loop writes both with results of the same operation.
pub(super) fn candidates(kernel: &Kernel, target: Target) -> Vec<Couple> {
    let mut found = Vec::new();
    // Pinned variables must stay in the registers that the user chose.
    let mut taken: HashSet<Variable> = kernel.pins.iter().map(|pin| pin.var).collect();
    if !kernel.pipelines.is_empty() {
        return found;
    }
    kernel.body.each_stmt(&mut |stmt| {
        for region in stmt.regions().into_iter().filter(|_| stmt.repeats()) {
            let written = region.stmts.iter().filter_map(|stmt| match *stmt {
                Stmt::Inst(v) => match kernel.def(v).inst {
                    Inst::Write { var, value, .. } => Some((var, operation(kernel, value, target)?)),
                    _ => None,
                },
                _ => None,
            });
            let mut single: Vec<(Variable, _)> = Vec::new();
            for (var, op) in written {
                // Each variable is in one pair only, that of its first write in a loop body.
                if !taken.insert(var) {
                    continue;
                }
                match single.iter().position(|(_, other)| *other == op) {
                    // Take the closest preceding variable with the same operation: unrolled code writes neighbours one
                    // after the other.
                    Some(at) => found.push([single.remove(at).0, var]),
                    None => single.push((var, op)),
                }
            }
        }
    });
    found
}

/// Joins the variables. Returns, for each pair, the words that loops write. The join pays only if these words are
/// results of packed instructions.
pub(super) fn join(kernel: &mut Kernel, couples: &[Couple]) -> Vec<Vec<Value>> {
    let mut joined = HashMap::new();
    for (couple, variables) in couples.iter().enumerate() {
        let elem = kernel.variables[variables[0].0 as usize].elem;
        let both = Variable(kernel.variables.len() as u32);
        kernel.variables.push(of_both(elem));
        // As a joined variable, the new variable may be written one half at a time and has no value before.
        kernel.joined.push(both);
        for (half, var) in variables.iter().enumerate() {
            joined.insert(*var, Joined { both, elem, couple, half });
        }
    }
    kernel.rewrite(|kernel, body| {
        let carried = vec![Vec::new(); couples.len()];
        let mut join = Join { kernel, joined, read: HashMap::new(), carried, loops: 0 };
        join.region(body);
        join.carried
    })
}

fn of_both(elem: Elem) -> Type {
    if elem == Elem::F32 { Type { count: 2, ..Type::varying(elem) } } else { Type::varying(Elem::U32) }
}

/// The half of a joined variable that replaces an original variable.
#[derive(Clone, Copy)]
struct Joined {
    both: Variable,
    elem: Elem,
    couple: usize,
    half: usize,
}

/// A write of one half that waits until the other half is written.
struct Waiting {
    to: Joined,
    value: Value,
    keep: bool,
}

struct Join<'k> {
    kernel: &'k mut Kernel,
    joined: HashMap<Variable, Joined>,
    /// For each joined variable, its current value, if a read has loaded it.
    read: HashMap<usize, Value>,
    carried: Vec<Vec<Value>>,
    /// The number of enclosing loops.
    loops: u32,
}

impl Join<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut waiting: Vec<Waiting> = Vec::new();
        region.rebuild(|mut stmt, out| {
            let inst = match stmt {
                Stmt::Inst(v) => self.kernel.def(v).inst.clone(),
                _ => {
                    // Other lanes may continue here, or read the variable, so emit the writes that still wait for their
                    // other half.
                    waiting.drain(..).for_each(|write| self.half(write, out));
                    self.read.clear();
                    self.loops += u32::from(stmt.repeats());
                    for inner in stmt.regions_mut() {
                        self.region(inner);
                        self.read.clear();
                    }
                    self.loops -= u32::from(stmt.repeats());
                    return out.push(stmt);
                }
            };
            let (Inst::Read(var) | Inst::Write { var, .. }) = inst else { return out.push(stmt) };
            let (Some(to), Stmt::Inst(v)) = (self.joined.get(&var).copied(), &stmt) else {
                return out.push(stmt);
            };
            // A read of one half does not observe a waiting write of the other half.
            let sees = |write: &Waiting| {
                write.to.couple == to.couple
                    && (write.to.half == to.half || matches!(inst, Inst::Write { .. }))
            };
            let other = waiting.iter().position(sees).map(|at| waiting.remove(at));
            match inst {
                Inst::Write { value, keep, .. } => match other {
                    Some(other) if other.to.half != to.half => {
                        let halves = if to.half == 1 { [other.value, value] } else { [value, other.value] };
                        self.write(to, halves, keep || other.keep, out);
                    }
                    other => {
                        other.into_iter().for_each(|write| self.half(write, out));
                        waiting.push(Waiting { to, value, keep });
                    }
                },
                _ => {
                    other.into_iter().for_each(|write| self.half(write, out));
                    self.read(*v, to, out);
                }
            }
        });
        waiting.drain(..).for_each(|write| self.half(write, &mut region.stmts));
    }

    /// Writes one half.
    fn half(&mut self, Waiting { to, value, keep }: Waiting, out: &mut Vec<Stmt>) {
        let other = Value(self.kernel.values.len() as u32);
        self.kernel.values.push(ValueDef {
            inst: Inst::Const(0),
            ty: Some(Type::varying(to.elem)),
            loc: None,
        });
        // The other half keeps its value: read it, and write it back together with the new half.
        self.read(other, Joined { half: 1 - to.half, ..to }, out);
        let halves = if to.half == 0 { [value, other] } else { [other, value] };
        self.write(to, halves, keep, out);
    }

    fn write(&mut self, to: Joined, halves: [Value; 2], keep: bool, out: &mut Vec<Stmt>) {
        self.read.remove(&to.couple);
        let constants = halves.map(|v| self.kernel.constant(v));
        let value = match constants {
            _ if to.elem == Elem::F32 => {
                self.kernel.append(Inst::Concat(halves.into_iter().collect()), of_both(to.elem), None, out)
            }
            [Some(low), Some(high)] => {
                let bits = u64::from(low as u16) | u64::from(high as u16) << 16;
                self.kernel.append(Inst::Const(bits), of_both(to.elem), None, out)
            }
            _ => {
                let halves = halves.map(|v| Half::of(self.kernel, v));
                together(self.kernel, halves, out)
            }
        };
        // The initial values before a loop are written once; only words that each iteration writes decide whether the
        // join pays.
        if self.loops > 0 && constants.contains(&None) {
            self.carried[to.couple].push(value);
        }
        out.push(Stmt::Inst(Value(self.kernel.values.len() as u32)));
        self.kernel.values.push(ValueDef {
            inst: Inst::Write { var: to.both, value, keep },
            ty: None,
            loc: None,
        });
    }

    /// Turns `v`, a read of an original variable, into the extraction of its half of the joined variable, and appends
    /// it to `out`.
    fn read(&mut self, v: Value, from: Joined, out: &mut Vec<Stmt>) {
        let (both, elem) = (from.both, from.elem);
        let kernel = &mut *self.kernel;
        let read = || kernel.append(Inst::Read(both), of_both(elem), None, out);
        let both = *self.read.entry(from.couple).or_insert_with(read);
        let inst = if from.elem == Elem::F32 {
            Inst::Extract { from: both, dword: from.half as u8 }
        } else {
            self.narrow(both, from, out)
        };
        self.kernel.values[v.0 as usize].inst = inst;
        out.push(Stmt::Inst(v));
    }

    /// The instruction that extracts 16 bits of a word.
    fn narrow(&mut self, both: Value, from: Joined, out: &mut Vec<Stmt>) -> Inst {
        let mut word = both;
        if from.half == 1 {
            let count = self.kernel.append(Inst::Const(16), Type::varying(Elem::U32), None, out);
            word = self.kernel.append(Inst::Bin(Bin::Shr, both, count), Type::varying(Elem::U32), None, out);
        }
        match from.elem {
            Elem::F16 => {
                let bits = self.kernel.append(Inst::Cast(word), Type::varying(Elem::U16), None, out);
                Inst::Bitcast(bits)
            }
            _ => Inst::Cast(word),
        }
    }
}
