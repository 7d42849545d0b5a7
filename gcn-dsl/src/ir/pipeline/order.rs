//! The order of loads, matrix products and barriers in an iteration (*trip*) of a loop that fills LDS for the next one.
//!
//! After a barrier all waves load at the same time. If all loads of a tile came after it, the matrix pipe would have to
//! wait for LDS. So the barrier is placed before the last products of a trip, whose factors are in registers by then.
//! During these products a wave loads the factors of the next trip's first products, and during the first products it
//! loads the rest of that trip's factors.

use hashbrown::{HashMap, HashSet};

use super::super::{Inst, Kernel, LdsId, Memory, Region, Stmt, Value, Variable};
use super::Machine;
use super::buffers::Fill;
use super::choose;
use super::plan::{Source, own, source, uses};

/// The order of a trip: the statements `before`, the stores of the next tile, the statements `between`, the barrier,
/// the loads `early` of the next trip, and the statements `after`. Without double buffering, there is another barrier
/// before the stores.
pub(super) struct Order {
    /// The loads of a trip that the previous trip has already issued.
    pub early: Vec<Value>,
    /// The early loads and the instructions that compute their addresses, in order.
    pub with_addresses: Vec<Value>,
    /// The number of register sets for the early loads: two if products after the barrier still need the factors that
    /// the current trip has loaded early.
    pub sets: usize,
    pub before: Vec<Stmt>,
    pub between: Vec<Stmt>,
    pub after: Vec<Stmt>,
    /// True with double buffering.
    pub two: bool,
    /// True if the next tile should be stored as early as possible: another workgroup executes products meanwhile, and
    /// the loads that follow the stores need the time.
    pub urgent: bool,
}

/// The order of a trip in the source.
pub(super) fn as_written(kernel: &Kernel, body: &Region) -> Order {
    let (before, between) = body.stmts.split_at(first_loads(kernel, body));
    let (before, between, after) = (before.to_vec(), between.to_vec(), Vec::new());
    Order {
        early: Vec::new(),
        with_addresses: Vec::new(),
        sets: 1,
        before,
        between,
        after,
        two: true,
        urgent: true,
    }
}

/// The order with the shortest waits for a trip that fills the arrays; `None` if the trip's loads from LDS do not
/// permit one.
pub(super) fn of(
    kernel: &Kernel,
    machine: Machine,
    body: &Region,
    fill: &Fill,
    [two, urgent]: [bool; 2],
) -> Option<Order> {
    let trip = Trip::of(kernel, machine, body, &fill.arrays)?;
    let cuts = trip.cuts(machine, fill.dwords)?;
    let with_addresses = trip.with_addresses(&cuts.early)?;
    let mut walk = Walk::of(&trip, &cuts)?;
    for (at, stmt) in body.stmts.iter().enumerate() {
        // Every wave must have loaded its factors before any wave stores.
        if at == if two { cuts.barrier } else { cuts.stores } {
            // With double buffering, this trip's barrier protects the buffer that the next stores overwrite; otherwise,
            // the barrier before the stores does.
            walk.loads(&trip.loads);
        }
        walk.part = usize::from(at >= cuts.stores) + usize::from(at >= cuts.barrier);
        walk.statement(at, stmt);
    }
    let [before, between, after] = walk.parts;
    let early: HashSet<Value> = cuts.early.iter().copied().collect();
    // The early loads of the next trip are issued before `after`, so their registers are live at the same time as the
    // registers that `after` still reads.
    let sets = 1 + usize::from(after.iter().any(|stmt| uses(kernel, stmt, &early)));
    Some(Order { early: cuts.early, with_addresses, sets, before, between, after, two, urgent })
}

/// The number of statements up to and including the last LDS load before the first product that uses LDS loads.
fn first_loads(kernel: &Kernel, body: &Region) -> usize {
    let mut after = None;
    for (at, stmt) in body.stmts.iter().enumerate() {
        let mut loads = false;
        let mut note = |v: Value| loads |= lds(kernel, v).is_some();
        match stmt {
            // Loads after the first product may be for later products only; including them would delay the stores.
            Stmt::Inst(v) if after.is_some() && matches!(kernel.def(*v).inst, Inst::Machine(_)) => break,
            Stmt::Inst(v) => note(*v),
            _ => stmt.regions().iter().for_each(|region| region.each_inst(&mut note)),
        }
        if loads {
            after = Some(at + 1);
        }
    }
    after.unwrap_or(0)
}

/// The array that an instruction loads from; `None` if it does not load from LDS.
pub(super) fn lds(kernel: &Kernel, v: Value) -> Option<LdsId> {
    match source(&kernel.def(v).inst) {
        Some(Source::Memory(Memory::Lds(id))) => Some(id),
        _ => None,
    }
}

