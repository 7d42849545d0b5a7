//! Facts about each cell and each value, in tables indexed by number. A step of the checker looks up dozens of facts,
//! and hashing each would take most of the time. The tables are reused for all blocks; clearing a table takes time
//! proportional to its content, not to its size.

use gcn_isa::reg::RegUnit;
use hashbrown::HashMap;
use smallvec::SmallVec;

use super::value::{Cell, Lanes, Value};

/// The values in a cell, with the lanes.
pub(super) type Values = SmallVec<[(Value, Lanes); 2]>;

bitflags::bitflags! {
    /// Properties of a value.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub(super) struct Marks: u8 {
        /// The value is undefined in all lanes.
        const UNDEFINED = 1;
        /// The value is undefined in the lanes that are inactive at this point.
        const UNDEF_INACTIVE = 1 << 1;
        /// The value is undefined in the active lanes, because an undefined value was copied.
        const UNDEF_ACTIVE = 1 << 2;
        /// The value equals a constant.
        const CONSTANT = 1 << 3;
        /// The value is a copy of another one.
        const COPY = 1 << 4;
        /// The value has copies.
        const COPIED = 1 << 5;
        /// The value is a source or result of an instruction that could be repeated.
        const REPEATS = 1 << 6;
        /// The value is in `listed_values`.
        const LISTED = 1 << 7;
    }
}

/// The facts about a value.
#[derive(Default)]
pub(super) struct Known {
    /// The cells that contain it.
    pub cells: SmallVec<[Cell; 2]>,
    pub marks: Marks,
}

/// The facts about a cell.
#[derive(Default)]
struct Held {
    values: Values,
    is_listed: bool,
    is_changed: bool,
}

/// The tables of facts.
pub(super) struct Facts {
    /// The number of dwords in virtual registers.
    dwords: usize,
    /// By cell number: registers first, then the cells in `cell_numbers`.
    cells: Vec<Held>,
    /// By value number: dwords, registers and halves of EXEC first, then the values in `value_numbers`.
    values: Vec<Known>,
    cell_numbers: HashMap<Cell, usize>,
    value_numbers: HashMap<Value, usize>,
    /// The cells and values that have, or had, facts.
    listed_cells: Vec<Cell>,
    listed_values: Vec<Value>,
    /// The cells that may have new facts since the last [`Facts::settle`].
    changed: Vec<Cell>,
}

impl Facts {
    /// Empty tables for `dwords` dwords of virtual registers.
    pub fn new(dwords: usize) -> Facts {
        let mut facts = Facts {
            dwords,
            cells: Vec::new(),
            values: Vec::new(),
            cell_numbers: HashMap::new(),
            value_numbers: HashMap::new(),
            listed_cells: Vec::new(),
            listed_values: Vec::new(),
            changed: Vec::new(),
        };
        facts.cells.resize_with(RegUnit::COUNT, Held::default);
        facts.values.resize_with(dwords + RegUnit::COUNT + 2, Known::default);
        facts
    }

    /// Removes all facts.
    pub fn clear(&mut self) {
        self.settle();
        for cell in std::mem::take(&mut self.listed_cells) {
            if let Some(at) = self.cell_number(cell) {
                self.cells[at].values.clear();
                self.cells[at].is_listed = false;
            }
        }
        for value in std::mem::take(&mut self.listed_values) {
            if let Some(at) = self.value_number(value) {
                self.values[at].cells.clear();
                self.values[at].marks = Marks::empty();
            }
        }
    }

    /// Marks all present facts as unchanged.
    pub fn settle(&mut self) {
        for cell in std::mem::take(&mut self.changed) {
            if let Some(at) = self.cell_number(cell) {
                self.cells[at].is_changed = false;
            }
        }
    }

    /// The cells that may have new facts since the last [`Facts::settle`].
    pub fn changed(&self) -> &[Cell] {
        &self.changed
    }

    /// True if the cell contained this value at the last [`Facts::settle`] and has not changed since.
    pub fn is_kept(&self, cell: Cell, value: Value) -> bool {
        self.cell_number(cell).is_some_and(|at| {
            let held = &self.cells[at];
            !held.is_changed && held.values.iter().any(|v| v.0 == value)
        })
    }

