//! Both halves of a product, where a kernel asks for both.
//!
//! Of words, one instruction gives both (`v_mad_u64_u32`), in the time that either half alone takes. The upper half of a 128-bit product
//! is a chain of four instructions, that of `mul_hi` in the language, three of which compute the lower half on the way: it is taken from
//! there and not multiplied again. The chain's first instruction is exchanged for one that gives both halves of the product of the
//! lower words.

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::{Arg, Bin, Call, Inst, Kernel, Region, Stmt, Type, Value};
use crate::scalar::Elem;

const MAD: &str = "v_mad_u64_u32";
const HIGH: &str = "v_mul_hi_u32";

/// The part of a chain that computes the lower half too.
struct Chain {
    /// The factors, the smaller number first.
    factors: [Value; 2],
    /// The lower dwords of the factors, as the chain has them.
    low: [Value; 2],
    /// The upper dword of the product of the lower dwords.
    carry: Value,
    /// The call that adds it to the first of the products across; a model for another such call.
    first: Value,
    /// Adds the second of the products across: its lower dword is the upper one of the lower half.
    second: Value,
}

/// Replaces the lower halves of `kernel`. True if there are any.
pub fn run(kernel: &mut Kernel) -> bool {
    kernel.rewrite(region)
}

fn region(kernel: &mut Kernel, region_of: &mut Region) -> bool {
    let mut found = false;
    for stmt in &mut region_of.stmts {
        stmt.regions_mut().into_iter().for_each(|inner| found |= region(kernel, inner));
    }
    let mut halves = Halves::of(kernel, region_of);
    if halves.chains.is_empty() && halves.words.is_empty() {
        return found;
    }
    for stmt in std::mem::take(&mut region_of.stmts) {
        if let Stmt::Inst(v) = stmt {
            found |= halves.place(kernel, v);
        } else {
            halves.stmts.push(stmt);
        }
    }
    region_of.stmts = halves.stmts;
    found
}

/// The products of a region of which it computes both halves, and its new statements.
struct Halves {
    here: HashSet<Value>,
    /// By the factors.
    chains: HashMap<[Value; 2], Chain>,
    /// Products of words, by the factors: the type of the upper half, and the whole product once it is there.
    words: HashMap<[Value; 2], (Elem, Option<Value>)>,
    /// The products of the lower words that chains begin with, by what the chains began with.
    whole: HashMap<Value, Value>,
    /// Instructions that have been placed.
    placed: HashSet<Value>,
    stmts: Vec<Stmt>,
}

impl Halves {
    fn of(kernel: &Kernel, region: &Region) -> Halves {
        let here: HashSet<Value> = region.insts().collect();
        let insts = || region.insts();
        let chains = insts().filter_map(|v| chain(kernel, &here, v)).map(|chain| (chain.factors, chain));
        let halves =
            |op| insts().filter_map(move |v| Some((word_product(kernel, v, op)?, kernel.ty(v).elem)));
        let lower: HashSet<[Value; 2]> = halves(Bin::Mul).map(|(factors, _)| factors).collect();
        let upper = halves(Bin::MulHi).filter(|(factors, _)| lower.contains(factors));
        Halves {
            chains: chains.collect(),
            words: upper.map(|(factors, elem)| (factors, (elem, None))).collect(),
            here,
            whole: HashMap::new(),
            placed: HashSet::new(),
            stmts: Vec::with_capacity(region.stmts.len() + 8),
        }
    }

    /// Places an instruction; as a part of a whole product, if it is one. True if it is.
    fn place(&mut self, kernel: &mut Kernel, v: Value) -> bool {
        if self.placed.contains(&v) {
            return false;
        }
        let is_part = self.lower_half(kernel, v) || self.word(kernel, v);
        self.placed.insert(v);
        self.stmts.push(Stmt::Inst(v));
        is_part
    }

    /// Places an instruction of the region now, after those of its operands that have not been placed.
    fn place_early(&mut self, kernel: &Kernel, v: Value) {
        if !self.here.contains(&v) || !self.placed.insert(v) {
            return;
        }
        kernel.def(v).inst.operands(|operand| self.place_early(kernel, operand));
        self.stmts.push(Stmt::Inst(v));
    }

    /// Makes a half of a product of words a part of the whole product.
    fn word(&mut self, kernel: &mut Kernel, v: Value) -> bool {
        for (op, dword) in [(Bin::Mul, 0), (Bin::MulHi, 1)] {
            let Some(factors) = word_product(kernel, v, op) else { continue };
            let Some((elem, whole)) = self.words.get_mut(&factors) else { continue };
            if op == Bin::MulHi && kernel.ty(v).elem != *elem {
                continue;
            }
            let from = *whole.get_or_insert_with(|| multiply(kernel, v, *elem, &mut self.stmts));
            kernel.values[v.0 as usize].inst = Inst::Extract { from, dword };
            return true;
        }
        false
    }

    /// Makes the lower half of a 128-bit product that of the chain with its upper half.
    fn lower_half(&mut self, kernel: &mut Kernel, v: Value) -> bool {
        let Some(chain) = product(kernel, v).and_then(|factors| self.chains.get(&factors)) else {
            return false;
        };
        let (carry, first, low, high) = (chain.carry, chain.first, chain.low, chain.second);
        self.place_early(kernel, high);
        let whole = *self
            .whole
            .entry(carry)
            .or_insert_with(|| both_halves(kernel, (carry, first), low, &mut self.stmts));
        let (loc, ty) = (kernel.def(v).loc, Type::varying(Elem::U32));
        let mut part = |from| kernel.append(Inst::Extract { from, dword: 0 }, ty, loc, &mut self.stmts);
        let parts = [whole, high].map(&mut part);
        kernel.values[v.0 as usize].inst = Inst::Concat(parts.into_iter().collect());
        true
    }
}

