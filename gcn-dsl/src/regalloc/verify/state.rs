//! What each register holds.

use gcn_isa::Reg;
use gcn_isa::reg::RegUnit;
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
}

/// The state inside a block.
#[derive(Default)]
pub(super) struct State {
    held: HashMap<RegUnit, SmallVec<[Value; 2]>>,
    places: HashMap<Value, SmallVec<[RegUnit; 2]>>,
    undefined: HashSet<Value>,
}

impl State {
    pub fn new(edge: &Edge) -> State {
        let mut state = State { undefined: edge.undefined.iter().copied().collect(), ..State::default() };
        edge.held.iter().for_each(|&(value, unit)| state.add(unit, value));
        state
    }

    /// The part that later blocks can use.
    pub fn edge(&self, crossing: &[u32]) -> Edge {
        let crosses = |value: &Value| match value {
            Value::Dword(d) => crossing.binary_search(d).is_ok(),
            Value::Own(_) => true,
            Value::Const(_) | Value::Special(_) => false,
        };
        let mut held = Vec::new();
        for (&unit, values) in &self.held {
            held.extend(values.iter().filter(|v| crosses(v)).map(|&v| (v, unit)));
        }
        held.sort_unstable();
        let mut undefined: Vec<Value> = self.undefined.iter().copied().filter(crosses).collect();
        undefined.sort_unstable();
        Edge { held, undefined }
    }

    pub fn is_undefined(&self, value: Value) -> bool {
        self.undefined.contains(&value)
    }

    pub fn holds(&self, unit: RegUnit, value: Value) -> bool {
        self.is_undefined(value) || self.held.get(&unit).is_some_and(|list| list.contains(&value))
    }

    pub fn values(&self, unit: RegUnit) -> Vec<Value> {
        self.held.get(&unit).map_or(Vec::new(), |list| list.to_vec())
    }

    /// The registers that hold `value`.
    pub fn places(&self, value: Value) -> Vec<RegUnit> {
        self.places.get(&value).map_or(Vec::new(), |list| list.to_vec())
    }

    /// `unit` holds exactly these.
    pub fn set(&mut self, unit: RegUnit, values: impl IntoIterator<Item = Value>) {
        for old in self.held.remove(&unit).into_iter().flatten() {
            if let Some(list) = self.places.get_mut(&old) {
                list.retain(|u| *u != unit);
            }
        }
        values.into_iter().for_each(|v| self.add(unit, v));
    }

    /// `unit` holds this too.
    pub fn add(&mut self, unit: RegUnit, value: Value) {
        let list = self.held.entry(unit).or_default();
        if !list.contains(&value) {
            list.push(value);
            self.places.entry(value).or_default().push(unit);
        }
    }

    /// A new value takes this one's name: nothing holds the old one any more.
    pub fn forget(&mut self, value: Value) {
        for unit in self.places.remove(&value).into_iter().flatten() {
            if let Some(list) = self.held.get_mut(&unit) {
                list.retain(|v| *v != value);
            }
        }
        self.undefined.remove(&value);
    }

    /// The name stands for no particular value from here on.
    pub fn undefine(&mut self, value: Value) {
        self.forget(value);
        self.undefined.insert(value);
    }
}

/// The state between blocks, sorted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    held: Vec<(Value, RegUnit)>,
    undefined: Vec<Value>,
}

impl Edge {
    /// The state in which a kernel starts.
    pub fn at_entry(live_in: &[Reg], dwords: &[u32]) -> Edge {
        let named = super::input::FIRST_NAMED_SGPR..128;
        let named = named.map(|i| RegUnit::new(gcn_isa::RegFile::Sgpr, i));
        let mut held: Vec<_> =
            named.chain(live_in.iter().flat_map(|r| r.units())).map(|u| (Value::Own(u), u)).collect();
        held.sort_unstable();
        held.dedup();
        Edge { held, undefined: dwords.iter().copied().map(Value::Dword).collect() }
    }

    /// What holds on both edges.
    pub fn meet(&self, other: &Edge) -> Edge {
        let undefined = |edge: &Edge, value: &Value| edge.undefined.binary_search(value).is_ok();
        let mut held = Vec::with_capacity(self.held.len().min(other.held.len()));
        let (mut a, mut b) = (self.held.iter().peekable(), other.held.iter().peekable());
        while let Some(&&first) = a.peek().into_iter().chain(b.peek()).min() {
            let here = a.next_if(|e| **e == first).is_some();
            let there = b.next_if(|e| **e == first).is_some();
            if (here || undefined(self, &first.0)) && (there || undefined(other, &first.0)) {
                held.push(first);
            }
        }
        let both = self.undefined.iter().filter(|value| undefined(other, value));
        Edge { held, undefined: both.copied().collect() }
    }
}
