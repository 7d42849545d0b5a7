//! Multiplications of which a kernel uses the upper half of the product.
//!
//! For 32-bit words, one instruction computes both halves (`v_mad_u64_u32`), in the time of either half alone. For
//! 64-bit integers, the upper half ([`Bin::MulHi`]) is computed from four products of words, which also give the lower
//! half.

use hashbrown::HashMap;

use super::{Bin, Call, Inst, Kernel, Region, Stmt, Type, Value};
use crate::scalar::Elem;

const WORD: Type = Type::varying(Elem::U32);
const WIDE: Type = Type::varying(Elem::U64);

/// Expands the upper halves of 64-bit products in `kernel`, and computes both halves at once if both are used. Returns
/// true if anything was changed.
pub fn run(kernel: &mut Kernel) -> bool {
    kernel.rewrite(region)
}

fn region(kernel: &mut Kernel, region_: &mut Region) -> bool {
    let mut found = false;
    for stmt in &mut region_.stmts {
        stmt.regions_mut().into_iter().for_each(|inner| found |= region(kernel, inner));
    }
    // Collect the halves before any product is replaced, because a factor may itself be half of another product.
    let halves: HashMap<Value, (Half, [Value; 2])> =
        region_.insts().filter_map(|v| Some((v, half(kernel, v)?))).collect();
    let mut products = wanted(kernel, &halves);
    if products.is_empty() {
        return found;
    }
    region_.rebuild(|stmt, out| {
        if let Stmt::Inst(v) = stmt
            && let Some((half, factors)) = halves.get(&v)
            && let Some(product) = products.get_mut(factors)
        {
            let both = *product.halves.get_or_insert_with(|| match product.elem.bytes() {
                4 => of_words(kernel, v, product.elem, out),
                _ => of_pairs(kernel, v, product.both, out),
            });
            // The signedness of the product matters only for an upper half. If it differs from that of the product that
            // is computed, the half is left as it is.
            if *half == Half::Lower || kernel.ty(v).elem == product.elem {
                kernel.values[v.0 as usize].inst = Inst::Bitcast(both[*half as usize]);
                found = true;
            }
        }
        out.push(stmt);
    });
    found
}

/// A half of a product.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Lower,
    Upper,
}

/// A product whose upper half is used.
struct Product {
    /// The type of the upper half.
    elem: Elem,
    /// True if the lower half is used, too.
    both: bool,
    /// The lower and the upper half, once they are computed.
    halves: Option<[Value; 2]>,
}

/// The products to replace, by their factors: 64-bit products whose upper half is used, and products of words of which
/// both halves are used.
fn wanted(kernel: &Kernel, halves: &HashMap<Value, (Half, [Value; 2])>) -> HashMap<[Value; 2], Product> {
    let of = |wanted| halves.iter().filter(move |(_, (half, _))| *half == wanted);
    let mut products = HashMap::new();
    for (v, (_, factors)) in of(Half::Upper) {
        let elem = kernel.ty(*v).elem;
        let product = products.entry(*factors).or_insert(Product { elem, both: false, halves: None });
        // If both an i32 and a u32 product occur, take the smaller type, so that the result does not depend on the
        // map's order.
        product.elem = product.elem.min(elem);
    }
    for (_, (_, factors)) in of(Half::Lower) {
        products.get_mut(factors).into_iter().for_each(|product: &mut Product| product.both = true);
    }
    products.retain(|_, product| product.both || product.elem.bytes() == 8);
    products
}

/// If `v` is half of a varying product: which half, and the factors in a canonical order; `None` otherwise.
fn half(kernel: &Kernel, v: Value) -> Option<(Half, [Value; 2])> {
    let ty = kernel.ty(v);
    let integer = matches!(ty.elem, Elem::I32 | Elem::U32 | Elem::I64 | Elem::U64);
    let half = match kernel.def(v).inst {
        Inst::Bin(Bin::Mul, ..) => Half::Lower,
        Inst::Bin(Bin::MulHi, ..) => Half::Upper,
        _ => return None,
    };
    let Inst::Bin(_, a, b) = kernel.def(v).inst else { return None };
    let mut factors = [a, b].map(|v| same_bits(kernel, v));
    factors.sort_unstable();
    (integer && ty == Type::varying(ty.elem)).then_some((half, factors))
}