    fn cell_number(&self, cell: Cell) -> Option<usize> {
        match cell {
            Cell::Unit(unit) => Some(unit.index()),
            other => self.cell_numbers.get(&other).copied(),
        }
    }

    fn value_number(&self, value: Value) -> Option<usize> {
        match value {
            Value::Dword(d) => Some(d as usize),
            Value::Own(unit) => Some(self.dwords + unit.index()),
            Value::InitialExec(half) => Some(self.dwords + RegUnit::COUNT + usize::from(half)),
            other => self.value_numbers.get(&other).copied(),
        }
    }

    /// The values in a cell.
    pub fn held(&self, cell: Cell) -> &[(Value, Lanes)] {
        self.cell_number(cell).map_or(&[], |at| &self.cells[at].values)
    }

    /// The values in a cell, for modification.
    pub fn held_mut(&mut self, cell: Cell) -> &mut Values {
        let at = self.cell_number(cell).unwrap_or_else(|| {
            self.cells.push(Held::default());
            self.cell_numbers.insert(cell, self.cells.len() - 1);
            self.cells.len() - 1
        });
        let held = &mut self.cells[at];
        if !std::mem::replace(&mut held.is_listed, true) {
            self.listed_cells.push(cell);
        }
        if !std::mem::replace(&mut held.is_changed, true) {
            self.changed.push(cell);
        }
        &mut held.values
    }

    /// The cells that contain a value.
    pub fn cells(&self, value: Value) -> &[Cell] {
        self.value_number(value).map_or(&[], |at| &self.values[at].cells)
    }

    /// True if the value has all of these marks.
    pub fn has(&self, value: Value, marks: Marks) -> bool {
        self.value_number(value).is_some_and(|at| self.values[at].marks.contains(marks))
    }

    /// The facts about a value, for modification.
    pub fn known_mut(&mut self, value: Value) -> &mut Known {
        let at = self.value_number(value).unwrap_or_else(|| {
            self.values.push(Known::default());
            self.value_numbers.insert(value, self.values.len() - 1);
            self.values.len() - 1
        });
        let known = &mut self.values[at];
        if !known.marks.contains(Marks::LISTED) {
            known.marks |= Marks::LISTED;
            self.listed_values.push(value);
        }
        known
    }

    /// Sets marks.
    pub fn mark(&mut self, value: Value, marks: Marks) {
        self.known_mut(value).marks |= marks;
    }

    /// Clears marks. Returns true if one of them was set.
    pub fn unmark(&mut self, value: Value, marks: Marks) -> bool {
        let Some(at) = self.value_number(value) else { return false };
        let all = &mut self.values[at].marks;
        let had = all.intersects(marks);
        *all -= marks;
        had
    }

    /// Clears marks of all values.
    pub fn unmark_all(&mut self, marks: Marks) {
        let listed = std::mem::take(&mut self.listed_values);
        listed.iter().for_each(|&value| _ = self.unmark(value, marks));
        self.listed_values = listed;
    }

    /// The cells that have, or had, facts.
    pub fn listed_cells(&self) -> &[Cell] {
        &self.listed_cells
    }

    /// The values with this mark, in no particular order.
    pub fn marked(&self, mark: Marks) -> impl Iterator<Item = Value> + '_ {
        self.listed_values.iter().copied().filter(move |&value| self.has(value, mark))
    }

    /// Removes the value from the cell.
    pub fn leave(&mut self, cell: Cell, value: Value) {
        if let Some(at) = self.value_number(value) {
            self.values[at].cells.retain(|c| *c != cell);
        }
    }

    /// Removes the value from all cells.
    pub fn leave_all(&mut self, value: Value) {
        let Some(at) = self.value_number(value) else { return };
        for cell in std::mem::take(&mut self.values[at].cells) {
            if let Some(at) = self.cell_number(cell) {
                self.cells[at].values.retain(|v| v.0 != value);
            }
        }
    }
}
