//! The checker's state: the values that each register, lane and dword of memory contains.
//!
//! A vector register contains a value in some of its lanes. The state does not say in which lanes; it only says whether
//! the register contains the value in the lanes that are active now ([`ACTIVE`]), and in those inactive lanes in which
//! the value is defined ([`INACTIVE`]). A value that was written under the current EXEC is undefined in the inactive
//! lanes, so [`INACTIVE`] is vacuously true for it.
//!
//! A dword that equals a constant is contained in every location that contains the constant. That is recorded once for
//! the dword (`constants`), not for each register; otherwise accumulators that start with zeros would need a number of
//! facts that is quadratic in the number of registers.

use gcn_isa::reg;
use gcn_isa::reg::RegUnit;
use gcn_isa::target::WAVE_SIZE;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::facts::{Facts, Marks, Values};
use super::value::{ACTIVE, ALL, Cell, INACTIVE, Lanes, Value};

/// The state inside a block.
pub(super) struct State {
    pub(super) facts: Facts,
    /// The facts about cells at the block's entry, sorted.
    pub(super) entered: Vec<((Value, Cell), Lanes)>,
    /// The dwords that equal a constant in all lanes in which they are defined.
    pub(super) constants: HashMap<u32, u32>,
    /// The inverse of `constants`.
    equal: HashMap<u32, SmallVec<[u32; 2]>>,
    /// The VGPRs of which single lanes are tracked.
    with_lanes: HashSet<RegUnit>,
    /// The numbers of the available instructions: repeating one would give the same result.
    pub(super) repeatable: HashSet<u32>,
    /// For each dword, the available instructions of which it is a source or result.
    repeats: HashMap<u32, SmallVec<[u32; 2]>>,
    /// For each dword that is a copy, the value of which it is a copy, as long as neither of the two changes.
    pub(super) roots: HashMap<u32, Value>,
    /// The inverse of `roots`.
    copies: HashMap<Value, SmallVec<[u32; 2]>>,
}

impl State {
    /// An empty state for `dwords` dwords of virtual registers.
    pub fn new(dwords: usize) -> State {
        State::with(Facts::new(dwords))
    }

    pub(super) fn with(facts: Facts) -> State {
        State {
            facts,
            entered: Vec::new(),
            constants: HashMap::new(),
            equal: HashMap::new(),
            with_lanes: HashSet::new(),
            repeatable: HashSet::new(),
            repeats: HashMap::new(),
            roots: HashMap::new(),
            copies: HashMap::new(),
        }
    }

    /// The value of which `value` is a copy, or `value` itself.
    pub fn root(&self, value: Value) -> Value {
        match value {
            Value::Dword(d) if self.facts.has(value, Marks::COPY) => {
                self.roots.get(&d).copied().unwrap_or(value)
            }
            _ => value,
        }
    }

    /// The dwords that are copies of `value`.
    pub fn copies_of(&self, value: Value) -> &[u32] {
        match self.facts.has(value, Marks::COPIED) {
            true => self.copies.get(&value).map_or(&[], |list| list),
            false => &[],
        }
    }

    /// Records that a dword is a copy of a value.
    pub fn copied(&mut self, dword: u32, root: Value) {
        self.roots.insert(dword, root);
        self.copies.entry(root).or_default().push(dword);
        self.facts.mark(Value::Dword(dword), Marks::COPY);
        self.facts.mark(root, Marks::COPIED);
    }

