//! What each register, lane and dword of the frame holds.
//!
//! A vector register holds a value in some lanes. Which lanes there are is not known; known is whether the register
//! holds the value in those that are active now ([`ACTIVE`]), and whether in the others in which the value means
//! anything ([`REST`]). A value that was made under the present EXEC means nothing in the other lanes: it is *confined*.

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
    /// A hardware value by source encoding. It is not followed beyond the copy that reads it.
    Special(u8),
    /// A half of what EXEC was when the kernel started.
    InitialExec(u8),
}

/// Something that holds values.
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

/// In which lanes a cell holds a value.
pub(super) type Lanes = u8;
/// In the active ones.
pub(super) const ACTIVE: Lanes = 1;
/// In those of the others where the value means anything.
pub(super) const REST: Lanes = 2;
/// In all where the value means anything.
pub(super) const FULL: Lanes = 3;

/// The state inside a block.
#[derive(Default)]
pub(super) struct State {
    held: HashMap<Cell, SmallVec<[(Value, Lanes); 2]>>,
    places: HashMap<Value, SmallVec<[Cell; 2]>>,
    undefined: HashSet<Value>,
    /// Values that mean nothing in lanes that are masked now.
    confined: HashSet<Value>,
    /// Values that mean nothing in active lanes: those hold an undefined value that was copied.
    vague: HashSet<Value>,
    /// VGPRs some lane of which holds something of its own.
    with_lanes: HashSet<RegUnit>,
    /// Instructions that would give the same result again.
    pub repeatable: HashSet<u32>,
    /// By dword: those of them that it is a source or a result of.
    repeats: HashMap<u32, SmallVec<[u32; 2]>>,
    /// By dword: the value that it is a copy of, as long as neither has changed.
    roots: HashMap<u32, Value>,
    /// The same the other way round.
    copies: HashMap<Value, SmallVec<[u32; 2]>>,
}

impl State {
    pub fn new(edge: &Edge) -> State {
        let mut state = State {
            undefined: edge.undefined.iter().copied().collect(),
            confined: edge.confined.iter().copied().collect(),
            vague: edge.vague.iter().copied().collect(),
            ..State::default()
        };
        edge.held.iter().for_each(|&((value, cell), lanes)| state.add(cell, value, lanes));
        edge.roots.iter().for_each(|&(dword, root)| state.copied(dword, root));
        state
    }

    /// What `value` is a copy of.
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

    /// A dword is a copy of a value now.
    pub fn copied(&mut self, dword: u32, root: Value) {
        self.roots.insert(dword, root);
        self.copies.entry(root).or_default().push(dword);
    }

    /// An instruction would give the same result again until one of these changes.
    pub fn repeatable_while(&mut self, number: u32, dwords: impl Iterator<Item = u32>) {
        self.repeatable.insert(number);
        dwords.for_each(|d| self.repeats.entry(d).or_default().push(number));
    }

    /// A dword has another value: it is no copy, nor has it any, and what has to do with it gives another result.
    pub fn changed(&mut self, dword: u32) {
        for number in self.repeats.remove(&dword).into_iter().flatten() {
            self.repeatable.remove(&number);
        }
        self.unrelated(dword);
        for copy in self.copies.remove(&Value::Dword(dword)).into_iter().flatten() {
            self.roots.remove(&copy);
        }
    }

    /// Of what a dword is a copy does not matter any more.
    pub fn unrelated(&mut self, dword: u32) {
        if let Some(list) = self.roots.remove(&dword).and_then(|root| self.copies.get_mut(&root)) {
            list.retain(|d| *d != dword);
        }
    }

