//! Emits the packed instructions.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::super::uniform::is_computed;
use super::super::{Call, Inst, Kernel, Place, Region, Stmt, Type, Value};
use super::cost::is_inline;
use super::half::Half;
use super::{Found, Origin, Pair, Word, instruction};
use crate::scalar::Elem;

const WORD: Type = Type::varying(Elem::U32);

/// Packs the pairs in `found`, and replaces the words that are composed of their results.
pub(super) fn run(kernel: &mut Kernel, found: &Found) {
    let mut emit = Emit { kernel, pairs: &found.pairs, values: HashMap::new(), before: HashMap::new() };
    found.packed.iter().for_each(|pair| emit.pair(*pair));
    let replaced = emit.words(&found.words);
    let Emit { kernel, mut before, .. } = emit;
    kernel.rewrite(|kernel, body| {
        body.each_inst(&mut |v| {
            if let Inst::Write { value, .. } = &mut kernel.values[v.0 as usize].inst {
                *value = replaced.get(value).copied().unwrap_or(*value);
            }
        });
        insert(body, &mut before);
    });
}

/// For each instruction: the statements to insert before it, and true if the instruction itself is removed.
type Before = HashMap<Value, (Vec<Stmt>, bool)>;

struct Emit<'a> {
    kernel: &'a mut Kernel,
    pairs: &'a [Pair],
    /// The results of the packed instructions, by pair.
    values: HashMap<usize, Value>,
    before: Before,
}

impl Emit<'_> {
    fn pair(&mut self, at: usize) {
        let pair = &self.pairs[at];
        let Some((mnemonic, subtracts)) = instruction(pair.op, pair.elem) else { return };
        let mut out = Vec::new();
        let (mut halves, mut signs) = ([0u8; 2], [if subtracts { 0b10u8 } else { 0 }; 2]);
        let mut args: SmallVec<[Value; 3]> = SmallVec::new();
        for (slot, source) in pair.sources.iter().enumerate() {
            let (arg, selected) = match pair.elem {
                Elem::F32 => self.wide_source(source.from, &mut out),
                elem => self.source(source.from, elem, &mut out),
            };
            args.push(arg);
            for (half, selected) in halves.iter_mut().zip(selected) {
                *half |= u8::from(selected) << slot;
            }
            for (sign, negated) in signs.iter_mut().zip(source.negated) {
                *sign ^= u8::from(negated) << slot;
            }
        }
        // Two 16-bit halves form a word, as in the variables that contain them.
        let ty = if pair.elem == Elem::F32 { two(Place::Varying, pair.elem) } else { WORD };
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
        let wide = pair.elem == Elem::F32;
        if wide {
            // Other readers extract the results from the packed value.
            for (dword, result) in pair.results.into_iter().enumerate() {
                self.kernel.values[result.0 as usize].inst =
                    Inst::Extract { from: value, dword: dword as u8 };
                out.push(Stmt::Inst(result));
                self.before.insert(result, (Vec::new(), true));
            }
        }
        self.before.insert(pair.last, (out, wide));
    }

    /// Replaces the words. Returns the map from old values to new ones.
    fn words(&mut self, words: &[Word]) -> HashMap<Value, Value> {
        let mut replaced = HashMap::new();
        for word in words {
            let Some(&packed) = self.values.get(&word.pair) else { continue };
            let inst = match (self.kernel.def(word.value).inst.clone(), word.dword) {
                (Inst::Concat(mut parts), Some(dword)) if parts.len() > 2 => {
                    let mut at = 0;
                    let first = parts.iter().position(|part| {
                        at += self.kernel.ty(*part).dwords();
                        at > dword
                    });
                    let Some(first) = first else { continue };
                    parts.remove(first + 1);
                    parts[first] = packed;
                    Inst::Concat(parts)
                }
                _ => {
                    replaced.insert(word.value, packed);
                    Inst::Bitcast(packed)
                }
            };
            self.kernel.values[word.value.0 as usize].inst = inst;
        }
        replaced
    }

    /// Emits a source of dwords. Returns the argument and two flags: true if its second dword is selected, for the low
    /// and for the high half of the result.
    fn wide_source(&mut self, from: Origin, out: &mut Vec<Stmt>) -> (Value, [bool; 2]) {
        let varying = two(Place::Varying, Elem::F32);
        let (inst, ty, halves) = match from {
            Origin::Pair(of) => return (self.values[&of], [false, true]),
            Origin::Dwords(v, dword, halves) => {
                let Type { place, .. } = self.kernel.ty(v);
                match self.kernel.ty(v).dwords() - dword {
                    // The last dword of a value with an odd number of them has no neighbour.
                    1 => {
                        let ty = Type { place, ..Type::varying(Elem::F32) };
                        let last = self.append(Inst::Extract { from: v, dword }, ty, out);
                        (Inst::Concat(SmallVec::from_slice(&[last])), two(place, Elem::F32), halves)
                    }
                    2 if dword == 0 => return (v, halves),
                    _ => (Inst::Extract { from: v, dword }, two(place, Elem::F32), halves),
                }
            }
            // Only the low dword of the two is read.
            Origin::Halves(v, halves) => match self.kernel.def(v).inst {
                Inst::Splat(uniform) if !is_computed(self.kernel, uniform) => {
                    (Inst::Concat(SmallVec::from_slice(&[uniform])), two(Place::Uniform, Elem::F32), halves)
                }
                _ => (Inst::Concat(SmallVec::from_slice(&[v])), varying, halves),
            },
            Origin::Constant(bits) if is_inline(bits) => (Inst::Const(bits.into()), varying, [false, false]),
            Origin::Constant(bits) => {
                let literal = self.append(Inst::Const(bits.into()), Type::uniform(Elem::F32), out);
                let pair = two(Place::Uniform, Elem::F32);
                (Inst::Concat(SmallVec::from_slice(&[literal])), pair, [false, false])
            }
            Origin::Apart(halves) => {
                let parts = halves.map(|half| self.dword(half, out));
                (Inst::Concat(SmallVec::from_slice(&parts)), varying, [false, true])
            }
        };
        (self.append(inst, ty, out), halves)
    }

    fn dword(&mut self, half: Half, out: &mut Vec<Stmt>) -> Value {
        let inst = match half {
            Half::Const(bits) => Inst::Const(bits.into()),
            Half::Low(v) | Half::High(v) => return v,
            Half::Dword(from, dword) => {
                let ty = Type { place: self.kernel.ty(from).place, elem: Elem::F32, count: 1 };
                let v = self.append(Inst::Extract { from, dword }, ty, out);
                match ty.place {
                    Place::Uniform => Inst::Splat(v),
                    _ => return v,
                }
            }
        };
        self.append(inst, Type::varying(Elem::F32), out)
    }

    /// Emits a source of 16-bit halves. Returns the argument and two flags: true if its high half is selected, for the
    /// low and for the high half of the result.
    fn source(&mut self, from: Origin, elem: Elem, out: &mut Vec<Stmt>) -> (Value, [bool; 2]) {
        match from {
            Origin::Pair(of) => (self.values[&of], [false, true]),
            // An instruction can read one scalar register directly. A uniform value that a vector instruction computes
            // is in a vector register already.
            Origin::Halves(v, halves) | Origin::Dwords(v, _, halves) => match self.kernel.def(v).inst {
                Inst::Splat(uniform) if !is_computed(self.kernel, uniform) => (uniform, halves),
                _ => (v, halves),
            },
            Origin::Constant(bits) => {
                // A small integer is an inline constant if its sign extension to 32 bits is one.
                let bits = if elem.is_float() { bits } else { i32::from(bits as i16).cast_unsigned() };
                (self.append(Inst::Const(bits.into()), Type::varying(elem), out), [false, false])
            }
            Origin::Apart([Half::Const(low), Half::Const(high)]) => {
                (self.append(Inst::Const((low | high << 16).into()), WORD, out), [false, true])
            }
            Origin::Apart(halves) => (together(self.kernel, halves, out), [false, true]),
        }
    }

    fn append(&mut self, inst: Inst, ty: Type, out: &mut Vec<Stmt>) -> Value {
        self.kernel.append(inst, ty, None, out)
    }
}

