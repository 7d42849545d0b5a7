//! Sums over the bytes of words. The sum of the products of four pairs of bytes, and the sum of their absolute
//! differences, are one instruction each (`v_dot4_i32_i8`, `v_sad_u8`), which also adds the rest of the sum.
//!
//! Integer addition wraps, so sums may be reassociated. A sum is split into its terms. Four terms of one operation on
//! the four bytes of the same two words are replaced by the instruction.

use gcn_isa::Target;
use hashbrown::{HashMap, HashSet};

use super::packed::exists;
use super::{Bin, Call, Inst, Kernel, Region, Stmt, Type, Un, Value};
use crate::scalar::Elem;

/// An operation on two bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Of {
    SignedProduct,
    Product,
    Distance,
}

impl Of {
    fn instruction(self) -> &'static str {
        match self {
            Of::SignedProduct => "v_dot4_i32_i8",
            Of::Product => "v_dot4_u32_u8",
            Of::Distance => "v_sad_u8",
        }
    }
}

/// A term of a sum: the operation on byte number `byte` of both words.
struct Term {
    of: Of,
    words: [Value; 2],
    byte: usize,
}

/// A byte of a word.
struct Byte {
    word: Value,
    number: usize,
    signed: bool,
}

/// Replaces such sums in `kernel`. Returns true if any were replaced.
pub fn run(kernel: &mut Kernel, target: Target) -> bool {
    let readers = kernel.readers();
    kernel.rewrite(|kernel, body| {
        let mut sums = Sums { kernel, target, readers, here: HashSet::new(), found: false };
        sums.region(body);
        sums.found
    })
}

struct Sums<'k> {
    kernel: &'k mut Kernel,
    target: Target,
    readers: Vec<u32>,
    /// The instructions of the current region that have not become part of a sum.
    here: HashSet<Value>,
    found: bool,
}