    /// The part that a block can use after this one, to which these dwords cross.
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
        let (undefined, confined) = (sorted(&self.undefined), sorted(&self.confined));
        let known = self.roots.iter().filter(|(d, root)| {
            crosses(&Value::Dword(**d)) && matches!(root, Value::Dword(_) | Value::Const(_))
        });
        let mut roots: Vec<(u32, Value)> = known.map(|(&d, &root)| (d, root)).collect();
        roots.sort_unstable();
        Edge { held, undefined, confined, vague: sorted(&self.vague), repeatable, roots }
    }

    pub fn is_undefined(&self, value: Value) -> bool {
        self.undefined.contains(&value)
    }

    /// In active lanes, the value is nothing in particular.
    pub fn is_vague(&self, value: Value) -> bool {
        self.vague.contains(&value)
    }

    /// In which lanes `cell` holds `value`.
    pub fn lanes(&self, cell: Cell, value: Value) -> Lanes {
        if self.is_undefined(value) {
            return FULL;
        }
        let found = self.held.get(&cell).and_then(|list| list.iter().find(|v| v.0 == value));
        let vague = if self.vague.contains(&value) && cell.is_masked() { ACTIVE } else { 0 };
        found.map_or(0, |v| v.1) | vague
    }

    pub fn values(&self, cell: Cell) -> SmallVec<[(Value, Lanes); 2]> {
        self.held.get(&cell).cloned().unwrap_or_default()
    }

    /// What holds `value`, and in which lanes.
    pub fn places(&self, value: Value) -> SmallVec<[(Cell, Lanes); 2]> {
        let cells = self.places.get(&value).into_iter().flatten();
        cells.map(|&cell| (cell, self.lanes(cell, value))).collect()
    }

    /// Is EXEC what it was when the kernel started? Then no lane that takes part at all is masked.
    pub fn exec_is_initial(&self) -> bool {
        let half = |k: u8, unit| self.lanes(Cell::Unit(unit), Value::InitialExec(k)) == FULL;
        reg::EXEC.units().enumerate().all(|(k, unit)| half(k as u8, unit))
    }

    /// Same, and not because no lane is masked at all.
    pub fn was_confined(&self, value: Value) -> bool {
        self.confined.contains(&value)
    }

    /// The value means nothing in lanes that are masked now.
    pub fn is_confined(&self, value: Value) -> bool {
        self.confined.contains(&value) || self.exec_is_initial()
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

    /// `cell` is written in the active lanes, or whole where EXEC masks nothing.
    pub fn overwrite(&mut self, cell: Cell) {
        if !cell.is_masked() {
            return self.clear(cell);
        }
        for (value, lanes) in self.values(cell) {
            // Of a value that means nothing in masked lanes, nothing is left there.
            let rest = if self.is_confined(value) { 0 } else { lanes & REST };
            self.set_lanes(cell, value, rest);
        }
        self.drop_lanes_of(cell);
    }

    /// `cell` takes what is in `from`, as a move does.
    pub fn transfer(&mut self, cell: Cell, from: &[(Value, Lanes)]) {
        if let Cell::Lane(unit, _) = cell {
            // The register as a whole holds nothing that it held.
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
                true if self.is_confined(value) => FULL,
                true => ACTIVE | self.lanes(cell, value),
            };
            self.set_lanes(cell, value, lanes);
        }
    }

    /// `cell` holds this in these lanes, and what else it held.
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

    /// A new value takes this one's name: nothing holds the old one any more.
    pub fn forget(&mut self, value: Value) {
        for cell in self.places.remove(&value).into_iter().flatten() {
            if let Some(list) = self.held.get_mut(&cell) {
                list.retain(|v| v.0 != value);
            }
        }
        self.undefined.remove(&value);
        self.confined.remove(&value);
        self.vague.remove(&value);
    }

    /// See [`State::is_vague`].
    pub fn blur(&mut self, value: Value) {
        self.vague.insert(value);
    }

    /// The name stands for no particular value from here on.
    pub fn undefine(&mut self, value: Value) {
        self.forget(value);
        self.undefined.insert(value);
    }

    /// The value was made under the present EXEC.
    pub fn confine(&mut self, value: Value) {
        self.confined.insert(value);
    }

    /// A new value under this name in the active lanes, the old one in the others: nothing holds the new one in active
    /// lanes yet.
    pub fn change_active(&mut self, value: Value) {
        if self.undefined.remove(&value) {
            self.confined.insert(value);
        }
        self.vague.remove(&value);
        for (cell, lanes) in self.places(value) {
            self.set_lanes(cell, value, lanes & REST);
        }
    }

    /// `cell` holds in the active lanes what the value is there now.
    pub fn hold_active(&mut self, cell: Cell, value: Value) {
        let lanes = if self.is_confined(value) { FULL } else { self.lanes(cell, value) | ACTIVE };
        self.set_lanes(cell, value, lanes);
    }

    /// EXEC changed. `narrowed`: no lane is active that was not before.
    pub fn exec_changed(&mut self, narrowed: bool) {
        let keep = if narrowed { ACTIVE } else { 0 };
        let masked: Vec<Cell> = self.held.keys().copied().filter(|c| c.is_masked()).collect();
        for cell in masked {
            for (value, own) in self.values(cell) {
                let lanes = self.lanes(cell, value);
                if lanes != FULL {
                    self.set_lanes(cell, value, lanes & keep);
                } else if own != FULL {
                    self.set_lanes(cell, value, FULL);
                }
            }
        }
        self.confined.clear();
        if !narrowed {
            self.vague.clear();
        }
    }
}

