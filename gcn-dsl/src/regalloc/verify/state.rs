//! The checker's state: the values that each register, lane and dword of the frame holds.
//!
//! A vector register holds a value in some of its lanes. The state does not say which lanes; it says whether
//! the register holds the value in the lanes that are active now ([`ACTIVE`]), and whether it does in those
//! inactive lanes in which the value is defined ([`INACTIVE`]). A value that was written under the current
//! EXEC is undefined in the inactive lanes, so that [`INACTIVE`] is vacuously true for it.

use gcn_isa::reg::RegUnit;
use gcn_isa::target::WAVE_SIZE;
use gcn_isa::{Reg, RegFile, reg};
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

/// A value that a register may hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Value {
    /// The current value of a dword of a virtual register, by number.
    Dword(u32),
    /// The current value of a machine register that is not allocated, or a register's initial state.
    Own(RegUnit),
    /// A constant.
    Const(u32),
    /// A hardware value by its source encoding. It is tracked only for the copy that reads it.
    Special(u8),
    /// A half of the initial EXEC.
    InitialExec(u8),
}

/// A place that holds values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Cell {
    /// A register.
    Unit(RegUnit),
    /// A lane of a VGPR.
    Lane(RegUnit, u8),
    /// A dword of the frame, one for each lane.
    Frame(u32),
    /// A slot of LDS, a dword for each lane.
    Lds(u32),
}

impl Cell {
    /// True if EXEC masks writes to it.
    pub fn is_masked(self) -> bool {
        match self {
            Cell::Unit(unit) => unit.reg().file != RegFile::Sgpr,
            Cell::Lane(..) => false,
            Cell::Frame(_) | Cell::Lds(_) => true,
        }
    }
}

/// The lanes in which a cell holds a value, as a set of the two bits below.
pub(super) type Lanes = u8;
/// The active lanes.
pub(super) const ACTIVE: Lanes = 1;
/// The inactive lanes in which the value is defined.
pub(super) const INACTIVE: Lanes = 2;
/// All lanes in which the value is defined.
pub(super) const ALL: Lanes = 3;

/// The state inside a block.
#[derive(Default)]
pub(super) struct State {
    held: HashMap<Cell, SmallVec<[(Value, Lanes); 2]>>,
    places: HashMap<Value, SmallVec<[Cell; 2]>>,
    undefined: HashSet<Value>,
    /// Values that are undefined in the lanes that are inactive now.
    undef_inactive: HashSet<Value>,
    /// Values that are undefined in the active lanes, because an undefined value was copied.
    undef_active: HashSet<Value>,
    /// VGPRs with a lane that is tracked by itself.
    with_lanes: HashSet<RegUnit>,
    /// The available instructions: repeating one would give the same result.
    pub repeatable: HashSet<u32>,
    /// By dword: the available instructions of which it is a source or result.
    repeats: HashMap<u32, SmallVec<[u32; 2]>>,
    /// By dword: the value that it is a copy of, while neither changes.
    roots: HashMap<u32, Value>,
    /// The inverse of `roots`.
    copies: HashMap<Value, SmallVec<[u32; 2]>>,
}

impl State {
    pub fn new(edge: &Edge) -> State {
        let mut state = State {
            undefined: edge.undefined.iter().copied().collect(),
            undef_inactive: edge.undef_inactive.iter().copied().collect(),
            undef_active: edge.undef_active.iter().copied().collect(),
            ..State::default()
        };
        edge.held.iter().for_each(|&((value, cell), lanes)| state.add(cell, value, lanes));
        edge.roots.iter().for_each(|&(dword, root)| state.copied(dword, root));
        state
    }

    /// The value that `value` is a copy of, or `value` itself.
    pub fn root(&self, value: Value) -> Value {
        match value {
            Value::Dword(d) => self.roots.get(&d).copied().unwrap_or(value),
            _ => value,
        }
    }

    /// The dwords that are copies of `value`.
    pub fn copies_of(&self, value: Value) -> &[u32] {
        self.copies.get(&value).map_or(&[], |list| list)
    }

    /// Records that a dword is a copy of a value.
    pub fn copied(&mut self, dword: u32, root: Value) {
        self.roots.insert(dword, root);
        self.copies.entry(root).or_default().push(dword);
    }

    /// Records that an instruction is available until one of these dwords changes.
    pub fn repeatable_while(&mut self, number: u32, dwords: impl Iterator<Item = u32>) {
        self.repeatable.insert(number);
        dwords.for_each(|d| self.repeats.entry(d).or_default().push(number));
    }