fn two(place: Place, elem: Elem) -> Type {
    Type { place, elem, count: 2 }
}

/// Composes two 16-bit halves into a word.
pub(super) fn together(kernel: &mut Kernel, halves: [Half; 2], out: &mut Vec<Stmt>) -> Value {
    let mut selector = 0;
    let [low, high] = [0usize, 1].map(|side| {
        let (inst, first) = match halves[side] {
            Half::Const(bits) => (Inst::Const(bits.into()), 0),
            Half::Low(v) | Half::Dword(v, _) => (Inst::Bitcast(v), 0),
            Half::High(v) => (Inst::Bitcast(v), 2),
        };
        // Selectors 0 to 3 are bytes of the instruction's second source, 4 to 7 bytes of the first.
        let first = first + 4 * side as u32;
        selector |= (first | (first + 1) << 8) << (16 * side);
        kernel.append(inst, WORD, None, out)
    });
    let selector = kernel.append(Inst::Const(selector.into()), WORD, None, out);
    let call = Call::plain("v_perm_b32", [high, low, selector], WORD);
    kernel.append(Inst::Machine(Box::new(call)), WORD, None, out)
}

fn insert(region: &mut Region, before: &mut Before) {
    region.rebuild(|mut stmt, out| {
        let found = match &stmt {
            Stmt::Inst(v) => before.remove(v),
            _ => None,
        };
        let goes = found.as_ref().is_some_and(|(_, goes)| *goes);
        out.extend(found.into_iter().flat_map(|(stmts, _)| stmts));
        stmt.regions_mut().into_iter().for_each(|inner| insert(inner, before));
        if !goes {
            out.push(stmt);
        }
    });
}
