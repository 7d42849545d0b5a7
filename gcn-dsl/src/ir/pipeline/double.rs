//! Emits the pipelined loop whose LDS arrays have two buffers.
//!
//! Before the loop the first tile is stored, and the loads of the next ones start. A trip begins at the barrier that stays. Then come
//! its loads from LDS; the stores of the next tile, to the other buffer; the loads of a later tile, to the registers from which these
//! stores came; and the rest of the trip. Matrix instructions and other arithmetic move freely between them.
//!
//! The body is emitted once for each combination of a buffer and a set of registers. A barrier follows the loop, in place of the one
//! that ended the last trip: what comes after the loop may use LDS again.

use hashbrown::{HashMap, HashSet};

use super::super::mark::Classes;
use super::super::{LdsDef, LdsId, Stmt, Value, Variable};
use super::buffers::Fill;
use super::rotate::{Copying, Emit, fresh, renamed};

impl Emit<'_> {
    /// The statements that replace the loop.
    pub fn double(&mut self, stages: usize, fill: &Fill) -> Vec<Stmt> {
        let seconds = self.seconds(fill);
        let sides = [HashMap::new(), seconds];
        let sets = self.sets(stages - 1, &fill.held);
        let whole = fresh(self.labels);
        self.start();
        let names = self.ahead(false);
        self.fill(fill, names, &sides[0]);
        for trip in 1..stages {
            let names = self.ahead(false);
            self.keep(&sets[trip % sets.len()], &fill.held, &names);
        }
        let before = std::mem::take(&mut self.out);
        let copies = if sets.len().is_multiple_of(2) { sets.len() } else { 2 * sets.len() };
        let mut last = self.plan.cond;
        for trip in 0..copies {
            let next = &sets[(trip + 1) % sets.len()];
            last = self.doubled_trip(fill, next, [&sides[trip % 2], &sides[(trip + 1) % 2]]);
            if trip + 1 < copies {
                self.leave_unless(last, whole);
            }
        }
        let mut stmts = self.looped(before, last, whole);
        self.copy(fill.barrier, &HashMap::new());
        stmts.append(&mut self.out);
        stmts
    }

    /// Declares the second buffers.
    fn seconds(&mut self, fill: &Fill) -> HashMap<LdsId, LdsId> {
        let kernel = &mut *self.kernel;
        let second = |id: &LdsId| {
            let bytes = kernel.lds[id.0 as usize].bytes;
            let offset = kernel.lds_bytes().next_multiple_of(16);
            kernel.lds.push(LdsDef { bytes, offset, dynamic: false });
            (*id, LdsId(kernel.lds.len() as u32 - 1))
        };
        fill.arrays.iter().map(second).collect()
    }

    /// Stores a tile from values that have these names.
    fn fill(&mut self, fill: &Fill, mut names: HashMap<Value, Value>, arrays: &HashMap<LdsId, LdsId>) {
        for v in &fill.insts {
            let copy = self.copy(*v, &names);
            self.exchange(copy, arrays);
            names.insert(*v, copy);
        }
    }

    /// Emits a trip, whose buffers are the first ones, with the stores of the next one to the second ones; returns the condition.
    fn doubled_trip(
        &mut self,
        fill: &Fill,
        set: &[Variable],
        [now, next]: [&HashMap<LdsId, LdsId>; 2],
    ) -> Value {
        let left_out: HashSet<Value> = fill.moved.clone();
        let mut copying = Copying { left_out, arrays: now.clone(), ..Copying::default() };
        self.copy(fill.barrier, &HashMap::new());
        let body = self.body;
        let (first, rest) = body.stmts.split_at(fill.after);
        self.statements(first, &mut copying);
        let held = fill.held.iter().zip(set).map(|(v, var)| (*v, self.read(*var))).collect();
        self.fill(fill, held, next);
        // The loads take the registers of what was stored: neither may pass the other.
        self.fence(Classes::MFMA | Classes::VALU | Classes::SALU | Classes::TRANS);
        let names = self.ahead(true);
        self.keep(set, &fill.held, &names);
        self.statements(rest, &mut copying);
        renamed(&copying.names, self.plan.cond)
    }
}
