//! The checker's state: the values that each register, lane and dword of the frame holds.
//!
//! A vector register holds a value in some of its lanes. The state does not say which lanes; it says whether
//! the register holds the value in the lanes that are active now ([`ACTIVE`]), and whether it does in those
//! inactive lanes in which the value is defined ([`INACTIVE`]). A value that was written under the current
//! EXEC is undefined in the inactive lanes, so that [`INACTIVE`] is vacuously true for it.
//!
//! A dword that equals a constant is held wherever the constant is. That is recorded once for the dword
//! (`constants`) and not for each register: accumulators that start with zeros would otherwise take a number
//! of facts that is quadratic in the number of their registers.

use gcn_isa::reg::RegUnit;
use gcn_isa::target::WAVE_SIZE;
use gcn_isa::{RegFile, reg};
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::edge::Edge;

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
    /// Dwords that equal a constant in all lanes in which they are defined.
    constants: HashMap<u32, u32>,
    /// The inverse of `constants`.
    equal: HashMap<u32, SmallVec<[u32; 2]>>,
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
        edge.constants.iter().for_each(|&(dword, bits)| state.equals(dword, bits));
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

    /// The constant that `value` is or equals.
    pub fn constant(&self, value: Value) -> Option<u32> {
        match value {
            Value::Dword(d) => self.constants.get(&d).copied(),
            Value::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// Records that a dword equals a constant in all lanes in which it is defined.
    pub fn equals(&mut self, dword: u32, bits: u32) {
        self.constants.insert(dword, bits);
        self.equal.entry(bits).or_default().push(dword);
    }

    fn forget_constant(&mut self, value: Value) {
        if let Value::Dword(d) = value
            && let Some(list) = self.constants.remove(&d).and_then(|bits| self.equal.get_mut(&bits))
        {
            list.retain(|other| *other != d);
        }
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
        let constants = self.constants.iter().map(|(&d, &bits)| (d, bits));
        let mut constants: Vec<(u32, u32)> = constants.filter(|c| crosses(c.0)).collect();
        constants.sort_unstable();
        let needed: HashSet<u32> = constants.iter().map(|c| c.1).collect();
        let crosses = |value: &Value| match value {
            Value::Dword(d) => crosses(*d),
            Value::Own(_) | Value::InitialExec(_) => true,
            Value::Const(bits) => needed.contains(bits),
            Value::Special(_) => false,
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
        let undef_active = sorted(&self.undef_active);
        Edge { held, constants, undefined, undef_inactive, undef_active, repeatable, roots }
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
        let held = |value| self.held.get(&cell)?.iter().find(|v| v.0 == value).map(|v| v.1);
        // What is undefined in the active and in the inactive lanes is held by every cell.
        let undefined = match self.undef_active.contains(&value) && cell.is_masked() {
            true if self.is_undef_inactive(value) => ALL,
            true => ACTIVE,
            false => 0,
        };
        let constant = self.constant(value).map(Value::Const).filter(|constant| *constant != value);
        let equal = match constant.and_then(held).unwrap_or(0) {
            lanes if lanes & ACTIVE != 0 && self.is_undef_inactive(value) => ALL,
            lanes => lanes,
        };
        held(value).unwrap_or(0) | undefined | equal
    }

    /// The dwords that `cell` holds.
    pub fn dwords(&self, cell: Cell) -> SmallVec<[u32; 2]> {
        let mut dwords = SmallVec::new();
        for (value, _) in self.held.get(&cell).into_iter().flatten() {
            match value {
                Value::Dword(d) => dwords.push(*d),
                Value::Const(bits) => dwords.extend(self.equal.get(bits).into_iter().flatten().copied()),
                _ => {}
            }
        }
        dwords
    }

    pub fn values(&self, cell: Cell) -> SmallVec<[(Value, Lanes); 2]> {
        self.held.get(&cell).cloned().unwrap_or_default()
    }

    /// The cells that hold `value`, and the lanes in which they do.
    pub fn places(&self, value: Value) -> SmallVec<[(Cell, Lanes); 2]> {
        let own = self.places.get(&value).into_iter().flatten();
        let constant = self.constant(value).map(Value::Const).filter(|c| *c != value);
        let also = constant.and_then(|c| self.places.get(&c)).into_iter().flatten();
        let also = also.filter(|cell| !self.held.get(*cell).is_some_and(|l| l.iter().any(|v| v.0 == value)));
        own.chain(also).map(|&cell| (cell, self.lanes(cell, value))).collect()
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
        self.forget_constant(value);
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
        let places = self.places(value);
        self.forget_constant(value);
        for (cell, lanes) in places {
            self.set_lanes(cell, value, lanes & INACTIVE);
        }
    }

    /// `cell` holds the current value in the active lanes.
    pub fn hold_active(&mut self, cell: Cell, value: Value) {
        let lanes = if self.is_undef_inactive(value) { ALL } else { self.lanes(cell, value) | ACTIVE };
        self.set_lanes(cell, value, lanes);
    }

    /// A cell that holds a constant in the active lanes holds the dwords that equal it and are undefined in the inactive lanes
    /// everywhere. Gives the cell their names, since the lanes will not be known to be these.
    fn name_constants(&mut self) {
        let mut named = Vec::new();
        for (&cell, values) in &self.held {
            for (value, _) in values.iter().filter(|v| v.1 == ACTIVE) {
                let Value::Const(bits) = value else { continue };
                let equal = self.equal.get(bits).into_iter().flatten().map(|d| Value::Dword(*d));
                named.extend(equal.filter(|d| self.undef_inactive.contains(d)).map(|d| (cell, d)));
            }
        }
        named.into_iter().for_each(|(cell, value)| self.set_lanes(cell, value, ALL));
    }

    /// EXEC has changed. `narrowed`: every lane that is active now was active before.
    pub fn exec_changed(&mut self, narrowed: bool) {
        self.name_constants();
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