/// The factors of a half of a product of words that each lane has, in order.
fn word_product(kernel: &Kernel, v: Value, half: Bin) -> Option<[Value; 2]> {
    match kernel.def(v).inst {
        Inst::Bin(op, a, b) if op == half && kernel.ty(v).is_varying_word() => Some(factors(kernel, [a, b])),
        _ => None,
    }
}

/// The whole product of the words that `v` multiplies, of which `elem` is the type of the upper half.
fn multiply(kernel: &mut Kernel, v: Value, elem: Elem, stmts: &mut Vec<Stmt>) -> Value {
    let Inst::Bin(_, a, b) = kernel.def(v).inst else { return v };
    let (loc, word) = (kernel.def(v).loc, Type::varying(elem));
    let (mnemonic, wide) = match elem {
        Elem::I32 => ("v_mad_i64_i32", Type::varying(Elem::I64)),
        _ => (MAD, Type::varying(Elem::U64)),
    };
    let [a, b] = [a, b].map(|x| match kernel.ty(x) == word {
        true => x,
        false => kernel.append(Inst::Bitcast(x), word, loc, stmts),
    });
    let zero = kernel.append(Inst::Const(0), wide, loc, stmts);
    let call = Call::plain(mnemonic, [a, b, zero], wide);
    let results = [wide, Type::varying(Elem::Bool)].into_iter().collect();
    kernel.append(Inst::Machine(Box::new(Call { results, ..call })), wide, loc, stmts)
}

/// The factors of a product of 64 bits, in order.
fn product(kernel: &Kernel, v: Value) -> Option<[Value; 2]> {
    let Inst::Bin(Bin::Mul, a, b) = kernel.def(v).inst else { return None };
    let ty = kernel.ty(v);
    (matches!(ty.elem, Elem::U64 | Elem::I64) && ty == Type::varying(ty.elem))
        .then(|| factors(kernel, [a, b]))
}

fn factors(kernel: &Kernel, both: [Value; 2]) -> [Value; 2] {
    let mut both = both.map(|v| same_bits(kernel, v));
    both.sort_unstable();
    both
}

/// The value of which `v` has the bits.
fn same_bits(kernel: &Kernel, v: Value) -> Value {
    match kernel.def(v).inst {
        Inst::Bitcast(of) => same_bits(kernel, of),
        _ => v,
    }
}

/// The chain of which `v` is the second product across.
fn chain(kernel: &Kernel, here: &HashSet<Value>, v: Value) -> Option<Chain> {
    let [a1, b0, sum] = call(kernel, v, MAD)?;
    let first = word(kernel, low_only(kernel, sum)?, 0)?;
    let [a0, b1, sum] = call(kernel, first, MAD)?;
    let carry = low_only(kernel, sum)?;
    let low = call::<2>(kernel, carry, HIGH)?;
    let (a, b) = (word(kernel, a0, 0)?, word(kernel, b0, 0)?);
    let whole = word(kernel, a1, 1) == Some(a) && word(kernel, b1, 1) == Some(b) && low == [a0, b0];
    let together = [v, first, carry].iter().all(|v| here.contains(v));
    (whole && together).then(|| Chain { factors: factors(kernel, [a, b]), low, carry, first, second: v })
}

/// The operands of a plain call of this instruction.
fn call<const N: usize>(kernel: &Kernel, v: Value, mnemonic: &str) -> Option<[Value; N]> {
    let Inst::Machine(call) = &kernel.def(v).inst else { return None };
    let value = |arg: &Arg| if let Arg::Value(v) = arg { Some(*v) } else { None };
    let args: SmallVec<[Value; 4]> = call.args.iter().map(value).collect::<Option<_>>()?;
    let plain = Call::plain(call.mnemonic, args.iter().copied(), *call.results.first()?);
    let is_plain = Call { results: call.results.clone(), ..plain } == **call;
    if is_plain && call.mnemonic == mnemonic { args[..].try_into().ok() } else { None }
}

/// The dword that a 64-bit value is, with zero above.
fn low_only(kernel: &Kernel, v: Value) -> Option<Value> {
    match &kernel.def(v).inst {
        Inst::Concat(parts) if parts.len() == 2 && kernel.constant(parts[1]) == Some(0) => Some(parts[0]),
        _ => None,
    }
}

/// The value of which `v` is this dword.
fn word(kernel: &Kernel, v: Value, number: u8) -> Option<Value> {
    match kernel.def(v).inst {
        Inst::Extract { from, dword } if dword == number => Some(from),
        _ => None,
    }
}

/// Makes the chain's first instruction one that gives both halves of the product of the lower words: that product.
fn both_halves(
    kernel: &mut Kernel,
    (carry, model): (Value, Value),
    low: [Value; 2],
    stmts: &mut Vec<Stmt>,
) -> Value {
    let (loc, ty) = (kernel.def(carry).loc, kernel.ty(model));
    let mut before = Vec::new();
    let zero = kernel.append(Inst::Const(0), ty, loc, &mut before);
    let mut inst = kernel.def(model).inst.clone();
    if let Inst::Machine(call) = &mut inst {
        call.args = [low[0], low[1], zero].into_iter().map(Arg::Value).collect();
    }
    let whole = kernel.append(inst, ty, loc, &mut before);
    kernel.values[carry.0 as usize].inst = Inst::Extract { from: whole, dword: 1 };
    let at = stmts.iter().rposition(|stmt| *stmt == Stmt::Inst(carry)).unwrap_or(stmts.len());
    stmts.splice(at..at, before);
    whole
}
