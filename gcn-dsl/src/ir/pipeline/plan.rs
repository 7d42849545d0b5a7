//! Decides which loads of a loop run ahead, and which instructions must run ahead with them (the *slice*).
//!
//! A load may run ahead under two conditions. First, no trip can change the memory that a later trip's load reads.
//! Second, its address can be computed before the trip: from loop invariants, from other loads that run ahead, and from
//! *induction variables*, whose next values are computed only from each other. An induction variable must not depend on
//! a load, because the slice would then wait for that load in each trip. The set of induction variables is a greatest
//! fixpoint: it starts with all variables, and each round removes those with writes of another kind.
//!
//! Only statements of the body itself qualify, not those of nested branches. The same lanes run them in each trip,
//! because nothing leaves the loop early: the macro rejects `break`, `continue` and `return` in such a loop.

use gcn_isa::program::SourceLoc;
use gcn_isa::table::{self, Class};
use hashbrown::{HashMap, HashSet};

use super::super::atomic::Ordering;
use super::super::merge::{is_read_only, may_alias};
use super::super::probe;
use super::super::{
    Arg, Cache, Call, Effect, Inst, Kernel, Manner, Memory, Place, Region, Schedule, Stmt, Value, Variable,
};
use super::refuse::{StayingLoad, StaysReason};
use crate::ir::mark::Mark;

/// The slice that runs ahead.
pub(super) struct Plan {
    /// The loads, in order.
    pub loads: Vec<Value>,
    /// The whole slice: the loads, the instructions on which they depend, and the instructions that advance the
    /// variables to the next trip.
    pub slice: HashSet<Value>,
    /// The variables of which the slice needs its own copy, because a trip reads the value that the previous trip
    /// wrote.
    pub state: Vec<Variable>,
    /// The loop's condition.
    pub cond: Value,
    /// The scalar loads on which nothing else in the slice depends.
    pub last: HashSet<Value>,
    /// The statement of the body after which the loaded values are not used any more. Loads of a later trip start
    /// there. `None` if no barrier follows that statement, or if LDS is read before the barrier.
    pub used_up: Option<usize>,
}

/// The plan for a loop, and the loads that stay in their trip. The plan is `None` if no load can run ahead.
pub(super) fn of(kernel: &Kernel, body: &Region, cond: Value) -> (Option<Plan>, Vec<StayingLoad>) {
    let facts = Facts::of(kernel, body);
    let mut ready = Ready::of(kernel, body, &facts);
    ready.settle();
    let left = ready.left();
    if ready.loads().next().is_none() || !ready.is_known(cond) {
        return (None, left);
    }
    let mut plan = ready.plan(cond);
    plan.used_up = used_up(kernel, body, &plan.loads);
    (Some(plan), left)
}

/// The last statement of the body that uses one of the loads, or a value computed from them. `None` unless a barrier
/// follows and the trip loads from LDS only after the barrier. In such other loops the values are used late, and loads
/// that start at the beginning of the trip have more time.
fn used_up(kernel: &Kernel, body: &Region, loads: &[Value]) -> Option<usize> {
    let mut derived: HashSet<Value> = loads.iter().copied().collect();
    let (mut last, mut barrier, mut lds) = (None, None, None);
    for (at, stmt) in body.stmts.iter().enumerate() {
        if uses(kernel, stmt, &derived) {
            (last, barrier) = (Some(at), None);
            if let Stmt::Inst(v) = stmt {
                derived.insert(*v);
            }
        }
        let Stmt::Inst(v) = stmt else { continue };
        let inst = &kernel.def(*v).inst;
        if matches!(inst, Inst::Barrier) {
            barrier = barrier.or(Some(at));
        }
        // The fence between the last use and the loads would separate instructions that an `interleave!` mixes.
        if matches!(inst, Inst::Schedule(what) if matches!(**what, Schedule::Mark(Mark::Interleave(_)))) {
            return None;
        }
        if matches!(source(inst), Some(Source::Memory(Memory::Lds(_)))) {
            lds = lds.or(Some(at));
        }
    }
    (barrier? < lds?).then_some(last?)
}