    /// A dword gets another value: it is no longer a copy, its copies are copies of nothing, and the
    /// instructions that read or compute it are no longer available.
    pub fn kill(&mut self, dword: u32) {
        for number in self.repeats.remove(&dword).into_iter().flatten() {
            self.repeatable.remove(&number);
        }
        self.forget_root(dword);
        for copy in self.copies.remove(&Value::Dword(dword)).into_iter().flatten() {
            self.roots.remove(&copy);
        }
    }

    /// Forgets what a dword is a copy of.
    pub fn forget_root(&mut self, dword: u32) {
        if let Some(list) = self.roots.remove(&dword).and_then(|root| self.copies.get_mut(&root)) {
            list.retain(|d| *d != dword);
        }
    }

    /// The part of the state that a successor can use; `crosses` tells which dwords it needs.
    pub fn edge(&self, crosses: impl Fn(u32) -> bool) -> Edge {
        let crosses = |value: &Value| match value {
            Value::Dword(d) => crosses(*d),
            Value::Own(_) | Value::InitialExec(_) => true,
            Value::Const(_) | Value::Special(_) => false,
        };
        let mut held = Vec::new();
        for (&cell, values) in &self.held {
            held.extend(values.iter().filter(|v| crosses(&v.0)).map(|&(v, lanes)| ((v, cell), lanes)));
        }
        held.sort_unstable();
        let sorted = |set: &HashSet<Value>| -> Vec<Value> {
            let mut list: Vec<Value> = set.iter().copied().filter(crosses).collect();
            list.sort_unstable();
            list
        };
        let mut repeatable: Vec<u32> = self.repeatable.iter().copied().collect();
        repeatable.sort_unstable();
        let (undefined, undef_inactive) = (sorted(&self.undefined), sorted(&self.undef_inactive));
        let known = self.roots.iter().filter(|(d, root)| {
            crosses(&Value::Dword(**d)) && matches!(root, Value::Dword(_) | Value::Const(_))
        });
        let mut roots: Vec<(u32, Value)> = known.map(|(&d, &root)| (d, root)).collect();
        roots.sort_unstable();
        Edge { held, undefined, undef_inactive, undef_active: sorted(&self.undef_active), repeatable, roots }
    }

    pub fn is_undefined(&self, value: Value) -> bool {
        self.undefined.contains(&value)
    }

    /// True if the value is undefined in the active lanes.
    pub fn is_undef_active(&self, value: Value) -> bool {
        self.undef_active.contains(&value)
    }

    /// The lanes in which `cell` holds `value`.
    pub fn lanes(&self, cell: Cell, value: Value) -> Lanes {
        if self.is_undefined(value) {
            return ALL;
        }
        let found = self.held.get(&cell).and_then(|list| list.iter().find(|v| v.0 == value));
        let undef_active = if self.undef_active.contains(&value) && cell.is_masked() { ACTIVE } else { 0 };
        found.map_or(0, |v| v.1) | undef_active
    }

    pub fn values(&self, cell: Cell) -> SmallVec<[(Value, Lanes); 2]> {
        self.held.get(&cell).cloned().unwrap_or_default()
    }

    /// The cells that hold `value`, and the lanes in which they do.
    pub fn places(&self, value: Value) -> SmallVec<[(Cell, Lanes); 2]> {
        let cells = self.places.get(&value).into_iter().flatten();
        cells.map(|&cell| (cell, self.lanes(cell, value))).collect()
    }

    /// True if EXEC has its initial value. Then no lane that takes part in the kernel is inactive.
    pub fn exec_is_initial(&self) -> bool {
        let half = |k: u8, unit| self.lanes(Cell::Unit(unit), Value::InitialExec(k)) == ALL;
        reg::EXEC.units().enumerate().all(|(k, unit)| half(k as u8, unit))
    }

    /// True if the value is recorded as undefined in the inactive lanes.
    pub fn marked_undef_inactive(&self, value: Value) -> bool {
        self.undef_inactive.contains(&value)
    }

    /// True if the value is undefined in all inactive lanes, also because there are none.
    pub fn is_undef_inactive(&self, value: Value) -> bool {
        self.undef_inactive.contains(&value) || self.exec_is_initial()
    }

    /// `cell` holds nothing any more.
    pub fn clear(&mut self, cell: Cell) {
        for (old, _) in self.held.remove(&cell).into_iter().flatten() {
            if let Some(list) = self.places.get_mut(&old) {
                list.retain(|c| *c != cell);
            }
        }
        self.drop_lanes_of(cell);
    }

    fn drop_lanes_of(&mut self, cell: Cell) {
        if let Cell::Unit(unit) = cell
            && self.with_lanes.remove(&unit)
        {
            (0..WAVE_SIZE as u8).for_each(|lane| self.clear(Cell::Lane(unit, lane)));
        }
    }

