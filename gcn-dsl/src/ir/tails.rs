//! Tails: the last elements of slices with 8- and 16-bit elements, which wide accesses would lose.
//!
//! A buffer instruction checks each dword separately against the buffer's size (MI100 manual 9.1.5: "per component"),
//! and drops a dword that is only partly inside the buffer. The simulator does the same, and Mesa's RADV rounds buffer
//! sizes up to dwords so that it can move 8- and 16-bit data by dwords. If the length of a `&[f16]` is odd, a wide load
//! therefore returns 0 for the last element, and a wide store does not write it. This pass adds narrow accesses for
//! these elements, each of which is entirely inside or entirely outside the buffer.
//!
//! The manual's formula compares only the offset: read literally, a dword that begins inside the buffer is moved as a
//! whole. Loads are correct under both readings, because this dword of the result is replaced. Under the literal
//! reading, a store also writes up to three bytes after the slice, but it would do so without this pass as well.
//!
//! An access has at most one dword that is partly inside, the *partial dword*, and it is the same for all lanes. After
//! a wide load, the dword of the result that is the partial one is replaced. After a wide store, the lane that has the
//! partial dword stores its elements again, one by one; the other lanes store outside of the buffer, which has no
//! effect.
//!
//! The replacement is inserted just before the first use of the loaded value, so that the wait for the load does not
//! move up. If accesses are aligned, only slices whose size is not a multiple of 4 have a partial dword. Outside of
//! loops, a scalar branch skips the added instructions for all other slices; in a loop, a branch would prevent
//! instructions from overlapping.

mod last;

use gcn_isa::Target;
use hashbrown::{HashMap, HashSet};

use super::align::Alignment;
use super::mark::Mark;
use super::{
    Bin, Inst, Kernel, Manner, Memory, Place, Pred, Region, Schedule, Stmt, Type, Value, ValueDef, Variable,
};
use crate::scalar::Elem;

/// An offset that is outside of every buffer. Adding two bytes to it does not wrap at 2^32.
const OUTSIDE: u32 = 0xffff_fff0;

const UNIFORM: Type = Type::uniform(Elem::U32);
const LANE: Type = Type::varying(Elem::U32);
const CONDITION: Type = Type::varying(Elem::Bool);

/// Adds the missing accesses to wide accesses of narrow elements. Returns true if there are such wide accesses.
pub fn run(kernel: &mut Kernel, target: Target) -> bool {
    let mut found = false;
    kernel.body.each_inst(&mut |v| found |= Access::of(kernel, v).is_some());
    if !found {
        return false;
    }
    let alignment = Alignment::of(kernel);
    kernel.rewrite(|kernel, body| {
        let mut tails = Tails {
            loops: 0,
            long_buffers: target.has_long_buffers(),
            kernel,
            alignment,
            entry: body.insts().collect(),
            replaced: HashMap::new(),
            places: HashMap::new(),
            constant: HashMap::new(),
            early: HashMap::new(),
        };
        tails.region(body);
        let mut early = tails.early;
        body.rebuild(|stmt, out| {
            // The partial dword of a read-only slice is loaded once, immediately after the resource is defined, so that
            // all accesses can use it.
            let found = if let Stmt::Inst(v) = stmt { early.remove(&v) } else { None };
            out.push(stmt);
            out.extend(found.into_iter().flatten());
        });
    });
    true
}

/// A wide access to narrow elements of a buffer.
#[derive(Clone)]
struct Access {
    resource: Value,
    offset: Value,
    /// The stored value; `None` for a load.
    stored: Option<Value>,
    ty: Type,
    /// The special property of the original instruction; the added accesses have it, too.
    manner: Manner,
}

impl Access {
    fn of(kernel: &Kernel, v: Value) -> Option<Access> {
        let def = kernel.def(v);
        let (memory, offset, stored, manner) = match def.inst {
            Inst::Load { memory, offset, manner } => (memory, offset, None, manner),
            Inst::Store { memory, offset, value, manner } => (memory, offset, Some(value), manner),
            _ => return None,
        };
        let Memory::Buffer(resource) = memory else { return None };
        let ty = stored.map_or_else(|| kernel.ty(v), |value| kernel.ty(value));
        // A single element is entirely inside or entirely outside the buffer.
        let wide = ty.elem.bytes() < 4 && ty.count > 1 && !kernel.whole_dwords.contains(&resource);
        wide.then_some(Access { resource, offset, stored, ty, manner })
    }