/// True if the statement, or one inside it, has one of the values as an operand or condition.
pub(super) fn uses(kernel: &Kernel, stmt: &Stmt, values: &HashSet<Value>) -> bool {
    let mut used = stmt.condition().is_some_and(|cond| values.contains(&cond));
    if let Stmt::Inst(v) = stmt {
        kernel.def(*v).inst.operands(|operand| used |= values.contains(&operand));
    }
    used || stmt.regions().into_iter().flat_map(|region| &region.stmts).any(|stmt| uses(kernel, stmt, values))
}

/// The statements of a loop that prevent loads from running ahead.
#[derive(Default)]
struct Facts {
    stores: Vec<(Memory, Option<SourceLoc>)>,
    ordered: Option<(&'static str, Option<SourceLoc>)>,
    traps: Option<Option<SourceLoc>>,
    mode: Option<Option<SourceLoc>>,
    manual: Option<Option<SourceLoc>>,
}

impl Facts {
    fn of(kernel: &Kernel, body: &Region) -> Facts {
        let mut facts = Facts::default();
        body.each_inst(&mut |v| facts.note(kernel, v));
        facts
    }

    fn note(&mut self, kernel: &Kernel, v: Value) {
        let def = kernel.def(v);
        let mut ordered = |what| self.ordered = self.ordered.or(Some((what, def.loc)));
        match &def.inst {
            Inst::Store { memory, .. } => self.stores.push((*memory, def.loc)),
            Inst::Atomic(atomic) => {
                if atomic.ordering != Ordering::Relaxed {
                    ordered("atomic access");
                }
                self.stores.push((atomic.memory, def.loc));
            }
            Inst::Barrier => ordered("barrier"),
            Inst::Fence { .. } => ordered("fence"),
            Inst::Machine(call) if call.changes_mode() => self.mode = Some(def.loc),
            Inst::Machine(call) if call.effect == Effect::Kept => match table::class_of(call.mnemonic) {
                Some(Class::Trap | Class::Endpgm) => self.traps = Some(def.loc),
                _ if is_probe(call) => {}
                _ => ordered(call.mnemonic),
            },
            // The operations of a manual schedule are identified by number, and the copies of the body would contain
            // the same numbers.
            Inst::Schedule(what)
                if matches!(
                    **what,
                    Schedule::Wait { .. } | Schedule::Mark(Mark::ManualBegin | Mark::Issue(_))
                ) =>
            {
                self.manual = self.manual.or(Some(def.loc));
            }
            _ => {}
        }
    }