    /// `cell` is written: in the active lanes, or entirely if EXEC does not mask it.
    pub fn overwrite(&mut self, cell: Cell) {
        if !cell.is_masked() {
            return self.clear(cell);
        }
        for (value, lanes) in self.values(cell) {
            // A value that is undefined in the inactive lanes would be held there vacuously; with the active
            // lanes overwritten nothing of it remains.
            let rest = if self.is_undef_inactive(value) { 0 } else { lanes & INACTIVE };
            self.set_lanes(cell, value, rest);
        }
        self.drop_lanes_of(cell);
    }

    /// `cell` receives the values in `from`, as by a move.
    pub fn transfer(&mut self, cell: Cell, from: &[(Value, Lanes)]) {
        if let Cell::Lane(unit, _) = cell {
            // The other 63 lanes keep their contents, but the register as a whole holds none of its old
            // values.
            self.held.remove(&Cell::Unit(unit)).into_iter().flatten().for_each(|(old, _)| {
                if let Some(list) = self.places.get_mut(&old) {
                    list.retain(|c| *c != Cell::Unit(unit));
                }
            });
            self.with_lanes.insert(unit);
        }
        self.overwrite(cell);
        for &(value, lanes) in from.iter().filter(|v| v.1 & ACTIVE != 0) {
            let lanes = match cell.is_masked() {
                false => lanes,
                true if self.is_undef_inactive(value) => ALL,
                true => ACTIVE | self.lanes(cell, value),
            };
            self.set_lanes(cell, value, lanes);
        }
    }

    /// Records that `cell` also holds this value in these lanes.
    pub fn add(&mut self, cell: Cell, value: Value, lanes: Lanes) {
        if let Cell::Lane(unit, _) = cell {
            self.with_lanes.insert(unit);
        }
        self.set_lanes(cell, value, lanes);
    }

    fn set_lanes(&mut self, cell: Cell, value: Value, lanes: Lanes) {
        let list = self.held.entry(cell).or_default();
        let at = list.iter().position(|v| v.0 == value);
        match (at, lanes) {
            (Some(i), 0) => {
                list.remove(i);
                if let Some(list) = self.places.get_mut(&value) {
                    list.retain(|c| *c != cell);
                }
            }
            (Some(i), _) => list[i].1 = lanes,
            (None, 0) => {}
            (None, _) => {
                list.push((value, lanes));
                self.places.entry(value).or_default().push(cell);
            }
        }
    }

    /// The name gets a new value: no place holds the old one under this name any more.
    pub fn forget(&mut self, value: Value) {
        for cell in self.places.remove(&value).into_iter().flatten() {
            if let Some(list) = self.held.get_mut(&cell) {
                list.retain(|v| v.0 != value);
            }
        }
        self.undefined.remove(&value);
        self.undef_inactive.remove(&value);
        self.undef_active.remove(&value);
    }

    /// Marks the value undefined in the active lanes.
    pub fn undefine_active(&mut self, value: Value) {
        self.undef_active.insert(value);
    }

    /// Marks the value undefined.
    pub fn undefine(&mut self, value: Value) {
        self.forget(value);
        self.undefined.insert(value);
    }

    /// Marks the value undefined in the inactive lanes, as it was written under the current EXEC.
    pub fn undefine_inactive(&mut self, value: Value) {
        self.undef_inactive.insert(value);
    }

    /// The name gets a new value in the active lanes and keeps the old one in the others. No cell holds the
    /// new value yet.
    pub fn change_active(&mut self, value: Value) {
        if self.undefined.remove(&value) {
            self.undef_inactive.insert(value);
        }
        self.undef_active.remove(&value);
        for (cell, lanes) in self.places(value) {
            self.set_lanes(cell, value, lanes & INACTIVE);
        }
    }

    /// `cell` holds the current value in the active lanes.
    pub fn hold_active(&mut self, cell: Cell, value: Value) {
        let lanes = if self.is_undef_inactive(value) { ALL } else { self.lanes(cell, value) | ACTIVE };
        self.set_lanes(cell, value, lanes);
    }

    /// EXEC has changed. `narrowed`: every lane that is active now was active before.
    pub fn exec_changed(&mut self, narrowed: bool) {
        let keep = if narrowed { ACTIVE } else { 0 };
        let masked: Vec<Cell> = self.held.keys().copied().filter(|c| c.is_masked()).collect();
        for cell in masked {
            for (value, own) in self.values(cell) {
                let lanes = self.lanes(cell, value);
                // If the value is held in the active lanes only, the lanes that are active now are among them
                // only if EXEC was narrowed. If it is held in all lanes, the change does not matter.
                if lanes != ALL {
                    self.set_lanes(cell, value, lanes & keep);
                } else if own != ALL {
                    self.set_lanes(cell, value, ALL);
                }
            }
        }
        self.undef_inactive.clear();
        if !narrowed {
            self.undef_active.clear();
        }
    }
}

