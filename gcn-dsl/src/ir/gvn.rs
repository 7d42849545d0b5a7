//! Global value numbering over the structured regions.
//!
//! Values are numbered in program order, by hashing. Two pure instructions with equal operands get the same number
//! wherever they are, because their operands are SSA values. The first of them is the *leader*. If the leader's region
//! encloses the second instruction, the leader dominates the second instruction and replaces it. If the two are in
//! sibling regions, such as both sides of an `if`, the leader is hoisted into the innermost common region, provided
//! that it is cheap integer arithmetic and its operands are defined there. A load gets the number of an earlier load if
//! nothing between them can have written to its memory.
//!
//! A read of a variable gets the number of the variable's current value, if that is known (`current.rs`), so that equal
//! expressions of the read and of the value are shared. If the values of all reads of a variable are known, they
//! replace the reads, and the variable is dead. Otherwise its reads stay: if only some were replaced, the value would
//! stay live in addition to the variable's register. In loops of matrix instructions, which use all registers, that
//! would cost spills.
//!
//! A value that a loop's head computes is also known in its body (`carried.rs`).

mod carried;
mod current;

use std::mem::Discriminant;

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::mark::Mark;
use super::named::Leaf;
use super::{Bin, Inst, Kernel, Manner, Memory, Region, Schedule, Stmt, Type, Value, Variable};
use crate::scalar::Elem;
use carried::Carried;
use current::{Current, Reads};

/// Replaces each value by its leader.
pub fn run(kernel: &mut Kernel) {
    kernel.rewrite(|kernel, body| {
        let mut numbering = Numbering::of(kernel, body);
        // After a change of MODE, equal instructions may give different values. MODE is not an operand, so their keys
        // would be equal nevertheless.
        if numbering.changes_mode {
            return;
        }
        numbering.region(body);
        let Numbering { mut leader, moved, places, regions, carried, reads, .. } = numbering;
        // Replace in program order, because the known value may itself be such a read.
        reads.all_known().for_each(|(read, known)| leader[read.0 as usize] = leader[known.0 as usize]);
        rename(kernel, &leader, body);
        let writes = carried.apply(kernel);
        Placing { writes, ..Placing::of(&leader, &moved, &places, regions.len()) }.region(body);
    });
}

/// Two instructions with the same key compute the same value.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    kind: Discriminant<Inst>,
    /// The fields of the instruction that are not operands.
    detail: u64,
    operands: SmallVec<[Value; 4]>,
    ty: Type,
    /// For a load, the number of statements before it that may have written to its memory.
    epoch: u32,
}

/// The position of a statement: its region, and its index there.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    region: u32,
    index: u32,
}

/// The facts about a region that has been entered.
#[derive(Clone, Copy)]
struct RegionInfo {
    /// The statement that contains the region; the kernel's body is its own parent.
    parent: Place,
    depth: u32,
    /// For the head of a loop: the number of the loop's body, which runs after the head in each iteration.
    body: Option<u32>,
}

struct Numbering<'k> {
    kernel: &'k Kernel,
    changes_mode: bool,
    /// True if the user has fixed the order of loads.
    scheduled: bool,
    /// For each value, the leader that replaces it.
    leader: Vec<Value>,
    /// For each value, its number: its leader, or a value that equals it where it is computed.
    number: Vec<Value>,
    known: HashMap<Key, Value>,
    /// For each leader, its current position.
    places: Vec<Place>,
    /// Leaders that were hoisted, in the order of their last move.
    moved: Vec<Value>,
    regions: Vec<RegionInfo>,
    /// The open regions, outermost first: for each, the index of its current statement.
    open: Vec<Place>,
    /// The number of statements so far that may have written to LDS, and the number of those that may have written to
    /// other memory.
    epochs: [u32; 2],
    current: Current,
    reads: Reads,
    carried: Carried,
}

/// Indices into `Numbering::epochs`.
const LDS: usize = 0;
const OTHER: usize = 1;