    /// The reason why a load from `memory` cannot run ahead; `None` if it can.
    fn against(&self, kernel: &Kernel, memory: Memory) -> Option<StaysReason> {
        if let Some(at) = self.manual {
            return Some(StaysReason::Manual(at));
        }
        if let Some(at) = self.mode {
            return Some(StaysReason::Mode(at));
        }
        if is_read_only(kernel, memory) {
            return None;
        }
        if matches!(memory, Memory::Private(_)) {
            return Some(StaysReason::Private);
        }
        if let Some((_, at)) = self.stores.iter().find(|(to, _)| may_alias(kernel, *to, memory)) {
            return Some(StaysReason::Stored(*at));
        }
        if let Some((what, at)) = self.ordered {
            return Some(StaysReason::Ordered(what, at));
        }
        // A raw load has no bounds check. If a trap may end the kernel before the later trip, the load could fault at
        // an address that the program never reads.
        let raw = matches!(memory, Memory::Global(_) | Memory::Lanes(_));
        self.traps.filter(|_| raw).map(StaysReason::Traps)
    }
}

/// True for an instruction that `dbg!` emits. It accesses no memory and may be reordered.
pub(super) fn is_probe(call: &Call) -> bool {
    matches!(call.args.first(), Some(Arg::Literal(number)) if *number >= probe::FIRST)
}

/// The memory from which an instruction loads.
pub(super) enum Source {
    Memory(Memory),
    /// A read-only slice, through the scalar cache.
    Scalar(Value),
    Bypass,
}

pub(super) fn source(inst: &Inst) -> Option<Source> {
    match inst {
        Inst::Load { manner: Manner::Cached(Cache::Bypass), .. } => Some(Source::Bypass),
        Inst::Load { memory, .. } => Some(Source::Memory(*memory)),
        Inst::LoadUniform { resource, .. } => Some(Source::Scalar(*resource)),
        _ => None,
    }
}

/// The instructions that can be computed before a trip begins.
struct Ready<'a> {
    kernel: &'a Kernel,
    body: &'a Region,
    facts: &'a Facts,
    /// All values defined in the loop, including those in branches and inner loops.
    inside: HashSet<Value>,
    /// For each variable that the loop writes, its writes; `None` if the variable is not an induction variable.
    writes: HashMap<Variable, Option<Vec<Value>>>,
    known: HashSet<Value>,
    /// The values that depend on a load.
    loaded: HashSet<Value>,
}

