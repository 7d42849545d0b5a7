//! Sinks arithmetic on loaded values past branches, to just before its first reader.
//!
//! A wave waits for a load at the first read of its result. If there is little to do between a load and a branch,
//! moving the arithmetic on the loaded value after the branch lets the branch's sides run before the wait. The
//! scheduler does the same within a block. An instruction is sunk only if its operands occupy no more registers across
//! the branch than its result would.

use hashbrown::{HashMap, HashSet};

use super::{Bin, Inst, Kernel, Place, Region, Stmt, Value};

/// Sinks arithmetic of `kernel` past branches.
pub fn run(kernel: &mut Kernel) {
    let readers = kernel.readers();
    kernel.rewrite(|kernel, body| region(kernel, &readers, None, body));
}

/// `of_trip` is the set of values that each iteration of the innermost enclosing loop computes; `None` outside of
/// loops.
fn region(kernel: &Kernel, readers: &[u32], of_trip: Option<&HashSet<Value>>, around: &mut Region) {
    for stmt in &mut around.stmts {
        let mut own = HashSet::new();
        if stmt.repeats() {
            stmt.regions().into_iter().for_each(|inner| {
                inner.each_inst(&mut |v| {
                    own.insert(v);
                });
            });
        }
        let of_trip = if stmt.repeats() { Some(&own) } else { of_trip };
        stmt.regions_mut().into_iter().for_each(|inner| region(kernel, readers, of_trip, inner));
    }
    if !around.stmts.iter().any(|stmt| matches!(stmt, Stmt::If { .. })) {
        return;
    }
    let waiting = waiting(kernel, readers, of_trip, around);
    if waiting.is_empty() {
        return;
    }
    let mut order = Order::new(around.stmts.len());
    for at in (0..around.stmts.len()).rev() {
        let stmt = &around.stmts[at];
        match stmt {
            Stmt::Inst(v) => {
                if waiting.contains(v) {
                    order.delay(*v, at);
                }
                order.read_by(kernel, *v, order.place[at]);
            }
            // Other lanes may be active after a loop or an exit.
            Stmt::If { .. } if passes(kernel, stmt) => order.branches.push(at),
            _ => order.barriers.push(at),
        }
        if !matches!(stmt, Stmt::Inst(_)) {
            order.condition(stmt, at);
            stmt.regions().into_iter().for_each(|inner| {
                inner.each_stmt(&mut |stmt| match stmt {
                    Stmt::Inst(v) => order.read_by(kernel, *v, at),
                    stmt => order.condition(stmt, at),
                });
            });
        }
        if matches!(stmt, Stmt::Inst(v) if matches!(kernel.def(*v).inst, Inst::Schedule(_) | Inst::Machine(_)))
        {
            order.barriers.push(at);
        }
    }
    let mut places: Vec<(usize, bool, usize)> =
        order.place.iter().enumerate().map(|(at, to)| (*to, *to == at, at)).collect();
    places.sort_unstable();
    let mut stmts: Vec<Option<Stmt>> = std::mem::take(&mut around.stmts).into_iter().map(Some).collect();
    around.stmts = places.into_iter().filter_map(|(.., at)| stmts[at].take()).collect();
}

/// The positions of statements in their new order, found from the last statement to the first.
struct Order {
    /// For each statement, the index of the statement before which it is placed; if the statement stays, its own index.
    place: Vec<usize>,
    /// For each value, the position of its first reader.
    first: HashMap<Value, usize>,
    /// Values that must not move, because one of their readers is an instruction whose result depends on inactive
    /// lanes.
    stays: HashSet<Value>,
    /// The branches that arithmetic may move past, and the statements (barriers) that it must not move past, both in
    /// descending order.
    branches: Vec<usize>,
    barriers: Vec<usize>,
}

impl Order {
    fn new(statements: usize) -> Order {
        Order {
            place: (0..statements).collect(),
            first: HashMap::new(),
            stays: HashSet::new(),
            branches: Vec::new(),
            barriers: Vec::new(),
        }
    }

    /// Sinks statement `at`, which computes `v`, to just before its first reader if there is a branch between them.
    fn delay(&mut self, v: Value, at: usize) {
        let Some(first) = self.first.get(&v).filter(|_| !self.stays.contains(&v)) else { return };
        let to = self.barriers.last().map_or(*first, |barrier| *first.min(barrier));
        if self.branches.last().is_some_and(|branch| *branch < to) {
            self.place[at] = to;
        }
    }

    fn read_by(&mut self, kernel: &Kernel, reader: Value, place: usize) {
        let inst = &kernel.def(reader).inst;
        let of_lanes =
            inst.is_pure() || matches!(inst, Inst::Load { .. } | Inst::Store { .. } | Inst::Write { .. });
        inst.operands(|operand| {
            self.first.insert(operand, place.min(self.first.get(&operand).copied().unwrap_or(place)));
            if !of_lanes {
                self.stays.insert(operand);
            }
        });
    }

    fn condition(&mut self, stmt: &Stmt, at: usize) {
        if let Some(condition) = stmt.condition() {
            self.first.insert(condition, at);
        }
    }
}

/// True for a branch that leaves the set of active lanes and the floating-point mode unchanged.
fn passes(kernel: &Kernel, stmt: &Stmt) -> bool {
    stmt.regions().into_iter().all(|inner| {
        let mut passes = true;
        inner.each_stmt(&mut |stmt| {
            passes &= match stmt {
                Stmt::Inst(v) => !matches!(kernel.def(*v).inst, Inst::Schedule(_) | Inst::Machine(_)),
                Stmt::If { .. } => true,
                _ => false,
            };
        });
        passes
    })
}

/// The arithmetic of a region that depends on exactly one load of the region, and whose other operands stay live in any
/// case.
fn waiting(
    kernel: &Kernel,
    readers: &[u32],
    of_trip: Option<&HashSet<Value>>,
    around: &Region,
) -> HashSet<Value> {
    let (mut loaded, mut waiting) = (HashSet::new(), HashSet::new());
    for v in around.insts() {
        let inst = &kernel.def(v).inst;
        if matches!(inst, Inst::Load { .. }) {
            loaded.insert(v);
            continue;
        }
        let (mut late, mut stays) = (0, false);
        inst.operands(|operand| {
            let of = &kernel.def(operand).inst;
            if loaded.contains(&operand) || waiting.contains(&operand) {
                late += 1;
                // Moving the operation keeps the loaded value live instead of the result, so the operation stays if the
                // loaded value is the larger one.
                stays |= kernel.ty(operand).dwords() > kernel.ty(v).dwords();
            } else {
                let lives_on = readers[operand.0 as usize] > 1
                    || of_trip.is_some_and(|values| !values.contains(&operand))
                    || kernel.ty(operand).place == Place::Uniform
                    || matches!(of, Inst::Const(_) | Inst::Splat(_));
                stays |= !lives_on || matches!(of, Inst::Read(_));
            }
        });
        if late == 1 && !stays && kernel.ty(v).place == Place::Varying && is_arithmetic(inst) {
            waiting.insert(v);
        }
    }
    waiting
}

fn is_arithmetic(inst: &Inst) -> bool {
    match inst {
        Inst::Bin(op, ..) => !matches!(op, Bin::Div | Bin::Rem),
        Inst::Cmp(..) | Inst::Select(..) | Inst::Cast(_) | Inst::Bitcast(_) => true,
        _ => false,
    }
}
