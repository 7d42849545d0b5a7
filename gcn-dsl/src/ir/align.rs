//! Alignment analysis: how many low bits of an address are known to be zero.

use hashbrown::HashMap;

use super::{Bin, Inst, Kernel, Stmt, Type, Value};
use crate::scalar::Elem;

/// The largest alignment, as a number of bits, that the analysis distinguishes.
const ENOUGH: u32 = 16;

/// The known alignments of 32-bit integers.
pub struct Alignment {
    /// For each variable, the number of low bits that are zero in all values written to it.
    variables: Vec<u32>,
    values: HashMap<Value, u32>,
}

impl Alignment {
    /// Analyses all writes of variables. For example, a loop counter that starts at 0 and has steps of 4 is known to be
    /// a multiple of 4. The iteration starts optimistically, with all variables aligned, and descends to the greatest
    /// fixpoint.
    pub fn of(kernel: &Kernel) -> Alignment {
        let mut writes = Vec::new();
        kernel.body.each_inst(&mut |v| {
            if let Inst::Write { var, value, .. } = kernel.def(v).inst {
                writes.push((var, value));
            }
        });
        let mut found = Alignment { variables: vec![ENOUGH; kernel.variables.len()], values: HashMap::new() };
        loop {
            // Descend from "fully aligned" until no write contradicts the result. A variable can only lose bits, so
            // there are at most `ENOUGH` rounds for each variable.
            let before = found.variables.clone();
            for (var, value) in &writes {
                let bits = found.bits(kernel, *value);
                let known = &mut found.variables[var.0 as usize];
                *known = bits.min(*known);
            }
            if found.variables == before {
                return found;
            }
            // Values derived from the previous, larger alignments are no longer valid.
            found.values.clear();
        }
    }

    /// For a kernel that is still being built: the alignment of variables is unknown, because later statements may
    /// write them.
    pub fn so_far(kernel: &Kernel) -> Alignment {
        Alignment { variables: vec![0; kernel.variables.len()], values: HashMap::new() }
    }

    /// The number of low bits of `v` that are zero, at most `ENOUGH`; `v` is a multiple of `1 << bits`.
    pub fn bits(&mut self, kernel: &Kernel, v: Value) -> u32 {
        if let Some(known) = self.values.get(&v) {
            return *known;
        }
        // Use an explicit stack instead of recursion: sums may be nested arbitrarily deep.
        let mut work = vec![v];
        while let Some(&v) = work.last() {
            let before = work.len();
            if is_int32(kernel.ty(v)) && !self.values.contains_key(&v) {
                each_part(&kernel.def(v).inst, |part| {
                    if !self.values.contains_key(&part) {
                        work.push(part);
                    }
                });
            }
            if work.len() == before {
                work.pop();
                let bits = if is_int32(kernel.ty(v)) { self.look(kernel, v).min(ENOUGH) } else { 0 };
                self.values.insert(v, bits);
            }
        }
        self.known(v)
    }

    /// The cached alignment of `v`; 0 if there is none.
    fn known(&self, v: Value) -> u32 {
        self.values.get(&v).copied().unwrap_or(0)
    }

    /// The alignment of `v` as its instruction gives it, if the alignments of the operands are known.
    fn look(&self, kernel: &Kernel, v: Value) -> u32 {
        match kernel.def(v).inst {
            Inst::Const(bits) => (bits as u32).trailing_zeros(),
            Inst::Splat(a) | Inst::ReadFirstLane(a) | Inst::Bitcast(a) => self.known(a),
            Inst::Read(var) => self.variables[var.0 as usize],
            Inst::Select(_, a, b) => self.known(a).min(self.known(b)),
            Inst::Bin(op, a, b) => {
                let (x, y) = (self.known(a), self.known(b));
                match (op, kernel.shift_count(b, kernel.ty(v).elem)) {
                    (Bin::Add | Bin::Sub | Bin::Or | Bin::Xor, _) => x.min(y),
                    // A zero bit of either operand is zero in the result.
                    (Bin::And, _) => x.max(y),
                    (Bin::Mul, _) => x + y,
                    (Bin::Shl, Some(k)) => x + k,
                    (Bin::Shr, Some(k)) => x.saturating_sub(k),
                    (Bin::Min | Bin::Max, _) => x.min(y),
                    _ => 0,
                }
            }
            _ => 0,
        }
    }
}

/// Calls `f` for the operands on which the alignment of the result depends.
fn each_part(inst: &Inst, mut f: impl FnMut(Value)) {
    match *inst {
        Inst::Splat(a) | Inst::ReadFirstLane(a) | Inst::Bitcast(a) => f(a),
        Inst::Select(_, a, b) | Inst::Bin(_, a, b) => {
            f(a);
            f(b);
        }
        _ => {}
    }
}

fn is_int32(ty: Type) -> bool {
    ty.count == 1 && matches!(ty.elem, Elem::I32 | Elem::U32)
}

/// A byte offset as a variable part and a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Split {
    /// The variable part; `None` if the offset is a constant.
    pub base: Option<Value>,
    /// True if the base is uniform and the offset is that sum converted to varying.
    pub splat: bool,
    /// The constant part, to be added with wrap-around.
    pub constant: u32,
}

impl Split {
    /// Splits `offset` into its parts.
    pub fn of(kernel: &Kernel, offset: Value) -> Split {
        let (inner, splat) = match kernel.def(offset).inst {
            Inst::Splat(inner) => (inner, true),
            _ => (offset, false),
        };
        let whole = Split { base: Some(inner), splat, constant: 0 };
        match kernel.def(inner).inst {
            Inst::Const(bits) => Split { base: None, splat: false, constant: bits as u32 },
            Inst::Bin(Bin::Add, base, c) => match kernel.def(c).inst {
                Inst::Const(bits) => Split { base: Some(base), constant: bits as u32, ..whole },
                _ => whole,
            },
            _ => whole,
        }
    }

    /// Appends the instructions that compute the offset, of type `ty`, to `out`.
    pub fn build(self, kernel: &mut Kernel, ty: Type, out: &mut Vec<Stmt>) -> Value {
        let mut add = |inst, ty| {
            kernel.values.push(super::ValueDef { inst, ty: Some(ty), loc: None });
            let v = Value(kernel.values.len() as u32 - 1);
            out.push(Stmt::Inst(v));
            v
        };
        let Some(base) = self.base else { return add(Inst::Const(u64::from(self.constant)), ty) };
        let inner = if self.splat { Type::uniform(ty.elem) } else { ty };
        let sum = if self.constant == 0 {
            base
        } else {
            let c = add(Inst::Const(u64::from(self.constant)), inner);
            add(Inst::Bin(Bin::Add, base, c), inner)
        };
        if self.splat { add(Inst::Splat(sum), ty) } else { sum }
    }
}