    /// The same kind of access at the offset `at`; `value` is stored, or `None` for a load.
    fn at(&self, at: Value, value: Option<Value>) -> Inst {
        let (memory, offset, manner) = (Memory::Buffer(self.resource), at, self.manner);
        match value {
            None => Inst::Load { memory, offset, manner },
            Some(value) => Inst::Store { memory, offset, value, manner },
        }
    }
}

/// The partial dword of a slice, as far as it does not depend on the access. For 16-bit elements, it begins with the
/// last element, whatever the alignment of the access is. For bytes that are accessed at multiples of 4, it contains
/// the bytes after the last whole dword. For other accesses to bytes, it contains the last three bytes of the slice,
/// from which the access's partial dword is computed.
#[derive(Clone, Copy)]
struct Last {
    /// The byte offset; varying.
    at: Value,
    /// The contents. Bytes outside the slice are 0.
    bits: Value,
}

/// A load whose value no statement has used yet.
struct Loaded {
    value: Value,
    access: Access,
    /// The partial dword; `None` if it is loaded only where the loaded value is first used.
    last: Option<Last>,
    aligned: bool,
}

struct Tails<'k> {
    /// The number of loops around the current point.
    loops: u32,
    long_buffers: bool,
    kernel: &'k mut Kernel,
    alignment: Alignment,
    /// The instructions of the outermost region.
    entry: HashSet<Value>,
    /// For a completed load, the value that replaces it, and that value's dwords.
    replaced: HashMap<Value, (Value, Vec<Value>)>,
    /// The offsets of partial dwords, by resource, element size in bytes, and a flag that is true if accesses are
    /// aligned.
    places: HashMap<(Value, u32, bool), Value>,
    /// The partial dwords of read-only slices, which are loaded once, after the instruction that defines the resource.
    constant: HashMap<(Value, u32, bool), Last>,
    /// The instructions that load these partial dwords, by resource.
    early: HashMap<Value, Vec<Stmt>>,
}