/// A matrix instruction in a trip.
struct Product {
    inst: Value,
    stmt: usize,
    /// The number of cycles for which the product occupies the matrix pipe, counting also the same product of the
    /// workgroup's other waves on the SIMD.
    cycles: u32,
}

/// The LDS loads and the matrix products of a trip.
struct Trip<'k> {
    kernel: &'k Kernel,
    body: &'k Region,
    /// The values that are computed in the loop.
    inside: HashSet<Value>,
    written: HashSet<Variable>,
    /// The LDS loads, in program order.
    loads: Vec<Value>,
    products: Vec<Product>,
}

impl<'k> Trip<'k> {
    /// Collects the loads and products of a trip. `None` if an inner loop or a branch loads from LDS.
    fn of(kernel: &'k Kernel, machine: Machine, body: &'k Region, arrays: &[LdsId]) -> Option<Trip<'k>> {
        let is_load = |v: Value| lds(kernel, v).is_some_and(|id| arrays.contains(&id));
        let (mut inside, mut written, mut all) = (HashSet::new(), HashSet::new(), 0);
        body.each_inst(&mut |v| {
            inside.insert(v);
            all += usize::from(is_load(v));
            if let Inst::Write { var, .. } = kernel.def(v).inst {
                written.insert(var);
            }
        });
        let loads: Vec<Value> = own(body).filter(|v| is_load(*v)).collect();
        let sharing = choose::sharing(machine);
        let product = |(stmt, at): (usize, &Stmt)| {
            let Stmt::Inst(inst) = *at else { return None };
            let cycles = choose::matrix_cycles(&kernel.def(inst).inst, machine.target)? * sharing;
            Some(Product { inst, stmt, cycles })
        };
        let products = body.stmts.iter().enumerate().filter_map(product).collect();
        // `own` sees only the statements of the body itself. If the two numbers differ, a nested region contains loads,
        // which cannot be placed separately.
        (loads.len() == all).then_some(Trip { kernel, body, inside, written, loads, products })
    }

    /// The positions at which the trip is divided; `None` if there is nothing to reorder. `stored` is the number of
    /// dwords of the next tile that each lane stores.
    fn cuts(&self, machine: Machine, stored: u32) -> Option<Cuts> {
        let (mut early, mut covered) = (Vec::new(), 0);
        let mut rest = self.products.iter();
        // Take at most half of the products for the first part, so that enough products remain for the last.
        for product in rest.by_ref().take(self.products.len() / 2) {
            self.needs(product.inst, &mut early);
            covered += product.cycles;
            // Take enough products to hide the early loads of their own factors; more products would only lengthen the
            // live ranges of their factors.
            if covered >= self.time(machine, &early) {
                break;
            }
        }
        let time = self.time(machine, &early);
        let barrier = last(&mut rest, time)?;
        // The products that hide the stores are taken from those that remain before the barrier.
        let stores = last(&mut rest, choose::lds_cycles(machine, stored)).unwrap_or(barrier);
        (!early.is_empty()).then_some(Cuts { early, time, stores, barrier })
    }

    /// The time from the arrival at a barrier until `loads`, which follow it, are complete.
    fn time(&self, machine: Machine, loads: &[Value]) -> u32 {
        let dwords = loads.iter().map(|v| u32::from(self.kernel.ty(*v).dwords())).sum();
        choose::lds_cycles(machine, dwords)
    }

    /// Adds the loads of a product's factors to `found`, but not the loads of the accumulator to which the product
    /// adds.
    fn needs(&self, product: Value, found: &mut Vec<Value>) {
        let mut seen = HashSet::new();
        let mut open = vec![product];
        while let Some(v) = open.pop() {
            if !self.inside.contains(&v) || !seen.insert(v) {
                continue;
            }
            if self.loads.contains(&v) {
                if !found.contains(&v) {
                    found.push(v);
                }
            // An accumulator depends on all earlier products in its chain; following it would collect the factors of
            // all of them.
            } else if v == product || self.products.iter().all(|other| other.inst != v) {
                self.kernel.def(v).inst.operands(|operand| open.push(operand));
            }
        }
    }

    /// The loads, each after the instructions that compute its address. `None` if an address changes during the trip.
    fn with_addresses(&self, loads: &[Value]) -> Option<Vec<Value>> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        loads.iter().all(|load| self.add(*load, true, &mut seen, &mut found)).then_some(found)
    }

    fn add(&self, v: Value, load: bool, seen: &mut HashSet<Value>, found: &mut Vec<Value>) -> bool {
        if !self.inside.contains(&v) || !seen.insert(v) {
            return true;
        }
        let inst = &self.kernel.def(v).inst;
        let may = match inst {
            Inst::Read(var) => !self.written.contains(var),
            // The same lanes are active throughout the trip.
            Inst::ReadFirstLane(_) | Inst::ReadLane(..) => true,
            // Only the given loads may be repeated. If an address depends on another load, that load might give another
            // value here.
            _ => load || inst.is_pure(),
        };
        let mut all = may;
        // Operands are added before the instructions that use them, so the order is valid.
        inst.operands(|operand| all = all && self.add(operand, false, seen, found));
        found.push(v);
        all
    }
}