/// The state at a block boundary, with all sets sorted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    held: Vec<((Value, Cell), Lanes)>,
    undefined: Vec<Value>,
    undef_inactive: Vec<Value>,
    undef_active: Vec<Value>,
    pub repeatable: Vec<u32>,
    roots: Vec<(u32, Value)>,
}

impl Edge {
    /// The state in which a kernel starts.
    pub fn at_entry(live_in: &[Reg], dwords: Vec<u32>) -> Edge {
        let named = super::input::FIRST_NAMED_SGPR..128;
        let named = named.map(|i| RegUnit::new(RegFile::Sgpr, i));
        let own = |u| ((Value::Own(u), Cell::Unit(u)), ALL);
        let mut held: Vec<_> = named.chain(live_in.iter().flat_map(|r| r.units())).map(own).collect();
        let exec = reg::EXEC.units().enumerate();
        held.extend(exec.map(|(k, u)| ((Value::InitialExec(k as u8), Cell::Unit(u)), ALL)));
        held.sort_unstable();
        held.dedup();
        let undefined = dwords.into_iter().map(Value::Dword).collect();
        Edge {
            held,
            undefined,
            undef_inactive: Vec::new(),
            undef_active: Vec::new(),
            repeatable: Vec::new(),
            roots: Vec::new(),
        }
    }

    /// The facts that hold on both edges. `results` gives the values that an instruction computes: where they
    /// are undefined, the instruction counts as available.
    pub fn meet<I: Iterator<Item = Value>>(&self, other: &Edge, results: impl Fn(u32) -> I) -> Edge {
        let has = |list: &[Value], value: &Value| list.binary_search(value).is_ok();
        let mut held = Vec::with_capacity(self.held.len().min(other.held.len()));
        let (mut a, mut b) = (self.held.iter().peekable(), other.held.iter().peekable());
        while let Some(first) = a.peek().into_iter().chain(b.peek()).map(|e| e.0).min() {
            let lanes = |next: Option<&((Value, Cell), Lanes)>, edge: &Edge| {
                // Where a value is undefined, every cell holds it.
                let nothing = |list, lanes| if has(list, &first.0) { lanes } else { 0 };
                let free = match first.1.is_masked() {
                    true => nothing(&edge.undef_active, ACTIVE) | nothing(&edge.undef_inactive, INACTIVE),
                    false => 0,
                };
                next.map_or(0, |e| e.1) | free | nothing(&edge.undefined, ALL)
            };
            let here = lanes(a.next_if(|e| e.0 == first), self);
            let there = lanes(b.next_if(|e| e.0 == first), other);
            if here & there != 0 {
                held.push((first, here & there));
            }
        }
        let undefined = self.undefined.iter().filter(|v| has(&other.undefined, v)).copied().collect();
        // An undefined value is undefined in the inactive lanes too.
        let undef_inactive = |a: &Edge, v: &Value| has(&a.undef_inactive, v) || has(&a.undefined, v);
        let mut both: Vec<Value> = self.undef_inactive.iter().chain(&other.undef_inactive).copied().collect();
        both.sort_unstable();
        both.dedup();
        both.retain(|v| undef_inactive(self, v) && undef_inactive(other, v));
        let mut undef_active: Vec<Value> =
            self.undef_active.iter().chain(&other.undef_active).copied().collect();
        undef_active.sort_unstable();
        undef_active.dedup();
        let active = |e: &Edge, v: &Value| has(&e.undef_active, v) || has(&e.undefined, v);
        undef_active.retain(|v| active(self, v) && active(other, v));
        let again = |e: &Edge, n: u32| {
            e.repeatable.binary_search(&n).is_ok() || results(n).all(|v| has(&e.undefined, &v))
        };
        let mut repeatable: Vec<u32> = self.repeatable.iter().chain(&other.repeatable).copied().collect();
        repeatable.sort_unstable();
        repeatable.dedup();
        repeatable.retain(|&n| again(self, n) && again(other, n));
        let root = |e: &Edge, d: u32, root: Value| match e.roots.binary_search_by_key(&d, |r| r.0) {
            Ok(i) => e.roots[i].1 == root,
            Err(_) => has(&e.undefined, &Value::Dword(d)),
        };
        let mut roots: Vec<(u32, Value)> = self.roots.iter().chain(&other.roots).copied().collect();
        roots.sort_unstable();
        roots.dedup();
        roots.retain(|&(d, value)| root(self, d, value) && root(other, d, value));
        Edge { held, undefined, undef_inactive: both, undef_active, repeatable, roots }
    }
}