impl Tails<'_> {
    /// Transforms `region`. Returns the loads whose values are not used in the region.
    fn region(&mut self, region: &mut Region) -> Vec<Loaded> {
        let mut loaded: Vec<Loaded> = Vec::new();
        region.rebuild(|mut stmt, out| {
            if !loaded.is_empty() {
                let used = self.uses(&stmt);
                // The partial dword is inserted at the first statement that uses the loaded value, perhaps in a nested
                // region. Inserting it at the load would also move the wait for the load there.
                for load in loaded.extract_if(.., |load| used.contains(&load.value)) {
                    self.complete(&load, out);
                }
            }
            self.rename(&mut stmt);
            let repeats = stmt.repeats();
            self.loops += u32::from(repeats);
            for inner in stmt.regions_mut() {
                loaded.extend(self.region(inner));
            }
            self.loops -= u32::from(repeats);
            out.push(stmt);
            let Some(Stmt::Inst(v)) = out.last() else { return };
            let v = *v;
            let Some(access) = Access::of(self.kernel, v) else { return };
            let aligned = self.alignment.bits(self.kernel, access.offset) >= 2;
            // If accesses are not aligned, any lane may have the partial dword, so there is no scalar condition for a
            // branch.
            let branches = aligned && self.loops == 0;
            if access.stored.is_none() {
                let last = (!branches).then(|| self.last(&access, aligned, out));
                loaded.push(Loaded { value: v, access, last, aligned });
            } else if branches {
                self.where_partial(&access, out, |tails, out| {
                    let at = tails.partial_at(&access, out);
                    tails.store(&access, at, aligned, out);
                });
            } else {
                let at = self.last_at(&access, aligned, out);
                self.store(&access, at, aligned, out);
            }
        });
        loaded
    }

    /// The values that a statement uses, including those that statements nested in it use.
    fn uses(&self, stmt: &Stmt) -> HashSet<Value> {
        let mut used = HashSet::new();
        let mut each = |v: Value| {
            self.kernel.def(v).inst.operands(|operand| {
                used.insert(operand);
            });
        };
        if let Stmt::Inst(v) = stmt {
            each(*v);
        }
        for inner in stmt.regions() {
            inner.each_inst(&mut each);
        }
        used
    }

    /// Replaces loaded values by the values with the partial dword inserted.
    fn rename(&mut self, stmt: &mut Stmt) {
        let Stmt::Inst(v) = stmt else { return };
        let inst = &mut self.kernel.values[v.0 as usize].inst;
        if let Inst::Extract { from, dword } = inst
            && let Some((_, dwords)) = self.replaced.get(from)
        {
            // Use the replaced dword directly, so that an instruction that reads one dword does not need the whole
            // value.
            *inst = Inst::Bitcast(dwords[usize::from(*dword)]);
            return;
        }
        inst.operands_mut(|operand| {
            if let Some((whole, _)) = self.replaced.get(operand) {
                *operand = *whole;
            }
        });
    }

    /// Appends a branch whose statements run only if the size of the slice is not a multiple of 4.
    fn where_partial(
        &mut self,
        access: &Access,
        out: &mut Vec<Stmt>,
        add: impl FnOnce(&mut Self, &mut Vec<Stmt>),
    ) {
        let bytes = self.size(access.resource, out);
        let [three, zero] = [3, 0].map(|bits| self.value(Inst::Const(bits), UNIFORM, out));
        let after = self.value(Inst::Bin(Bin::And, bytes, three), UNIFORM, out);
        let cond = self.value(Inst::Cmp(Pred::Ne, after, zero), Type::uniform(Elem::Bool), out);
        let rare = self.append(Inst::Schedule(Box::new(Schedule::Mark(Mark::Cold))), None);
        let mut stmts = vec![Stmt::Inst(rare)];
        add(self, &mut stmts);
        out.push(Stmt::If { cond, then: Region { stmts }, els: Region::default() });
    }

    /// The size of a resource in bytes, which is NUM_RECORDS because the stride is 0.
    fn size(&mut self, resource: Value, out: &mut Vec<Stmt>) -> Value {
        if !self.long_buffers {
            return self.value(Inst::Extract { from: resource, dword: 2 }, UNIFORM, out);
        }
        // NUM_RECORDS begins after the 57 bits of the base. A slice has less than 2^32 bytes.
        let [low, high] =
            [1, 2].map(|dword| self.value(Inst::Extract { from: resource, dword }, UNIFORM, out));
        let [after, below] = [25, 7].map(|n| self.value(Inst::Const(n), UNIFORM, out));
        let low = self.value(Inst::Bin(Bin::Shr, low, after), UNIFORM, out);
        let high = self.value(Inst::Bin(Bin::Shl, high, below), UNIFORM, out);
        self.value(Inst::Bin(Bin::Or, low, high), UNIFORM, out)
    }

    /// Replaces the partial dword of a loaded value.
    fn complete(&mut self, load: &Loaded, out: &mut Vec<Stmt>) {
        let (whole, dwords) = match load.last {
            Some(last) => self.completed(load.value, load, last, out),
            None => {
                let ty = Type { place: Place::Varying, ..load.access.ty };
                self.kernel.variables.push(ty);
                let var = Variable(self.kernel.variables.len() as u32 - 1);
                self.write(var, load.value, out);
                self.where_partial(&load.access, out, |tails, out| {
                    let at = tails.partial_at(&load.access, out);
                    let last = tails.load_last(&load.access, at, out);
                    // Read the variable instead of the loaded value, which would otherwise need separate registers.
                    let value = tails.value(Inst::Read(var), ty, out);
                    let (whole, _) = tails.completed(value, load, last, out);
                    tails.write(var, whole, out);
                });
                let whole = self.value(Inst::Read(var), ty, out);
                let mut part = |dword| self.value(Inst::Extract { from: whole, dword }, LANE, out);
                let dwords = (0..ty.dwords()).map(&mut part).collect();
                (whole, dwords)
            }
        };
        self.replaced.insert(load.value, (whole, dwords));
    }

    fn write(&mut self, var: Variable, value: Value, out: &mut Vec<Stmt>) {
        let v = self.append(Inst::Write { var, value, keep: false }, None);
        out.push(Stmt::Inst(v));
    }

    /// The loaded value with its partial dword replaced, and its dwords.
    fn completed(
        &mut self,
        value: Value,
        load: &Loaded,
        last: Last,
        out: &mut Vec<Stmt>,
    ) -> (Value, Vec<Value>) {
        let Loaded { access, aligned, .. } = load;
        let from_here = self.value(Inst::Bin(Bin::Sub, last.at, access.offset), LANE, out);
        let dwords: Vec<Value> = (0..access.ty.dwords())
            .map(|dword| {
                let word = self.value(Inst::Extract { from: value, dword }, LANE, out);
                let here = self.is_here(access, from_here, dword, *aligned, out);
                let bits = if access.ty.elem.bytes() == 1 && !aligned {
                    // The partial dword begins `after` bytes after the first of the slice's last three bytes, so shift
                    // these three bytes down by that distance.
                    let after = self.plus(from_here, -4 * i32::from(dword), out);
                    let zero = self.lanes(0, out);
                    let after = self.value(Inst::Bin(Bin::Sub, zero, after), LANE, out);
                    let three = self.lanes(3, out);
                    let shift = self.value(Inst::Bin(Bin::Shl, after, three), LANE, out);
                    self.value(Inst::Bin(Bin::Shr, last.bits, shift), LANE, out)
                } else {
                    last.bits
                };
                self.value(Inst::Select(here, bits, word), LANE, out)
            })
            .collect();
        let whole = self.value(Inst::Concat(dwords.iter().copied().collect()), access.ty, out);
        (whole, dwords)
    }

    /// Stores the elements of the partial dword.
    fn store(&mut self, access: &Access, at: Value, aligned: bool, out: &mut Vec<Stmt>) {
        let Some(stored) = access.stored else { return };
        let from_here = self.value(Inst::Bin(Bin::Sub, at, access.offset), LANE, out);
        let bytes = access.ty.elem.bytes();
        let outside = self.lanes(OUTSIDE, out);
        // Lanes without the partial dword store outside of the buffer, which the bounds check drops; that is cheaper
        // than a branch.
        let (mut word, mut place) = (None, outside);
        for dword in 0..access.ty.dwords() {
            let here = self.is_here(access, from_here, dword, aligned, out);
            let this = self.value(Inst::Extract { from: stored, dword }, LANE, out);
            word = Some(match word {
                Some(before) => self.value(Inst::Select(here, this, before), LANE, out),
                None => this,
            });
            if bytes == 1 && !aligned {
                let at = self.plus(access.offset, 4 * i32::from(dword), out);
                place = self.value(Inst::Select(here, at, place), LANE, out);
            }
        }
        if bytes == 2 || aligned {
            // True in the lanes in which the partial dword is one of this access's dwords.
            let end = self.lanes(4 * u32::from(access.ty.dwords()), out);
            let mut within = self.value(Inst::Cmp(Pred::Lt, from_here, end), CONDITION, out);
            if !aligned {
                let (three, zero) = (self.lanes(3, out), self.lanes(0, out));
                let low = self.value(Inst::Bin(Bin::And, from_here, three), LANE, out);
                let begins = self.value(Inst::Cmp(Pred::Eq, low, zero), CONDITION, out);
                within = self.value(Inst::Bin(Bin::And, within, begins), CONDITION, out);
            }
            place = self.value(Inst::Select(within, at, outside), LANE, out);
        }
        let Some(word) = word else { return };
        let element = Type { count: 1, ..access.ty };
        for n in 0..if bytes == 1 { 3 } else { 1 } {
            let at = self.plus(place, n, out);
            let shift = self.lanes(8 * n as u32, out);
            let bits = if n == 0 { word } else { self.value(Inst::Bin(Bin::Shr, word, shift), LANE, out) };
            let bits = self.value(Inst::Bitcast(bits), element, out);
            let inst = access.at(at, Some(bits));
            let v = self.append(inst, None);
            out.push(Stmt::Inst(v));
        }
    }

    /// True in the lanes in which dword number `number` of the access is the partial dword. `from_here` is the distance
    /// from the start of the access to the partial dword.
    fn is_here(
        &mut self,
        access: &Access,
        from_here: Value,
        dword: u8,
        aligned: bool,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let number = 4 * i32::from(dword);
        if access.ty.elem.bytes() == 2 || aligned {
            let number = self.lanes(number as u32, out);
            return self.value(Inst::Cmp(Pred::Eq, from_here, number), CONDITION, out);
        }
        // The partial dword begins with one of the slice's last three bytes, the first of which is at `from_here`. So
        // the distance from there to the dword's start is 0, 1 or 2 bytes. One unsigned comparison tests for all three.
        let two_before = self.plus(from_here, 2 - number, out);
        let three = self.lanes(3, out);
        self.value(Inst::Cmp(Pred::Lt, two_before, three), CONDITION, out)
    }

    fn plus(&mut self, v: Value, n: i32, out: &mut Vec<Stmt>) -> Value {
        if n == 0 {
            return v;
        }
        let n = self.lanes(n as u32, out);
        self.value(Inst::Bin(Bin::Add, v, n), LANE, out)
    }

    fn lanes(&mut self, bits: u32, out: &mut Vec<Stmt>) -> Value {
        self.value(Inst::Const(bits.into()), LANE, out)
    }

    fn value(&mut self, inst: Inst, ty: Type, out: &mut Vec<Stmt>) -> Value {
        let v = self.append(inst, Some(ty));
        out.push(Stmt::Inst(v));
        v
    }

    fn append(&mut self, inst: Inst, ty: Option<Type>) -> Value {
        self.kernel.values.push(ValueDef { inst, ty, loc: None });
        Value(self.kernel.values.len() as u32 - 1)
    }
}