impl<'k> Numbering<'k> {
    fn of(kernel: &'k Kernel, body: &Region) -> Numbering<'k> {
        let (mut changes_mode, mut scheduled) = (false, false);
        body.each_inst(&mut |v| match &kernel.def(v).inst {
            Inst::Machine(call) => changes_mode |= call.changes_mode(),
            Inst::Schedule(what) => scheduled |= **what != Schedule::Mark(Mark::Cold),
            _ => {}
        });
        let nowhere = Place { region: u32::MAX, index: 0 };
        Numbering {
            kernel,
            changes_mode,
            scheduled,
            leader: (0..kernel.values.len() as u32).map(Value).collect(),
            number: (0..kernel.values.len() as u32).map(Value).collect(),
            known: HashMap::new(),
            places: vec![nowhere; kernel.values.len()],
            moved: Vec::new(),
            regions: Vec::new(),
            open: Vec::new(),
            epochs: [0; 2],
            current: Current::of(kernel, body),
            reads: Reads::of(kernel),
            carried: Carried::of(kernel),
        }
    }

    /// Numbers the values of a region. Returns the index of the region.
    fn region(&mut self, region: &Region) -> u32 {
        let id = self.regions.len() as u32;
        let parent = self.open.last().copied().unwrap_or(Place { region: id, index: 0 });
        self.regions.push(RegionInfo { parent, depth: self.open.len() as u32, body: None });
        self.open.push(Place { region: id, index: 0 });
        for (index, stmt) in region.stmts.iter().enumerate() {
            if let Some(open) = self.open.last_mut() {
                open.index = index as u32;
            }
            match stmt {
                Stmt::Inst(v) => self.inst(*v),
                // The body may run again after one of its own stores, so its first load must not get the number of a
                // load before the loop.
                stmt if stmt.repeats() => {
                    self.written(&[LDS, OTHER]);
                    self.current.enter_loop();
                }
                _ => {}
            }
            self.inner(stmt);
        }
        self.open.pop();
        id
    }

    /// Numbers the regions of a statement. Facts about variables in one region do not hold in the other regions or
    /// after the statement. There is one exception: the body of a loop inherits the facts of the head, which always
    /// precedes it.
    fn inner(&mut self, stmt: &Stmt) {
        let mark = self.current.mark();
        if let Stmt::While { head, body, .. } = stmt {
            // The facts about variables are kept, because the body always follows the head.
            let head = self.region(head);
            self.regions[head as usize].body = Some(self.regions.len() as u32);
            self.region(body);
        } else {
            for inner in stmt.regions() {
                self.region(inner);
                self.current.reset(&mark);
            }
        }
        self.current.leave(&mark);
    }

    fn written(&mut self, which: &[usize]) {
        which.iter().for_each(|&memory| self.epochs[memory] += 1);
    }

    fn inst(&mut self, v: Value) {
        let here = *self.open.last().unwrap_or_else(|| unreachable!("statements are in regions"));
        self.places[v.0 as usize] = here;
        let inst = &self.kernel.def(v).inst;
        match inst {
            Inst::Read(var) => return self.read(v, *var),
            Inst::Write { var, value, .. } => {
                self.current.write(*var, Some(self.leader[value.0 as usize]));
            }
            Inst::Store { memory, .. } => self.written(&[class(*memory)]),
            // After synchronisation, memory may contain what other waves wrote.
            Inst::Barrier | Inst::Atomic(_) | Inst::Fence { .. } => self.written(&[LDS, OTHER]),
            inst if inst.has_effect() => self.written(&[LDS, OTHER]),
            _ => {}
        }
        let Some(key) = self.key(v) else { return };
        match self.known.get(&key).copied() {
            // The leader precedes the current point and is in an open region, so it dominates this instruction.
            Some(first) if self.is_open(self.places[first.0 as usize].region) => {
                self.replace(v, first);
            }
            Some(first) if is_cheap(self.kernel, first) && self.hoist(first) => {
                self.replace(v, first);
            }
            first => {
                let of_head = first.filter(|v| self.is_head_around(self.places[v.0 as usize].region));
                if let Some(first) = of_head {
                    self.number[v.0 as usize] = self.number[first.0 as usize];
                }
                if of_head.is_none_or(|first| !self.carried.add(self.kernel, first, v)) {
                    self.known.insert(key, v);
                }
            }
        }
    }

    fn replace(&mut self, v: Value, leader: Value) {
        self.leader[v.0 as usize] = leader;
        self.number[v.0 as usize] = self.number[leader.0 as usize];
    }

    fn read(&mut self, v: Value, var: Variable) {
        if self.carried.is_observed(var) {
            return;
        }
        let known = self.current.get(var).filter(|known| self.kernel.ty(*known) == self.kernel.ty(v));
        if let Some(known) = known {
            self.number[v.0 as usize] = self.number[known.0 as usize];
        } else {
            self.current.read(var, v);
        }
        // A value that is defined in a loop's head is not visible in the body.
        let is_defined = |known: &Value| self.is_open(self.places[known.0 as usize].region);
        self.reads.add(var, v, known.filter(is_defined));
    }

    /// True if the region is the head of a loop whose body is open.
    fn is_head_around(&self, region: u32) -> bool {
        let body = self.regions.get(region as usize).and_then(|region| region.body);
        body.is_some_and(|body| self.is_open(body))
    }

    /// True if the region is open. The statements that have been numbered in it then dominate the current point.
    fn is_open(&self, region: u32) -> bool {
        let depth = self.regions.get(region as usize).map_or(usize::MAX, |r| r.depth as usize);
        self.open.get(depth).is_some_and(|open| open.region == region)
    }

    /// Hoists `v` to the innermost open region around it, if its operands are defined there. Returns true if `v` was
    /// hoisted.
    fn hoist(&mut self, v: Value) -> bool {
        let mut place = self.places[v.0 as usize];
        while !self.is_open(place.region) {
            place = self.regions[place.region as usize].parent;
        }
        let mut known = true;
        self.kernel.def(v).inst.operands(|operand| {
            let at = self.places[self.leader[operand.0 as usize].0 as usize];
            // Use the operands' current positions, since an operand may itself have been hoisted.
            known &= self.is_open(at.region)
                && self.regions[at.region as usize].depth <= self.regions[place.region as usize].depth;
        });
        if known {
            self.places[v.0 as usize] = place;
            self.moved.push(v);
        }
        known
    }

    fn key(&self, v: Value) -> Option<Key> {
        let inst = &self.kernel.def(v).inst;
        let ty = self.kernel.ty(v);
        let (detail, epoch) = match inst {
            Inst::Const(bits) => (*bits, 0),
            Inst::KernArg { offset } => (u64::from(*offset), 0),
            Inst::WorkgroupId(d) | Inst::GridSize(d) | Inst::LocalId(d) => (u64::from(*d), 0),
            Inst::Bin(op, ..) => (*op as u64, 0),
            Inst::Un(op, _) => (*op as u64, 0),
            Inst::Cmp(pred, ..) => (*pred as u64, 0),
            Inst::Extract { dword, .. } => (u64::from(*dword), 0),
            Inst::Splat(_) | Inst::Fma(..) | Inst::Select(..) | Inst::Cast(_) | Inst::Bitcast(_) => (0, 0),
            Inst::Concat(_) | Inst::LaneId | Inst::Constants => (0, 0),
            Inst::LoadUniform { resource, .. } if self.kernel.read_only.contains(resource) => (0, 0),
            // Let the key's detail distinguish arrays, whose ids are not among the operands.
            Inst::Load { memory, manner: Manner::Plain, .. } if !self.scheduled => match memory {
                Memory::Buffer(resource) if self.kernel.read_only.contains(resource) => (1, 0),
                Memory::Buffer(_) => (1, self.epochs[OTHER]),
                Memory::Global(_) => (2, self.epochs[OTHER]),
                Memory::Lanes(_) => (3, self.epochs[OTHER]),
                Memory::Private(id) => (4 | u64::from(id.0) << 8, self.epochs[OTHER]),
                Memory::Lds(id) => (5 | u64::from(id.0) << 8, self.epochs[LDS]),
            },
            _ => return None,
        };
        let mut operands = SmallVec::new();
        inst.operands(|operand| operands.push(self.number[operand.0 as usize]));
        // Sort the operands, so that `a + b` and `b + a` have equal keys.
        if matches!(inst, Inst::Bin(op, ..) if op.commutes()) {
            operands.sort_unstable();
        }
        Some(Key { kind: std::mem::discriminant(inst), detail, operands, ty, epoch })
    }
}

fn class(memory: Memory) -> usize {
    if matches!(memory, Memory::Lds(_)) { LDS } else { OTHER }
}

/// True for arithmetic of a single instruction that may be executed where its result is not needed: it has no effect
/// and cannot fault.
pub(super) fn is_cheap(kernel: &Kernel, v: Value) -> bool {
    let ty = kernel.ty(v);
    let integer = ty.count == 1 && matches!(ty.elem, Elem::I32 | Elem::U32 | Elem::I64 | Elem::U64);
    match &kernel.def(v).inst {
        Inst::Const(_) | Inst::LaneId | Inst::LocalId(_) => true,
        Inst::Splat(_) | Inst::Bitcast(_) | Inst::Cast(_) => integer,
        Inst::Bin(op, ..) => integer && !matches!(op, Bin::Div | Bin::Rem),
        _ => false,
    }
}

/// Replaces all uses of values by uses of their leaders.
fn rename(kernel: &mut Kernel, leader: &[Value], body: &mut Region) {
    let first = |v: &mut Value| *v = leader[v.0 as usize];
    for def in &mut kernel.values {
        def.inst.operands_mut(first);
    }
    // Instructions contain constants as operands, so a uniform constant that was converted to varying is replaced by a
    // constant.
    for v in 0..kernel.values.len() {
        if let Inst::Splat(of) = kernel.values[v].inst
            && let Inst::Const(bits) = kernel.def(of).inst
        {
            kernel.values[v].inst = Inst::Const(bits);
        }
    }
    kernel.read_only.iter_mut().for_each(first);
    kernel.whole_dwords.iter_mut().for_each(first);
    for leaf in kernel.debug.names.iter_mut().flat_map(|named| &mut named.leaves) {
        if let Leaf::Value(v) = leaf {
            first(v);
        }
    }
    rename_conditions(leader, body);
}

fn rename_conditions(leader: &[Value], region: &mut Region) {
    for stmt in &mut region.stmts {
        if let Stmt::If { cond, .. } | Stmt::While { cond, .. } | Stmt::DoWhile { cond, .. } = stmt {
            *cond = leader[cond.0 as usize];
        }
        stmt.regions_mut().into_iter().for_each(|inner| rename_conditions(leader, inner));
    }
}

/// Moves hoisted instructions to their new positions, and removes instructions that a leader replaces.
struct Placing<'a> {
    leader: &'a [Value],
    has_moved: Vec<bool>,
    /// For each result of a loop's head that is carried to the body: the write to insert after it.
    writes: HashMap<Value, Value>,
    /// For each region, the instructions to insert, each with the index of the statement before which it is inserted.
    arrivals: Vec<Vec<(u32, Value)>>,
    /// The index of the next region. Regions are visited in the order in which they were numbered.
    next: usize,
}