    /// If `value` is a constant or is known to equal one, that constant.
    pub fn constant(&self, value: Value) -> Option<u32> {
        match value {
            Value::Dword(d) if self.facts.has(value, Marks::CONSTANT) => self.constants.get(&d).copied(),
            Value::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// Records that a dword equals a constant in all lanes in which it is defined.
    pub fn equals(&mut self, dword: u32, bits: u32) {
        self.constants.insert(dword, bits);
        self.equal.entry(bits).or_default().push(dword);
        self.facts.mark(Value::Dword(dword), Marks::CONSTANT);
    }

    fn forget_constant(&mut self, value: Value) {
        if let Value::Dword(d) = value
            && self.facts.unmark(value, Marks::CONSTANT)
            && let Some(list) = self.constants.remove(&d).and_then(|bits| self.equal.get_mut(&bits))
        {
            list.retain(|other| *other != d);
        }
    }

    /// Records that an instruction is available until one of these dwords changes.
    pub fn repeatable_while(&mut self, number: u32, dwords: impl Iterator<Item = u32>) {
        self.repeatable.insert(number);
        for dword in dwords {
            self.repeats.entry(dword).or_default().push(number);
            self.facts.mark(Value::Dword(dword), Marks::REPEATS);
        }
    }

    /// Records that a dword gets another value. The dword is then no longer a copy, its copies lose their origin, and
    /// the instructions that read or compute it are no longer available.
    pub fn kill(&mut self, dword: u32) {
        let value = Value::Dword(dword);
        if self.facts.unmark(value, Marks::REPEATS) {
            for number in self.repeats.remove(&dword).into_iter().flatten() {
                self.repeatable.remove(&number);
            }
        }
        self.forget_root(dword);
        if self.facts.unmark(value, Marks::COPIED) {
            for copy in self.copies.remove(&value).into_iter().flatten() {
                self.roots.remove(&copy);
                self.facts.unmark(Value::Dword(copy), Marks::COPY);
            }
        }
    }

    /// Stops recording the dword as a copy.
    pub fn forget_root(&mut self, dword: u32) {
        if self.facts.unmark(Value::Dword(dword), Marks::COPY)
            && let Some(list) = self.roots.remove(&dword).and_then(|root| self.copies.get_mut(&root))
        {
            list.retain(|d| *d != dword);
        }
    }

    pub fn is_undefined(&self, value: Value) -> bool {
        self.facts.has(value, Marks::UNDEFINED)
    }

    /// True if the value is undefined in the active lanes.
    pub fn is_undef_active(&self, value: Value) -> bool {
        self.facts.has(value, Marks::UNDEF_ACTIVE)
    }

    /// The lanes in which `cell` contains `value`.
    pub fn lanes(&self, cell: Cell, value: Value) -> Lanes {
        if self.is_undefined(value) {
            return ALL;
        }
        let list = self.facts.held(cell);
        let held = |value| list.iter().find(|v| v.0 == value).map(|v| v.1);
        // A value that is undefined in the active and in the inactive lanes is contained in every cell.
        let undefined = match self.is_undef_active(value) && cell.is_masked() {
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

    /// The dwords that `cell` contains.
    pub fn dwords(&self, cell: Cell) -> SmallVec<[u32; 2]> {
        let mut dwords = SmallVec::new();
        for (value, _) in self.facts.held(cell) {
            match value {
                Value::Dword(d) => dwords.push(*d),
                Value::Const(bits) => dwords.extend(self.equal.get(bits).into_iter().flatten().copied()),
                _ => {}
            }
        }
        dwords
    }

    pub fn values(&self, cell: Cell) -> Values {
        self.facts.held(cell).into()
    }

    /// The cells that contain `value`, and the lanes in which they do.
    pub fn places(&self, value: Value) -> SmallVec<[(Cell, Lanes); 2]> {
        let own = self.facts.cells(value).iter();
        let constant = self.constant(value).map(Value::Const).filter(|c| *c != value);
        let also = constant.map_or(&[][..], |c| self.facts.cells(c)).iter();
        let also = also.filter(|cell| self.facts.held(**cell).iter().all(|v| v.0 != value));
        own.chain(also).map(|&cell| (cell, self.lanes(cell, value))).collect()
    }

    /// True if EXEC has its initial value, so that no lane that takes part in the kernel is inactive.
    pub fn exec_is_initial(&self) -> bool {
        let half = |k: u8, unit| self.lanes(Cell::Unit(unit), Value::InitialExec(k)) == ALL;
        reg::EXEC.units().enumerate().all(|(k, unit)| half(k as u8, unit))
    }

    /// True if the value is recorded as undefined in the inactive lanes.
    pub fn marked_undef_inactive(&self, value: Value) -> bool {
        self.facts.has(value, Marks::UNDEF_INACTIVE)
    }

    /// True if the value is undefined in all inactive lanes, or if no lane is inactive.
    pub fn is_undef_inactive(&self, value: Value) -> bool {
        self.marked_undef_inactive(value) || self.exec_is_initial()
    }

    /// Removes all contents of `cell`.
    pub fn clear(&mut self, cell: Cell) {
        self.empty(cell);
        self.drop_lanes_of(cell);
    }

    fn empty(&mut self, cell: Cell) {
        if self.facts.held(cell).is_empty() {
            return;
        }
        for (old, _) in std::mem::take(self.facts.held_mut(cell)) {
            self.facts.leave(cell, old);
        }
    }

    fn drop_lanes_of(&mut self, cell: Cell) {
        if let Cell::Unit(unit) = cell
            && !self.with_lanes.is_empty()
            && self.with_lanes.remove(&unit)
        {
            (0..WAVE_SIZE as u8).for_each(|lane| self.clear(Cell::Lane(unit, lane)));
        }
    }

    /// Records that `cell` is written: in the active lanes, or entirely if EXEC does not mask it.
    pub fn overwrite(&mut self, cell: Cell) {
        if !cell.is_masked() {
            return self.clear(cell);
        }
        for (value, lanes) in self.values(cell) {
            // A value that is undefined in the inactive lanes is contained there only vacuously. After the active lanes
            // are overwritten, the cell does not contain it at all.
            let rest = if self.is_undef_inactive(value) { 0 } else { lanes & INACTIVE };
            self.set_lanes(cell, value, rest);
        }
        self.drop_lanes_of(cell);
    }

    /// Gives `cell` the values in `from`, as a move does.
    pub fn transfer(&mut self, cell: Cell, from: &[(Value, Lanes)]) {
        if let Cell::Lane(unit, _) = cell {
            // The other 63 lanes keep their contents, but the register as a whole contains none of its old values.
            self.empty(Cell::Unit(unit));
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

    /// Records that `cell` also contains this value in these lanes.
    pub fn add(&mut self, cell: Cell, value: Value, lanes: Lanes) {
        if let Cell::Lane(unit, _) = cell {
            self.with_lanes.insert(unit);
        }
        self.set_lanes(cell, value, lanes);
    }

    fn set_lanes(&mut self, cell: Cell, value: Value, lanes: Lanes) {
        let list = self.facts.held_mut(cell);
        let at = list.iter().position(|v| v.0 == value);
        match (at, lanes) {
            (Some(i), 0) => {
                list.remove(i);
                self.facts.leave(cell, value);
            }
            (Some(i), _) => list[i].1 = lanes,
            (None, 0) => {}
            (None, _) => {
                list.push((value, lanes));
                self.facts.known_mut(value).cells.push(cell);
            }
        }
    }

    /// Records that the name `value` now stands for a new value: no cell contains it yet.
    pub fn forget(&mut self, value: Value) {
        self.facts.leave_all(value);
        self.forget_constant(value);
        self.facts.unmark(value, Marks::UNDEFINED | Marks::UNDEF_INACTIVE | Marks::UNDEF_ACTIVE);
    }

    /// Marks the value as undefined in the active lanes.
    pub fn undefine_active(&mut self, value: Value) {
        self.facts.mark(value, Marks::UNDEF_ACTIVE);
    }

    /// Marks the value as undefined in all lanes.
    pub fn undefine(&mut self, value: Value) {
        self.forget(value);
        self.facts.mark(value, Marks::UNDEFINED);
    }

    /// Marks the value as undefined in the inactive lanes, because it was written under the current EXEC.
    pub fn undefine_inactive(&mut self, value: Value) {
        self.facts.mark(value, Marks::UNDEF_INACTIVE);
    }

    /// Records that the name `value` stands for a new value in the active lanes and for the old one in the other lanes.
    /// No cell contains the new value yet.
    pub fn change_active(&mut self, value: Value) {
        if self.facts.unmark(value, Marks::UNDEFINED) {
            self.facts.mark(value, Marks::UNDEF_INACTIVE);
        }
        self.facts.unmark(value, Marks::UNDEF_ACTIVE);
        let places = self.places(value);
        self.forget_constant(value);
        for (cell, lanes) in places {
            self.set_lanes(cell, value, lanes & INACTIVE);
        }
    }

    /// Records that `cell` contains the current value in the active lanes.
    pub fn hold_active(&mut self, cell: Cell, value: Value) {
        let lanes = if self.is_undef_inactive(value) { ALL } else { self.lanes(cell, value) | ACTIVE };
        self.set_lanes(cell, value, lanes);
    }

    /// A cell that contains a constant in the active lanes also contains the dwords that equal the constant and are
    /// undefined in the inactive lanes. Record that explicitly for the cell before EXEC changes, because afterwards
    /// these lanes are no longer known as the active ones.
    fn name_constants(&mut self) {
        let mut named = Vec::new();
        for &cell in self.facts.listed_cells() {
            for (value, _) in self.facts.held(cell).iter().filter(|v| v.1 == ACTIVE) {
                let Value::Const(bits) = value else { continue };
                let equal = self.equal.get(bits).into_iter().flatten().map(|d| Value::Dword(*d));
                named.extend(equal.filter(|d| self.marked_undef_inactive(*d)).map(|d| (cell, d)));
            }
        }
        named.into_iter().for_each(|(cell, value)| self.set_lanes(cell, value, ALL));
    }

    /// Records a change of EXEC. `narrowed` is true if every lane that is active now was active before.
    pub fn exec_changed(&mut self, narrowed: bool) {
        self.name_constants();
        let keep = if narrowed { ACTIVE } else { 0 };
        let cells = self.facts.listed_cells().iter();
        let masked: Vec<Cell> = cells.copied().filter(|c| c.is_masked()).collect();
        for cell in masked {
            for (value, own) in self.values(cell) {
                let lanes = self.lanes(cell, value);
                // If the cell contains the value only in the lanes that were active, it contains the value in the lanes
                // that are active now only if EXEC was narrowed. If the cell contains the value in all lanes, the
                // change does not matter.
                if lanes != ALL {
                    self.set_lanes(cell, value, lanes & keep);
                } else if own != ALL {
                    self.set_lanes(cell, value, ALL);
                }
            }
        }
        self.facts.unmark_all(match narrowed {
            true => Marks::UNDEF_INACTIVE,
            false => Marks::UNDEF_INACTIVE | Marks::UNDEF_ACTIVE,
        });
    }
}
