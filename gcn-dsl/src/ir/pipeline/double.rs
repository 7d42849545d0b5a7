//! Emits a pipelined loop in which a trip stores the tile of the next trip to LDS; with double buffering, to the other
//! buffer.
//!
//! Before the loop, the first tile is stored and the loads of the following tiles start. A trip consists of, in this
//! order: its loads from LDS; the stores of the next tile; the loads of a later tile, into the registers that these
//! stores have freed; most of the matrix products; a barrier; the loads of the next trip's first factors; the remaining
//! products (`order`). Matrix instructions and other arithmetic move freely between two barriers. Without double
//! buffering, the stores come after most products, with another barrier before them.
//!
//! The body is emitted once for each combination of a buffer and a set of registers. If the last trip has loaded
//! factors for a next trip that does not exist, a barrier follows the loop, because the code after it may use LDS
//! again.

use hashbrown::{HashMap, HashSet};

use super::super::mark::Classes;
use super::super::{LdsDef, LdsId, Stmt, Value, Variable};
use super::buffers::Fill;
use super::order::Order;
use super::rotate::{Copying, Emit, fresh, renamed};

/// The buffers and variables that one copy of the body uses, and those that the next copy uses.
#[derive(Clone, Copy)]
struct Turn<'a> {
    arrays: [&'a HashMap<LdsId, LdsId>; 2],
    /// The variables for the LDS loads that run one trip ahead: of this copy, and of the next.
    early: [&'a [Variable]; 2],
}

impl Emit<'_> {
    /// The statements that replace the loop.
    pub fn in_turns(&mut self, stages: usize, fill: &Fill, order: &Order) -> Vec<Stmt> {
        let seconds = if order.two { self.seconds(fill) } else { HashMap::new() };
        let sides = [HashMap::new(), seconds];
        let sets = self.sets(stages - 1, &fill.held);
        let early = self.sets(order.sets, &order.early);
        // All copies of the body are in one block. The tests after all copies but the last leave it; the test after the
        // last copy repeats the loop.
        let whole = fresh(self.labels);
        self.start();
        let names = self.ahead(false);
        self.fill(fill, names, &sides[0]);
        // There is one set of registers for each trip in flight. The first tile needs none, since it is already in LDS.
        for trip in 1..stages {
            let names = self.ahead(false);
            self.keep(&sets[trip % sets.len()], &fill.held, &names);
        }
        self.copy(fill.barrier, &HashMap::new());
        self.early(order, &sides[0], &early[0]);
        let before = std::mem::take(&mut self.out);
        // The pattern repeats when both the buffer and the set of registers are those of the first copy: after the
        // least common multiple of their numbers.
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
        // The early loads of the last trip read a tile that is not used. The code after the loop may overwrite that
        // tile only after every wave has finished these loads.
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
            // The alignment that the widest LDS access, `ds_read_b128`, needs.
            let offset = kernel.lds_bytes().next_multiple_of(16);
            kernel.lds.push(LdsDef { bytes, offset, dynamic: false });
            (*id, LdsId(kernel.lds.len() as u32 - 1))
        };
        fill.arrays.iter().map(second).collect()
    }

    /// Emits the stores of a tile. `names` gives the new names of the values that they use.
    fn fill(&mut self, fill: &Fill, mut names: HashMap<Value, Value>, arrays: &HashMap<LdsId, LdsId>) {
        self.copies(&fill.insts, arrays, &mut names);
    }

    /// Emits copies of instructions, with LDS arrays replaced according to `arrays`.
    fn copies(&mut self, insts: &[Value], arrays: &HashMap<LdsId, LdsId>, names: &mut HashMap<Value, Value>) {
        for v in insts {
            let copy = self.copy(*v, names);
            self.exchange(copy, arrays);
            names.insert(*v, copy);
        }
    }

    /// Emits the first loads from a tile.
    fn early(&mut self, order: &Order, arrays: &HashMap<LdsId, LdsId>, set: &[Variable]) {
        let mut names = HashMap::new();
        self.copies(&order.with_addresses, arrays, &mut names);
        self.keep(set, &order.early, &names);
    }

    /// Emits a trip, with the stores of the next trip's tile. Returns the loop's condition.
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
        // Without double buffering, every wave must have read the old tile before the first store of the new one.
        if !order.two {
            self.copy(fill.barrier, &HashMap::new());
        }
        let held = fill.held.iter().zip(set).map(|(v, var)| (*v, self.read(*var))).collect();
        self.fill(fill, held, next);
        // The loads reuse the registers of the stored values, so neither loads nor stores may move across the gate.
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
