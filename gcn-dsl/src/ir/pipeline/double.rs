//! Emits the pipelined loop that stores the tile of a trip to LDS in the trip before, to the other one of two buffers if there are two.
//!
//! Before the loop the first tile is stored, and the loads of the next ones start. A trip begins with its loads from LDS; then come
//! the stores of the next tile; the loads of a later tile, to the registers from which these stores came; most products; a barrier;
//! the loads of the next trip's first factors; the other products (`order`). Matrix instructions and other arithmetic move freely
//! between two barriers. With one buffer the stores come after most products, and a barrier before them.
//!
//! The body is emitted once for each combination of a buffer and a set of registers. If the last trip has loaded for one that does not
//! come, a barrier follows the loop: what comes after it may use LDS again.

use hashbrown::{HashMap, HashSet};

use super::super::mark::Classes;
use super::super::{LdsDef, LdsId, Stmt, Value, Variable};
use super::buffers::Fill;
use super::order::Order;
use super::rotate::{Copying, Emit, fresh, renamed};

/// What takes turns in the copies of the body: of this one, and of the next.
#[derive(Clone, Copy)]
struct Turn<'a> {
    arrays: [&'a HashMap<LdsId, LdsId>; 2],
    /// Variables of the loads from LDS that are a trip ahead.
    early: [&'a [Variable]; 2],
}

impl Emit<'_> {
    /// The statements that replace the loop.
    pub fn in_turns(&mut self, stages: usize, fill: &Fill, order: &Order) -> Vec<Stmt> {
        let seconds = if order.two { self.seconds(fill) } else { HashMap::new() };
        let sides = [HashMap::new(), seconds];
        let sets = self.sets(stages - 1, &fill.held);
        let early = self.sets(order.sets, &order.early);
        // All copies of the body are in one block: the test after each but the last leaves it, the test after the last one repeats it.
        let whole = fresh(self.labels);
        self.start();
        let names = self.ahead(false);
        self.fill(fill, names, &sides[0]);
        // One set of registers per trip in flight. The first tile is not among them, since it is in LDS already.
        for trip in 1..stages {
            let names = self.ahead(false);
            self.keep(&sets[trip % sets.len()], &fill.held, &names);
        }
        self.copy(fill.barrier, &HashMap::new());
        self.early(order, &sides[0], &early[0]);
        let before = std::mem::take(&mut self.out);
        // The copies repeat once buffer and set of registers are both those of the first copy: after the least common multiple of their numbers.
        let period = if order.two { 2 } else { early.len() };
        let copies = if sets.len().is_multiple_of(period) { sets.len() } else { period * sets.len() };
        let mut last = self.plan.cond;
        for trip in 0..copies {
            let next = &sets[(trip + 1) % sets.len()];
            let turns = [trip, trip + 1];
            let turn = Turn {
                arrays: turns.map(|i| &sides[i % 2 * usize::from(order.two)]),
                early: turns.map(|i| &early[i % early.len()][..]),
            };
            last = self.turn(fill, order, next, turn);
            if trip + 1 < copies {
                self.leave_unless(last, whole);
            }
        }
        let mut stmts = self.looped(before, last, whole);
        // The early loads of the last trip read a tile that nobody uses; what follows the loop may store there only after every wave has
        // finished them.
        if !order.early.is_empty() {
            self.copy(fill.barrier, &HashMap::new());
        }
        stmts.append(&mut self.out);
        stmts
    }

    /// Declares the second buffers.
    fn seconds(&mut self, fill: &Fill) -> HashMap<LdsId, LdsId> {
        let kernel = &mut *self.kernel;
        let second = |id: &LdsId| {
            let bytes = kernel.lds[id.0 as usize].bytes;
            // The alignment of the widest LDS access, `ds_read_b128`.
            let offset = kernel.lds_bytes().next_multiple_of(16);
            kernel.lds.push(LdsDef { bytes, offset, dynamic: false });
            (*id, LdsId(kernel.lds.len() as u32 - 1))
        };
        fill.arrays.iter().map(second).collect()
    }

    /// Stores a tile from values that have these names.
    fn fill(&mut self, fill: &Fill, mut names: HashMap<Value, Value>, arrays: &HashMap<LdsId, LdsId>) {
        self.copies(&fill.insts, arrays, &mut names);
    }

    /// Copies instructions, with these arrays.
    fn copies(&mut self, insts: &[Value], arrays: &HashMap<LdsId, LdsId>, names: &mut HashMap<Value, Value>) {
        for v in insts {
            let copy = self.copy(*v, names);
            self.exchange(copy, arrays);
            names.insert(*v, copy);
        }
    }

    /// The first loads from a tile.
    fn early(&mut self, order: &Order, arrays: &HashMap<LdsId, LdsId>, set: &[Variable]) {
        let mut names = HashMap::new();
        self.copies(&order.with_addresses, arrays, &mut names);
        self.keep(set, &order.early, &names);
    }

    /// Emits a trip, with the stores of the next one's tile; returns the condition.
    fn turn(&mut self, fill: &Fill, order: &Order, set: &[Variable], turn: Turn<'_>) -> Value {
        let [now, next] = turn.arrays;
        let mut copying = Copying { arrays: now.clone(), ..Copying::default() };
        for (v, var) in order.early.iter().zip(turn.early[0]) {
            let value = self.read(*var);
            copying.names.insert(*v, value);
        }
        let left_out = fill.moved.iter().chain(&order.early);
        copying.left_out = left_out.copied().collect::<HashSet<Value>>();
        self.statements(&order.before, &mut copying);
        // One buffer: every wave must have read the old tile before the first store of the new one.
        if !order.two {
            self.copy(fill.barrier, &HashMap::new());
        }
        let held = fill.held.iter().zip(set).map(|(v, var)| (*v, self.read(*var))).collect();
        self.fill(fill, held, next);
        // The loads take the registers of what was stored: neither may pass the other.
        self.gate(Classes::MFMA | Classes::VALU | Classes::SALU | Classes::TRANS, order.urgent);
        let names = self.ahead(true);
        self.keep(set, &fill.held, &names);
        self.statements(&order.between, &mut copying);
        self.copy(fill.barrier, &HashMap::new());
        self.early(order, next, turn.early[1]);
        self.statements(&order.after, &mut copying);
        renamed(&copying.names, self.plan.cond)
    }
}
