//! What the checker knows at block boundaries. An [`Edge`] holds the facts that are true on a control-flow edge. This
//! module converts between an edge and the state inside a block, and joins the facts from two predecessors.

use gcn_isa::reg::RegUnit;
use gcn_isa::{Reg, RegFile, reg};
use hashbrown::HashSet;

use super::super::input;
use super::facts::Marks;
use super::state::State;
use super::value::{ACTIVE, ALL, Cell, INACTIVE, Lanes, Value};

/// The facts of a state at a block boundary. All lists are sorted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    pub held: Vec<((Value, Cell), Lanes)>,
    /// The dwords that equal a constant, with the constant.
    pub constants: Vec<(u32, u32)>,
    pub undefined: Vec<Value>,
    pub undef_inactive: Vec<Value>,
    pub undef_active: Vec<Value>,
    pub repeatable: Vec<u32>,
    pub roots: Vec<(u32, Value)>,
}

impl Edge {
    /// The facts with which a kernel starts.
    pub fn at_entry(live_in: &[Reg], dwords: Vec<u32>) -> Edge {
        let named = input::FIRST_NAMED_SGPR..128;
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
            constants: Vec::new(),
            undefined,
            undef_inactive: Vec::new(),
            undef_active: Vec::new(),
            repeatable: Vec::new(),
            roots: Vec::new(),
        }
    }

    /// The facts that hold on both edges. `results` gives the values that an instruction computes: on an edge on which
    /// these values are undefined, the instruction counts as available.
    pub fn meet<I: Iterator<Item = Value>>(&self, other: &Edge, results: impl Fn(u32) -> I) -> Edge {
        let has = |list: &[Value], value: &Value| list.binary_search(value).is_ok();
        let mut held = Vec::with_capacity(self.held.len().min(other.held.len()));
        let implied = self.implied(other);
        let (mut a, mut b) = (self.held.iter().peekable(), other.held.iter().peekable());
        let mut c = implied.iter().peekable();
        loop {
            let explicit = a.peek().into_iter().chain(b.peek()).map(|e| e.0);
            let Some(first) = explicit.chain(c.peek().map(|key| **key)).min() else { break };
            c.next_if(|key| **key == first);
            let (here, there) = (a.next_if(|e| e.0 == first), b.next_if(|e| e.0 == first));
            let both = self.lanes(first, here) & other.lanes(first, there);
            if both != 0 {
                held.push((first, both));
            }
        }
        let same = |c: &&(u32, u32)| other.constants.binary_search(c).is_ok();
        let constants = self.constants.iter().filter(same).copied().collect();
        let undefined = self.undefined.iter().filter(|v| has(&other.undefined, v)).copied().collect();
        // A value that is undefined is also undefined in the inactive lanes.
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
        let root = |e: &Edge, d: u32, root: Value| {
            has(&e.undefined, &Value::Dword(d)) || e.roots.binary_search(&(d, root)).is_ok()
        };
        let mut roots: Vec<(u32, Value)> = self.roots.iter().chain(&other.roots).copied().collect();
        roots.sort_unstable();
        roots.dedup();
        roots.retain(|&(d, value)| root(self, d, value) && root(other, d, value));
        Edge { held, constants, undefined, undef_inactive: both, undef_active, repeatable, roots }
    }

    /// The constant that a value is known to equal; `None` if there is none.
    fn constant(&self, value: Value) -> Option<u32> {
        let Value::Dword(d) = value else { return None };
        self.constants.binary_search_by_key(&d, |c| c.0).ok().map(|at| self.constants[at].1)
    }

    /// The cells that contain a value, with the lanes.
    fn places(&self, value: Value) -> &[((Value, Cell), Lanes)] {
        let from = self.held.partition_point(|e| e.0.0 < value);
        let len = self.held[from..].partition_point(|e| e.0.0 == value);
        &self.held[from..from + len]
    }

    /// The lanes in which a cell contains a value. `own` is the entry for this value and cell, if there is one.
    fn lanes(&self, (value, cell): (Value, Cell), own: Option<&((Value, Cell), Lanes)>) -> Lanes {
        // If a value is undefined, every cell contains it.
        let nothing = |list: &[Value], lanes| if list.binary_search(&value).is_ok() { lanes } else { 0 };
        let free = match cell.is_masked() {
            true => nothing(&self.undef_active, ACTIVE) | nothing(&self.undef_inactive, INACTIVE),
            false => 0,
        };
        let constant = self.constant(value).map(|bits| self.places(Value::Const(bits)));
        let constant =
            constant.and_then(|list| Some(list[list.binary_search_by_key(&cell, |e| e.0.1).ok()?].1));
        own.map_or(0, |e| e.1) | free | constant.unwrap_or(0) | nothing(&self.undefined, ALL)
    }

    /// Pairs of values and cells that neither edge lists, although on both edges the cell may contain the value in the
    /// active lanes: on one edge the value equals a constant, on the other it is undefined in these lanes or equals
    /// another constant.
    fn implied(&self, other: &Edge) -> Vec<(Value, Cell)> {
        let mut list = Vec::new();
        for (a, b) in [(self, other), (other, self)] {
            let undefined =
                |value| [&b.undefined, &b.undef_active].iter().any(|l| l.binary_search(&value).is_ok());
            for &(dword, bits) in &a.constants {
                let value = Value::Dword(dword);
                if b.constant(value).map_or_else(|| undefined(value), |constant| constant != bits) {
                    list.extend(a.places(Value::Const(bits)).iter().map(|e| (value, e.0.1)));
                }
            }
        }
        list.sort_unstable();
        list.dedup();
        list
    }
}