/// The positions at which a trip is divided.
struct Cuts {
    /// The loads of a trip that the previous trip issues.
    early: Vec<Value>,
    /// The time that the loads need.
    time: u32,
    /// The statement before which the next tile is stored.
    stores: usize,
    /// The statement before which the barrier is placed.
    barrier: usize,
}

/// Puts the statements of a trip into a new order, in which loads, and values computed from them, come just before the
/// products that need them.
struct Walk<'t> {
    trip: &'t Trip<'t>,
    /// The values that are emitted only when they are needed.
    waiting: HashSet<Value>,
    /// For each product, by its statement: the loads that are emitted before it.
    starts: HashMap<usize, Vec<Value>>,
    parts: [Vec<Stmt>; 3],
    part: usize,
}

impl<'t> Walk<'t> {
    /// Returns `None` if an address changes during the trip.
    fn of(trip: &'t Trip<'t>, cuts: &Cuts) -> Option<Walk<'t>> {
        let loads: Vec<Value> =
            trip.loads.iter().copied().filter(|load| !cuts.early.contains(load)).collect();
        let mut waiting: HashSet<Value> = trip.with_addresses(&loads)?.into_iter().collect();
        let mut loaded: HashSet<Value> = loads.into_iter().collect();
        for v in own(trip.body) {
            let inst = &trip.kernel.def(v).inst;
            let mut computed = false;
            inst.operands(|operand| computed |= loaded.contains(&operand));
            // Delay conversions and shuffles of loaded factors together with the loads; otherwise the loads would have
            // to stay before them.
            if computed && inst.is_pure() && trip.products.iter().all(|product| product.inst != v) {
                loaded.insert(v);
                waiting.insert(v);
            }
        }
        let mut starts: HashMap<usize, Vec<Value>> = HashMap::new();
        for (i, product) in trip.products.iter().enumerate() {
            let mut ahead = 0;
            // Go back from the product until the products in between take as long as a load, and emit the load there.
            let back = trip.products[..i].iter().rev().take_while(|other| {
                let more = ahead < cuts.time;
                ahead += other.cycles;
                more
            });
            let from = back.last().unwrap_or(product);
            trip.needs(product.inst, starts.entry(from.stmt).or_default());
        }
        Some(Walk { trip, waiting, starts, parts: Default::default(), part: 0 })
    }

    /// Appends those of `loads` that have not been appended.
    fn loads(&mut self, loads: &[Value]) {
        loads.iter().for_each(|load| self.value(*load));
    }

    fn statement(&mut self, at: usize, stmt: &Stmt) {
        if let Some(loads) = self.starts.remove(&at) {
            self.loads(&loads);
        }
        if matches!(stmt, Stmt::Inst(v) if self.waiting.contains(v)) {
            return;
        }
        let mut needed = Vec::new();
        operands(self.trip.kernel, stmt, &mut needed);
        needed.into_iter().for_each(|v| self.value(v));
        self.parts[self.part].push(stmt.clone());
    }

    /// Appends a delayed value, after its operands.
    fn value(&mut self, v: Value) {
        let trip = self.trip;
        if self.waiting.remove(&v) {
            trip.kernel.def(v).inst.operands(|operand| self.value(operand));
            self.parts[self.part].push(Stmt::Inst(v));
        }
    }
}

/// Collects the operands and conditions of a statement and of all statements inside it.
fn operands(kernel: &Kernel, stmt: &Stmt, found: &mut Vec<Value>) {
    found.extend(stmt.condition());
    if let Stmt::Inst(v) = stmt {
        kernel.def(*v).inst.operands(|operand| found.push(operand));
    }
    stmt.regions()
        .into_iter()
        .flat_map(|region| &region.stmts)
        .for_each(|stmt| operands(kernel, stmt, found));
}

/// Removes products from the end until the removed ones occupy the matrix pipe for at least `time`. Returns the
/// statement of the first product removed; `None` if none was removed.
fn last(products: &mut std::slice::Iter<'_, Product>, time: u32) -> Option<usize> {
    let (mut covered, mut stmt) = (0, None);
    while covered < time {
        let Some(product) = products.next_back() else { break };
        covered += product.cycles;
        stmt = Some(product.stmt);
    }
    stmt
}