impl<'a> Ready<'a> {
    fn of(kernel: &'a Kernel, body: &'a Region, facts: &'a Facts) -> Ready<'a> {
        let (mut inside, mut writes) = (HashSet::new(), HashMap::new());
        let own: HashSet<Value> = own(body).collect();
        body.each_inst(&mut |v| {
            inside.insert(v);
            let Inst::Write { var, .. } = kernel.def(v).inst else { return };
            let of_var = writes.entry(var).or_insert_with(|| Some(Vec::new()));
            let ty = kernel.variables[var.0 as usize];
            match of_var {
                Some(found) if own.contains(&v) && ty.count == 1 && ty.place != Place::Acc => found.push(v),
                _ => *of_var = None,
            }
        });
        Ready { kernel, body, facts, inside, writes, known: HashSet::new(), loaded: HashSet::new() }
    }

    /// Removes variables until each remaining one is computed only from these variables.
    fn settle(&mut self) {
        loop {
            self.known.clear();
            self.loaded.clear();
            for v in own(self.body) {
                if self.can(v) {
                    self.known.insert(v);
                }
                if self.is_loaded(v) {
                    self.loaded.insert(v);
                }
            }
            // A variable is removed if the value of one of its writes cannot be computed ahead, or depends on a load.
            // Its removal may disqualify other variables, so this repeats.
            let fail = |v: &Value| !self.known.contains(v) || self.loaded.contains(v);
            let dropped: Vec<Variable> = self
                .writes
                .iter()
                .filter(|(_, writes)| writes.as_ref().is_some_and(|w| w.iter().any(fail)))
                .map(|(var, _)| *var)
                .collect();
            if dropped.is_empty() {
                return;
            }
            for var in dropped {
                self.writes.insert(var, None);
            }
        }
    }

    fn is_known(&self, v: Value) -> bool {
        !self.inside.contains(&v) || self.known.contains(&v)
    }

    fn has_known_operands(&self, v: Value) -> bool {
        let mut all = true;
        self.kernel.def(v).inst.operands(|operand| all &= self.is_known(operand));
        all
    }

    fn is_loaded(&self, v: Value) -> bool {
        let inst = &self.kernel.def(v).inst;
        let mut loaded = source(inst).is_some();
        inst.operands(|operand| loaded |= self.loaded.contains(&operand));
        loaded
    }

    /// True if the instruction may run ahead, given the current set of induction variables.
    fn can(&self, v: Value) -> bool {
        let inst = &self.kernel.def(v).inst;
        let may = match inst {
            Inst::Read(var) | Inst::Write { var, .. } => !matches!(self.writes.get(var), Some(None)),
            // Lane reads depend on EXEC, but the same lanes are active in every trip.
            Inst::ReadFirstLane(_) | Inst::ReadLane(..) => true,
            _ if source(inst).is_some() => self.against(v).is_none(),
            _ => inst.is_pure(),
        };
        may && self.has_known_operands(v)
    }

    /// The reason why a load cannot run ahead, apart from its address; `None` if there is none.
    fn against(&self, v: Value) -> Option<StaysReason> {
        match source(&self.kernel.def(v).inst)? {
            Source::Memory(memory) => self.facts.against(self.kernel, memory),
            Source::Scalar(resource) => self.facts.against(self.kernel, Memory::Buffer(resource)),
            Source::Bypass => Some(StaysReason::Bypass),
        }
    }

    fn loads(&self) -> impl Iterator<Item = Value> {
        own(self.body).filter(|v| self.known.contains(v) && source(&self.kernel.def(*v).inst).is_some())
    }

    /// The loads that stay in their trip.
    fn left(&self) -> Vec<StayingLoad> {
        let mut left = Vec::new();
        let own: HashSet<Value> = own(self.body).collect();
        self.body.each_inst(&mut |v| {
            let def = self.kernel.def(v);
            if source(&def.inst).is_none() || self.known.contains(&v) {
                return;
            }
            let reason = match self.against(v) {
                Some(reason) => reason,
                None if own.contains(&v) => StaysReason::Address,
                None => StaysReason::Nested,
            };
            let new = StayingLoad { at: def.loc, reason };
            // A source line may be listed already, for example if it is in a pipelined inner loop.
            if !left.contains(&new) {
                left.push(new);
            }
        });
        left
    }

    /// The variables that `slice` reads before it writes them.
    fn state(&self, slice: &HashSet<Value>) -> Vec<Variable> {
        let (mut state, mut written) = (Vec::new(), HashSet::new());
        for v in own(self.body).filter(|v| slice.contains(v)) {
            match self.kernel.def(v).inst {
                Inst::Read(var)
                    if self.writes.contains_key(&var) && !written.contains(&var) && !state.contains(&var) =>
                {
                    state.push(var);
                }
                Inst::Write { var, .. } => _ = written.insert(var),
                _ => {}
            }
        }
        state
    }

    /// The slice: everything that the loads and the loop's condition depend on, also through variables.
    fn plan(&self, cond: Value) -> Plan {
        let loads: Vec<Value> = self.loads().collect();
        let mut plan = Plan {
            slice: HashSet::new(),
            state: Vec::new(),
            cond,
            last: HashSet::new(),
            loads: Vec::new(),
            used_up: None,
        };
        let mut open: Vec<Value> = loads.iter().copied().chain([cond]).collect();
        while let Some(v) = open.pop() {
            if !self.inside.contains(&v) || !plan.slice.insert(v) {
                continue;
            }
            let inst = &self.kernel.def(v).inst;
            inst.operands(|operand| open.push(operand));
            if let Inst::Read(var) = inst
                && let Some(Some(writes)) = self.writes.get(var)
            {
                open.extend(writes);
            }
        }
        plan.state = self.state(&plan.slice);
        plan.last = self.last(&loads, &plan.slice);
        plan.loads = loads;
        plan
    }

    /// The scalar loads on which nothing in `slice` depends.
    fn last(&self, loads: &[Value], slice: &HashSet<Value>) -> HashSet<Value> {
        let scalar = |v: &Value| matches!(self.kernel.def(*v).inst, Inst::LoadUniform { .. });
        let mut last: HashSet<Value> = loads.iter().copied().filter(scalar).collect();
        for v in slice {
            self.kernel.def(*v).inst.operands(|operand| _ = last.remove(&operand));
        }
        last
    }
}

/// The instructions of a region without those of nested regions.
pub(super) fn own(region: &Region) -> impl Iterator<Item = Value> {
    region.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Inst(v) => Some(*v),
        _ => None,
    })
}