impl Sums<'_> {
    /// Visits the statements backwards, so that a whole sum is found before the partial sums that it contains.
    fn region(&mut self, region: &mut Region) {
        // An instruction of an outer region must not become part of the sum: inside a loop it would then be computed in
        // every iteration.
        let around = std::mem::replace(&mut self.here, region.insts().collect());
        let mut stmts = Vec::with_capacity(region.stmts.len());
        for mut stmt in std::mem::take(&mut region.stmts).into_iter().rev() {
            stmt.regions_mut().into_iter().for_each(|inner| self.region(inner));
            let mut before = Vec::new();
            if let Stmt::Inst(v) = stmt
                && self.is_sum(v)
                && self.here.contains(&v)
            {
                self.sum(v, &mut before);
            }
            stmts.push(stmt);
            stmts.extend(before.into_iter().rev());
        }
        stmts.reverse();
        region.stmts = stmts;
        self.here = around;
    }

    fn is_sum(&self, v: Value) -> bool {
        matches!(self.kernel.def(v).inst, Inst::Bin(Bin::Add, ..)) && is_word(self.kernel.ty(v))
    }

    fn sum(&mut self, root: Value, before: &mut Vec<Stmt>) {
        let mut rest = Vec::new();
        let mut groups: HashMap<(Of, [Value; 2]), [Option<Value>; 4]> = HashMap::new();
        let mut order = Vec::new();
        let mut open = vec![root];
        while let Some(v) = open.pop() {
            // Instructions outside the region do not become part of the sum.
            let single = self.readers[v.0 as usize] == 1 && self.here.contains(&v);
            match self.kernel.def(v).inst {
                Inst::Bin(Bin::Add, x, y) if v == root || single && self.is_sum(v) => {
                    self.here.remove(&v);
                    open.extend([y, x]);
                    continue;
                }
                // Signed and unsigned sums have the same bits, and source code mixes the two, so look through the
                // conversion.
                Inst::Bitcast(of) if single && is_word(self.kernel.ty(of)) => {
                    let alone = self.readers[of.0 as usize] == 1 && self.here.contains(&of);
                    if alone && (self.is_sum(of) || self.term(of).is_some()) {
                        open.push(of);
                        continue;
                    }
                }
                _ => {}
            }
            let term = self.term(v).filter(|term| single && exists(term.of.instruction(), self.target));
            let Some(Term { of, words, byte }) = term else {
                rest.push(v);
                continue;
            };
            let group = groups.entry((of, words)).or_insert_with(|| {
                order.push((of, words));
                [None; 4]
            });
            // If two terms are equal, the second one remains a term of the rest.
            rest.extend(group[byte].replace(v));
        }
        order.retain(|key| {
            // If one of the four terms is missing, its byte would have to be masked, which costs what the instruction
            // saves.
            let whole = groups[key].iter().all(Option::is_some);
            if !whole {
                rest.extend(groups[key].iter().flatten());
            }
            whole
        });
        if !order.is_empty() {
            self.replace(root, &rest, &order, before);
        }
    }

    /// Emits the byte instructions, and adds their results and `rest`.
    fn replace(&mut self, root: Value, rest: &[Value], order: &[(Of, [Value; 2])], before: &mut Vec<Stmt>) {
        let (ty, loc) = (self.kernel.ty(root), self.kernel.def(root).loc);
        let mut sum = None;
        for &term in rest {
            let term = match self.kernel.ty(term) {
                other if other == ty => term,
                _ => self.kernel.append(Inst::Bitcast(term), ty, loc, before),
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => self.kernel.append(Inst::Bin(Bin::Add, sum, term), ty, loc, before),
            });
        }
        let mut sum = sum.unwrap_or_else(|| self.kernel.append(Inst::Const(0), ty, loc, before));
        for (at, (of, [x, y])) in order.iter().enumerate() {
            let inst = Inst::Machine(Box::new(Call::plain(of.instruction(), [*x, *y, sum], ty)));
            if at + 1 == order.len() {
                self.kernel.values[root.0 as usize].inst = inst;
            } else {
                sum = self.kernel.append(inst, ty, loc, before);
            }
        }
        self.found = true;
    }

    fn term(&self, v: Value) -> Option<Term> {
        let (of, [x, y]) = match self.kernel.def(v).inst {
            Inst::Bin(Bin::Mul, x, y) => {
                let [x, y] = [self.byte(x)?, self.byte(y)?];
                (if x.signed { Of::SignedProduct } else { Of::Product }, [x, y])
            }
            // `max(x, -x)` is the absolute value of a difference.
            Inst::Bin(Bin::Max, x, y) => {
                let is_negated = |of, v| matches!(self.kernel.def(v).inst, Inst::Un(Un::Neg, x) if x == of);
                let difference = [(x, y), (y, x)].into_iter().find(|(of, v)| is_negated(*of, *v))?.0;
                let Inst::Bin(Bin::Sub, x, y) = self.kernel.def(difference).inst else { return None };
                if self.kernel.ty(v).elem != Elem::I32 {
                    return None;
                }
                (Of::Distance, [self.byte(x)?, self.byte(y)?])
            }
            _ => return None,
        };
        let unsigned = of != Of::Distance || !x.signed;
        if x.signed != y.signed || x.number != y.number || !unsigned {
            return None;
        }
        // Both operations are commutative: with the words in a canonical order, the four terms of a group have the same
        // key.
        let words = if x.word <= y.word { [x.word, y.word] } else { [y.word, x.word] };
        Some(Term { of, words, byte: x.number })
    }

    /// If `v` is a byte that was extended to a word: the byte.
    fn byte(&self, v: Value) -> Option<Byte> {
        let kernel = &self.kernel;
        let Inst::Cast(narrow) = kernel.def(v).inst else { return None };
        let signed = kernel.ty(narrow).elem == Elem::I8;
        if !is_word(kernel.ty(v)) || !(signed || kernel.ty(narrow).elem == Elem::U8) {
            return None;
        }
        let mut word = match kernel.def(narrow).inst {
            Inst::Cast(word) if is_word(kernel.ty(word)) => word,
            Inst::Bitcast(word) => return self.shifted(word, signed),
            _ => return None,
        };
        let mut number = 0;
        loop {
            match kernel.def(word).inst {
                Inst::Bitcast(of) if is_word(kernel.ty(of)) => word = of,
                // Look through one shift only: with two shifts, the sum of the counts would have to be compared with
                // the width.
                Inst::Bin(Bin::Shr, of, count) if number == 0 => {
                    let elem = kernel.ty(of).elem;
                    let count =
                        kernel.shift_count(count, elem).filter(|count| [8, 16, 24].contains(count))?;
                    (word, number) = (of, count as usize / 8);
                }
                _ => return Some(Byte { word, number, signed }),
            }
        }
    }

    /// If `v` is a byte that shifts have extended, left to the end of a word and right to its beginning, as for an element of a vector: the
    /// byte.
    fn shifted(&self, v: Value, signed: bool) -> Option<Byte> {
        let kernel = &self.kernel;
        let elem = if signed { Elem::I32 } else { Elem::U32 };
        let Inst::Bin(Bin::Shr, left, down) = kernel.def(v).inst else { return None };
        if kernel.ty(v) != Type::varying(elem) || kernel.shift_count(down, elem) != Some(24) {
            return None;
        }
        let (word, up) = match kernel.def(left).inst {
            Inst::Bin(Bin::Shl, word, up) => (word, kernel.shift_count(up, elem)?),
            _ => (left, 0),
        };
        let number = [24, 16, 8, 0].iter().position(|place| *place == up)?;
        Some(Byte { word, number, signed })
    }
}

/// True for a varying 32-bit integer.
fn is_word(ty: Type) -> bool {
    ty == Type::varying(Elem::I32) || ty == Type::varying(Elem::U32)
}