impl<'a> Placing<'a> {
    fn of(leader: &'a [Value], moved: &[Value], places: &[Place], regions: usize) -> Placing<'a> {
        let mut has_moved = vec![false; leader.len()];
        let mut arrivals = vec![Vec::new(); regions];
        // The last move of a value counts. Operands are hoisted before the instructions that use them, so the order of
        // moves respects dependences.
        for v in moved.iter().rev() {
            if !std::mem::replace(&mut has_moved[v.0 as usize], true) {
                let to = places[v.0 as usize];
                arrivals[to.region as usize].push((to.index, *v));
            }
        }
        for region in &mut arrivals {
            region.reverse();
            region.sort_by_key(|(index, _)| *index);
        }
        Placing { leader, has_moved, writes: HashMap::new(), arrivals, next: 0 }
    }

    fn region(&mut self, region: &mut Region) {
        let mut arrivals = std::mem::take(&mut self.arrivals[self.next]).into_iter().peekable();
        self.next += 1;
        let mut index = 0;
        region.rebuild(|mut stmt, out| {
            while let Some((_, v)) = arrivals.next_if(|(at, _)| *at == index) {
                self.place(v, out);
            }
            index += 1;
            stmt.regions_mut().into_iter().for_each(|inner| self.region(inner));
            let stays = |v: Value| self.leader[v.0 as usize] == v && !self.has_moved[v.0 as usize];
            match stmt {
                Stmt::Inst(v) if stays(v) => self.place(v, out),
                Stmt::Inst(_) => {}
                stmt => out.push(stmt),
            }
        });
    }

    fn place(&self, v: Value, stmts: &mut Vec<Stmt>) {
        let write = self.writes.get(&v).copied();
        stmts.extend([Some(v), write].into_iter().flatten().map(Stmt::Inst));
    }
}