/// The state between blocks, sorted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    held: Vec<((Value, Cell), Lanes)>,
    undefined: Vec<Value>,
    confined: Vec<Value>,
    vague: Vec<Value>,
    pub repeatable: Vec<u32>,
    roots: Vec<(u32, Value)>,
}

impl Edge {
    /// The state in which a kernel starts.
    pub fn at_entry(live_in: &[Reg], dwords: Vec<u32>) -> Edge {
        let named = super::input::FIRST_NAMED_SGPR..128;
        let named = named.map(|i| RegUnit::new(RegFile::Sgpr, i));
        let own = |u| ((Value::Own(u), Cell::Unit(u)), FULL);
        let mut held: Vec<_> = named.chain(live_in.iter().flat_map(|r| r.units())).map(own).collect();
        let exec = reg::EXEC.units().enumerate();
        held.extend(exec.map(|(k, u)| ((Value::InitialExec(k as u8), Cell::Unit(u)), FULL)));
        held.sort_unstable();
        held.dedup();
        let undefined = dwords.into_iter().map(Value::Dword).collect();
        Edge {
            held,
            undefined,
            confined: Vec::new(),
            vague: Vec::new(),
            repeatable: Vec::new(),
            roots: Vec::new(),
        }
    }

    /// What holds on both edges. `results` gives the values that an instruction makes: where they are undefined, it may be
    /// repeated as well as not.
    pub fn meet<I: Iterator<Item = Value>>(&self, other: &Edge, results: impl Fn(u32) -> I) -> Edge {
        let has = |list: &[Value], value: &Value| list.binary_search(value).is_ok();
        let mut held = Vec::with_capacity(self.held.len().min(other.held.len()));
        let (mut a, mut b) = (self.held.iter().peekable(), other.held.iter().peekable());
        while let Some(first) = a.peek().into_iter().chain(b.peek()).map(|e| e.0).min() {
            let lanes = |next: Option<&((Value, Cell), Lanes)>, edge: &Edge| {
                // Where a value means nothing, everything holds it.
                let nothing = |list, lanes| if has(list, &first.0) { lanes } else { 0 };
                let free = match first.1.is_masked() {
                    true => nothing(&edge.vague, ACTIVE) | nothing(&edge.confined, REST),
                    false => 0,
                };
                next.map_or(0, |e| e.1) | free | nothing(&edge.undefined, FULL)
            };
            let here = lanes(a.next_if(|e| e.0 == first), self);
            let there = lanes(b.next_if(|e| e.0 == first), other);
            if here & there != 0 {
                held.push((first, here & there));
            }
        }
        let undefined = self.undefined.iter().filter(|v| has(&other.undefined, v)).copied().collect();
        // What is undefined means nothing in any lane.
        let confined = |a: &Edge, v: &Value| has(&a.confined, v) || has(&a.undefined, v);
        let mut both: Vec<Value> = self.confined.iter().chain(&other.confined).copied().collect();
        both.sort_unstable();
        both.dedup();
        both.retain(|v| confined(self, v) && confined(other, v));
        let mut vague: Vec<Value> = self.vague.iter().chain(&other.vague).copied().collect();
        vague.sort_unstable();
        vague.dedup();
        let blurred = |e: &Edge, v: &Value| has(&e.vague, v) || has(&e.undefined, v);
        vague.retain(|v| blurred(self, v) && blurred(other, v));
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
        Edge { held, undefined, confined: both, vague, repeatable, roots }
    }
}