/// The value without bitcasts.
fn same_bits(kernel: &Kernel, v: Value) -> Value {
    match kernel.def(v).inst {
        Inst::Bitcast(of) => same_bits(kernel, of),
        _ => v,
    }
}

/// Emits both halves of the product of words of which `v` is a half; `elem` is the type of the upper half.
fn of_words(kernel: &mut Kernel, v: Value, elem: Elem, out: &mut Vec<Stmt>) -> [Value; 2] {
    let Inst::Bin(_, a, b) = kernel.def(v).inst else { return [v; 2] };
    let (loc, word) = (kernel.def(v).loc, Type::varying(elem));
    let (mnemonic, wide) = match elem {
        Elem::I32 => ("v_mad_i64_i32", Type::varying(Elem::I64)),
        _ => ("v_mad_u64_u32", WIDE),
    };
    let [a, b] = [a, b].map(|x| match kernel.ty(x) == word {
        true => x,
        false => kernel.append(Inst::Bitcast(x), word, loc, out),
    });
    let zero = kernel.append(Inst::Const(0), wide, loc, out);
    let whole = multiply(kernel, v, (mnemonic, wide), [a, b, zero], out);
    [0, 1].map(|dword| kernel.append(Inst::Extract { from: whole, dword }, word, loc, out))
}

/// Emits both halves of the 64-bit product of which `v` is a half; the lower half only if `both`.
fn of_pairs(kernel: &mut Kernel, v: Value, both: bool, out: &mut Vec<Stmt>) -> [Value; 2] {
    let Inst::Bin(_, a, b) = kernel.def(v).inst else { return [v; 2] };
    let (loc, constants) = (kernel.def(v).loc, [a, b].map(|factor| kernel.constant(factor)));
    let zero = kernel.append(Inst::Const(0), WORD, loc, out);
    let mut add = |inst, ty| kernel.append(inst, ty, loc, out);
    let [a0, a1, b0, b1] =
        [(a, 0), (a, 1), (b, 0), (b, 1)].map(|(from, dword)| match constants[usize::from(from == b)] {
            Some(bits) => add(Inst::Const(bits >> (32 * dword) & 0xffff_ffff), WORD),
            None => add(Inst::Extract { from, dword }, WORD),
        });
    let (lowest, carry) = match both {
        true => {
            let zero = add(Inst::Const(0), WIDE);
            let whole = multiply(kernel, v, ("v_mad_u64_u32", WIDE), [a0, b0, zero], out);
            let [low, high] =
                [0, 1].map(|dword| kernel.append(Inst::Extract { from: whole, dword }, WORD, loc, out));
            (low, high)
        }
        false => (zero, add(Inst::Bin(Bin::MulHi, a0, b0), WORD)),
    };
    // No addition overflows: (2^32 - 1)^2 + 2 (2^32 - 1) < 2^64.
    let mut mad = |a, b, word: Value, out: &mut Vec<Stmt>| {
        let sum = kernel.append(Inst::Concat([word, zero].into_iter().collect()), WIDE, loc, out);
        let sum = multiply(kernel, v, ("v_mad_u64_u32", WIDE), [a, b, sum], out);
        (sum, [0, 1].map(|dword| kernel.append(Inst::Extract { from: sum, dword }, WORD, loc, out)))
    };
    let (_, first) = mad(a0, b1, carry, out);
    let (_, second) = mad(a1, b0, first[0], out);
    let (top, _) = mad(a1, b1, first[1], out);
    let rest = kernel.append(Inst::Concat([second[1], zero].into_iter().collect()), WIDE, loc, out);
    let upper = kernel.append(Inst::Bin(Bin::Add, top, rest), WIDE, loc, out);
    let lower = kernel.append(Inst::Concat([lowest, second[0]].into_iter().collect()), WIDE, loc, out);
    [lower, upper]
}

/// Emits `a * b + c` of two words and a 64-bit integer; `v` gives the source location.
fn multiply(
    kernel: &mut Kernel,
    v: Value,
    (mnemonic, wide): (&'static str, Type),
    operands: [Value; 3],
    out: &mut Vec<Stmt>,
) -> Value {
    let call = Call::plain(mnemonic, operands, wide);
    let results = [wide, Type::varying(Elem::Bool)].into_iter().collect();
    let loc = kernel.def(v).loc;
    kernel.append(Inst::Machine(Box::new(Call { results, ..call })), wide, loc, out)
}