impl State {
    /// Replaces the state by that at the entry of another block, whose facts are in `edge`.
    pub fn enter(self, edge: &Edge) -> State {
        let State { mut facts, .. } = self;
        facts.clear();
        let mut state = State::with(facts);
        let marked = [
            (&edge.undefined, Marks::UNDEFINED),
            (&edge.undef_inactive, Marks::UNDEF_INACTIVE),
            (&edge.undef_active, Marks::UNDEF_ACTIVE),
        ];
        for (values, marks) in marked {
            values.iter().for_each(|&value| state.facts.mark(value, marks));
        }
        edge.held.iter().for_each(|&((value, cell), lanes)| state.add(cell, value, lanes));
        state.entered.clone_from(&edge.held);
        state.facts.settle();
        edge.constants.iter().for_each(|&(dword, bits)| state.equals(dword, bits));
        edge.roots.iter().for_each(|&(dword, root)| state.copied(dword, root));
        state
    }

    /// The facts of the state that a successor can use. `crosses` is true for the dwords that the successor needs.
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
        // Most facts are those from the entry, unchanged and already sorted; only facts that were added since then must
        // be sorted.
        let mut new = Vec::new();
        for &cell in self.facts.changed() {
            let values = self.facts.held(cell).iter().filter(|v| crosses(&v.0));
            new.extend(values.map(|&(v, lanes)| ((v, cell), lanes)));
        }
        new.sort_unstable();
        let mut held = Vec::with_capacity(self.entered.len() + new.len());
        let mut new = new.into_iter().peekable();
        for &known in &self.entered {
            let (value, cell) = known.0;
            if crosses(&value) && self.facts.is_kept(cell, value) {
                held.extend(std::iter::from_fn(|| new.next_if(|n| *n < known)));
                held.push(known);
            }
        }
        held.extend(new);
        let marked = |mark| -> Vec<Value> {
            let mut list: Vec<Value> = self.facts.marked(mark).filter(&crosses).collect();
            list.sort_unstable();
            list
        };
        let mut repeatable: Vec<u32> = self.repeatable.iter().copied().collect();
        repeatable.sort_unstable();
        let (undefined, undef_inactive) = (marked(Marks::UNDEFINED), marked(Marks::UNDEF_INACTIVE));
        let known = self.roots.iter().filter(|(d, root)| {
            crosses(&Value::Dword(**d)) && matches!(root, Value::Dword(_) | Value::Const(_))
        });
        let mut roots: Vec<(u32, Value)> = known.map(|(&d, &root)| (d, root)).collect();
        roots.sort_unstable();
        let undef_active = marked(Marks::UNDEF_ACTIVE);
        Edge { held, constants, undefined, undef_inactive, undef_active, repeatable, roots }
    }
}
