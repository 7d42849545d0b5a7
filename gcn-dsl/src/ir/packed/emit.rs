//! The packed instructions.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::super::uniform::is_computed;
use super::super::{Call, Inst, Kernel, Place, Region, Stmt, Type, Value};
use super::half::Half;
use super::{Origin, Pair, instruction};
use crate::scalar::Elem;

const WORD: Type = Type::varying(Elem::U32);

/// Packs the pairs `packed`, which are in program order, and makes the `words` that are put together of their results.
pub(super) fn run(kernel: &mut Kernel, pairs: &[Pair], packed: &[usize], words: &[(Value, usize)]) {
    let mut emit = Emit { kernel, pairs, values: HashMap::new(), before: HashMap::new() };
    packed.iter().for_each(|pair| emit.pair(*pair));
    for (word, pair) in words {
        if let Some(value) = emit.values.get(pair) {
            emit.kernel.values[word.0 as usize].inst = Inst::Bitcast(*value);
        }
    }
    let Emit { kernel, mut before, .. } = emit;
    let mut body = std::mem::take(&mut kernel.body);
    insert(&mut body, &mut before);
    kernel.body = body;
}

struct Emit<'a> {
    kernel: &'a mut Kernel,
    pairs: &'a [Pair],
    /// The packed results.
    values: HashMap<usize, Value>,
    /// Statements to insert before an instruction.
    before: HashMap<Value, Vec<Stmt>>,
}

impl Emit<'_> {
    fn pair(&mut self, at: usize) {
        let pair = &self.pairs[at];
        let Some((mnemonic, subtracts)) = instruction(pair.op, pair.elem) else { return };
        let mut out = Vec::new();
        let (mut halves, mut signs) = ([0u8; 2], [if subtracts { 0b10u8 } else { 0 }; 2]);
        let mut args: SmallVec<[Value; 3]> = SmallVec::new();
        for (slot, source) in pair.sources.iter().enumerate() {
            let (arg, selected) = self.source(source.from, pair.elem, &mut out);
            args.push(arg);
            for (half, selected) in halves.iter_mut().zip(selected) {
                *half |= u8::from(selected) << slot;
            }
            for (sign, negated) in signs.iter_mut().zip(source.negated) {
                *sign ^= u8::from(negated) << slot;
            }
        }
        let ty = Type { place: Place::Varying, elem: pair.elem, count: 2 };
        let mut call = Call::plain(mnemonic, args, ty);
        if halves != [0, 0b111 >> (3 - pair.sources.len())] {
            call.given.select_halves(halves);
        }
        if signs != [0; 2] {
            call.given.negate(signs);
        }
        let loc = self.kernel.def(pair.last).loc;
        let value = self.kernel.append(Inst::Machine(Box::new(call)), ty, loc, &mut out);
        self.values.insert(at, value);
        self.before.insert(pair.last, out);
    }

    /// A source as an argument, and which of its halves are meant: for the low and for the high half of the result.
    fn source(&mut self, from: Origin, elem: Elem, out: &mut Vec<Stmt>) -> (Value, [bool; 2]) {
        match from {
            Origin::Pair(of) => (self.values[&of], [false, true]),
            // An instruction reads one scalar as it is. What vector instructions compute is in a vector register already.
            Origin::Halves(v, halves) => match self.kernel.def(v).inst {
                Inst::Splat(uniform) if !is_computed(self.kernel, uniform) => (uniform, halves),
                _ => (v, halves),
            },
            Origin::Constant(bits) => {
                // Small integers need no register if all 32 bits are those of the number.
                let bits =
                    if elem.is_float() { bits.into() } else { i32::from(bits.cast_signed()).cast_unsigned() };
                (self.append(Inst::Const(bits.into()), Type::varying(elem), out), [false, false])
            }
            Origin::Apart([Half::Const(low), Half::Const(high)]) => {
                let bits = u32::from(low) | u32::from(high) << 16;
                (self.append(Inst::Const(bits.into()), WORD, out), [false, true])
            }
            Origin::Apart(halves) => (self.together(halves, out), [false, true]),
        }
    }

    /// Two halves in one word.
    fn together(&mut self, halves: [Half; 2], out: &mut Vec<Stmt>) -> Value {
        let mut selector = 0;
        let [low, high] = [0usize, 1].map(|side| {
            let (inst, first) = match halves[side] {
                Half::Const(bits) => (Inst::Const(bits.into()), 0),
                Half::Low(v) => (Inst::Bitcast(v), 0),
                Half::High(v) => (Inst::Bitcast(v), 2),
            };
            // Bytes 0 to 3 are of the instruction's second source, 4 to 7 of the first.
            let first = first + 4 * side as u32;
            selector |= (first | (first + 1) << 8) << (16 * side);
            self.append(inst, WORD, out)
        });
        let selector = self.append(Inst::Const(selector.into()), WORD, out);
        let call = Call::plain("v_perm_b32", [high, low, selector], WORD);
        self.append(Inst::Machine(Box::new(call)), WORD, out)
    }

    fn append(&mut self, inst: Inst, ty: Type, out: &mut Vec<Stmt>) -> Value {
        self.kernel.append(inst, ty, None, out)
    }
}

fn insert(region: &mut Region, before: &mut HashMap<Value, Vec<Stmt>>) {
    let mut stmts = Vec::with_capacity(region.stmts.len());
    for mut stmt in std::mem::take(&mut region.stmts) {
        if let Stmt::Inst(v) = &stmt {
            stmts.extend(before.remove(v).into_iter().flatten());
        }
        stmt.regions_mut().into_iter().for_each(|inner| insert(inner, before));
        stmts.push(stmt);
    }
    region.stmts = stmts;
}
