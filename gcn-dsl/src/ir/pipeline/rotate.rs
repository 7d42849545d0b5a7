//! Emits the pipelined loop.

use gcn_isa::counters::Counter;
use gcn_isa::program::SourceLoc;
use hashbrown::{HashMap, HashSet};

use super::super::{
    Inst, Kernel, Label, LdsId, Memory, Place, Pred, Region, Schedule, Stmt, Type, Un, Value, ValueDef,
    Variable,
};
use super::plan::Plan;
use super::split::Split;
use crate::ir::mark::{Classes, Mark};
use crate::scalar::Elem;

pub(super) fn fresh(labels: &mut u32) -> Label {
    *labels += 1;
    Label(*labels - 1)
}

pub(super) struct Emit<'a> {
    pub kernel: &'a mut Kernel,
    pub labels: &'a mut u32,
    pub plan: &'a Plan,
    pub body: &'a Region,
    /// The variables that change from trip to trip, each with the slice's copy, which is ahead.
    state: Vec<(Variable, Variable)>,
    pub out: Vec<Stmt>,
    at: Option<SourceLoc>,
}

impl<'a> Emit<'a> {
    /// An emitter for the loop with this body.
    pub fn new(
        kernel: &'a mut Kernel,
        labels: &'a mut u32,
        at: Option<SourceLoc>,
        plan: &'a Plan,
        body: &'a Region,
    ) -> Emit<'a> {
        let mut emit = Emit { kernel, labels, plan, body, state: Vec::new(), out: Vec::new(), at };
        let further = |var: &Variable| (*var, emit.declare(emit.kernel.variables[var.0 as usize]));
        emit.state = plan.state.iter().map(further).collect();
        emit
    }

    /// The statements that replace the loop.
    pub fn rotate(&mut self, stages: usize, split: Option<&Split>) -> Vec<Stmt> {
        let plan = self.plan;
        // If a trip's loaded values are not used any more when later loads start, these loads reuse the registers.
        let copies = if plan.used_up.is_some() { stages - 1 } else { stages };
        let sets = self.sets(copies, &plan.loads);
        let addresses = split.map(|split| (split, self.sets(1, &split.addresses).swap_remove(0)));
        let whole = fresh(self.labels);
        self.start();
        for set in &sets[..stages - 1] {
            let loaded = self.ahead(false);
            self.keep(set, &plan.loads, &loaded);
        }
        if let Some((split, set)) = &addresses {
            let names = self.addresses();
            self.keep(set, &split.addresses, &names);
        }
        let before = std::mem::take(&mut self.out);
        let mut last = plan.cond;
        // Copy number `trip` of the body uses the set of registers that was loaded `stages - 1` trips earlier. It loads
        // into the set of the previous copy, which is not read any more, or into its own.
        for trip in 0..copies {
            let (set, next) = (&sets[trip], &sets[(trip + stages - 1) % copies]);
            last = match &addresses {
                Some((split, addresses)) => self.split(set, next, split, addresses),
                None => self.trip(set, next),
            };
            if trip + 1 < copies {
                self.leave_unless(last, whole);
            }
        }
        self.looped(before, last, whole)
    }

    /// Wraps the emitted statements in a loop, and the loop in the block through whose end the copies of the body leave
    /// it.
    pub fn looped(&mut self, before: Vec<Stmt>, cond: Value, whole: Label) -> Vec<Stmt> {
        let trips = Stmt::DoWhile { body: Region { stmts: std::mem::take(&mut self.out) }, cond };
        let mut stmts = before;
        stmts.push(Stmt::Block { label: whole, body: Region { stmts: vec![trips] } });
        stmts
    }

    fn declare(&mut self, ty: Type) -> Variable {
        self.kernel.variables.push(ty);
        Variable(self.kernel.variables.len() as u32 - 1)
    }

    /// Declares `count` sets of variables for these values.
    pub fn sets(&mut self, count: usize, values: &[Value]) -> Vec<Vec<Variable>> {
        let types: Vec<Type> = values.iter().map(|v| self.kernel.ty(*v)).collect();
        (0..count).map(|_| types.iter().map(|ty| self.declare(*ty)).collect()).collect()
    }

    fn push(&mut self, def: ValueDef) -> Value {
        self.kernel.values.push(def);
        let v = Value(self.kernel.values.len() as u32 - 1);
        self.out.push(Stmt::Inst(v));
        v
    }

    fn value(&mut self, inst: Inst, ty: Type) -> Value {
        self.push(ValueDef { inst, ty: Some(ty), loc: self.at })
    }

    pub fn effect(&mut self, inst: Inst) {
        self.push(ValueDef { inst, ty: None, loc: self.at });
    }

    pub fn read(&mut self, var: Variable) -> Value {
        let ty = self.kernel.variables[var.0 as usize];
        self.value(Inst::Read(var), ty)
    }

    /// Writes a variable without keeping inactive lanes: all lanes that run the loop execute the write, and no other
    /// lanes use the variable.
    fn write(&mut self, var: Variable, value: Value) {
        self.effect(Inst::Write { var, value, keep: false });
    }

    /// Gives the slice's copies of the variables their values for the first trip.
    pub fn start(&mut self) {
        for (var, further) in self.state.clone() {
            let value = self.read(var);
            self.write(further, value);
        }
    }

    /// Emits the slice once: the loads of its trip, and the step to the next trip, if there is one.
    ///
    /// Scalar loads come last, with a wait before them if `drained`. They complete in any order, so a wait for the
    /// scalar loads of this trip waits for all outstanding ones, and would include those of a later trip if these had
    /// been started before it.
    pub fn ahead(&mut self, drained: bool) -> HashMap<Value, Value> {
        let (plan, mut undrained) = (self.plan, drained);
        let (mut names, now) = self.slice(|v| !plan.last.contains(&v), &mut undrained);
        let last: Vec<Value> = plan.loads.iter().copied().filter(|v| plan.last.contains(v)).collect();
        self.load(&last, &mut names, &mut undrained);
        self.advance(renamed(&names, plan.cond), &now);
        names
    }

    /// Emits the slice without its loads: the addresses, and the step to the next trip.
    fn addresses(&mut self) -> HashMap<Value, Value> {
        let plan = self.plan;
        let (names, now) = self.slice(|v| !plan.loads.contains(&v), &mut false);
        self.advance(renamed(&names, plan.cond), &now);
        names
    }

    /// Emits the part of the slice for which `part` is true. Returns the new names of its values, and the values that
    /// the variables have after it.
    fn slice(
        &mut self,
        part: impl Fn(Value) -> bool,
        undrained: &mut bool,
    ) -> (HashMap<Value, Value>, HashMap<Variable, Value>) {
        let (mut names, mut now) = (HashMap::new(), HashMap::new());
        let further: HashMap<Variable, Variable> = self.state.iter().copied().collect();
        for stmt in &self.body.stmts {
            let Stmt::Inst(v) = *stmt else { continue };
            if !self.plan.slice.contains(&v) || !part(v) {
                continue;
            }
            match self.kernel.def(v).inst {
                Inst::Read(var) => {
                    let value = match (now.get(&var), further.get(&var)) {
                        (Some(value), _) => *value,
                        (None, Some(further)) => self.read(*further),
                        (None, None) => self.copy(v, &names),
                    };
                    now.insert(var, value);
                    names.insert(v, value);
                }
                Inst::Write { var, value, .. } => {
                    now.insert(var, renamed(&names, value));
                }
                _ => self.load(&[v], &mut names, undrained),
            }
        }
        (names, now)
    }

    /// Emits instructions of the slice. If `undrained`, a wait precedes the first scalar load.
    fn load(&mut self, insts: &[Value], names: &mut HashMap<Value, Value>, undrained: &mut bool) {
        for v in insts {
            self.drain(*v, undrained);
            let copy = self.copy(*v, names);
            names.insert(*v, copy);
        }
    }

    /// Before the first scalar load, waits for outstanding scalar loads.
    fn drain(&mut self, load: Value, undrained: &mut bool) {
        if !matches!(self.kernel.def(load).inst, Inst::LoadUniform { .. }) || !std::mem::take(undrained) {
            return;
        }
        let why = Mark::Because(
            "lgkmcnt(0): scalar loads return in any order; those of this trip, before later ones start",
        );
        self.effect(Inst::Schedule(Box::new(Schedule::Mark(why))));
        self.effect(Inst::Schedule(Box::new(Schedule::WaitAll(Counter::Lgkm))));
    }

    /// Advances the slice's variables to the next trip, but not beyond the last one.
    fn advance(&mut self, again: Value, next: &HashMap<Variable, Value>) {
        for (var, further) in self.state.clone() {
            let Some(next) = next.get(&var) else { continue };
            let ty = self.kernel.variables[further.0 as usize];
            let old = self.read(further);
            let again = match ty.place {
                Place::Uniform => again,
                _ => self
                    .value(Inst::Splat(again), Type { place: Place::Varying, ..Type::uniform(Elem::Bool) }),
            };
            // Use a select, not a branch: after the last trip the copies keep their values, so the loads that run ahead
            // repeat addresses that the loop has already read.
            let value = self.value(Inst::Select(again, *next, old), ty);
            self.write(further, value);
        }
    }

    /// Writes the loaded values to the variables of `set`; `names` maps the loads to their copies.
    pub fn keep(&mut self, set: &[Variable], values: &[Value], names: &HashMap<Value, Value>) {
        for (var, value) in set.iter().zip(values) {
            self.write(*var, renamed(names, *value));
        }
    }

    /// Emits the body with the values in `set` instead of its loads, and the loads of a later trip, into `next`.
    /// Returns the loop's condition.
    fn trip(&mut self, set: &[Variable], next: &[Variable]) -> Value {
        let held = self.plan.loads.iter().copied().zip(set.iter().copied()).collect();
        let mut copying = Copying { held, ..Copying::default() };
        let (first, rest) = self.body.stmts.split_at(self.plan.used_up.map_or(0, |last| last + 1));
        self.statements(first, &mut copying);
        if self.plan.used_up.is_some() {
            // The registers of `next` are in use up to this point.
            self.fence(Classes::empty());
        }
        let loaded = self.ahead(true);
        if self.plan.used_up.is_some() {
            self.keep(next, &self.plan.loads, &loaded);
        }
        self.statements(rest, &mut copying);
        if self.plan.used_up.is_none() {
            self.keep(next, &self.plan.loads, &loaded);
        }
        renamed(&copying.names, self.plan.cond)
    }

    /// Like `trip`, for loads that start after the last use of the loaded values. Their addresses were computed among
    /// the products of the previous trip.
    fn split(&mut self, set: &[Variable], next: &[Variable], split: &Split, addresses: &[Variable]) -> Value {
        let plan = self.plan;
        let held = plan.loads.iter().copied().zip(set.iter().copied()).collect();
        let mut copying = Copying { held, ..Copying::default() };
        let stmts = &self.body.stmts;
        self.statements(&stmts[..split.used_up], &mut copying);
        self.fence(Classes::empty());
        let kept = split.addresses.iter().zip(addresses);
        let mut names = kept.map(|(v, var)| (*v, self.read(*var))).collect();
        self.load(&plan.loads, &mut names, &mut true);
        self.keep(next, &plan.loads, &names);
        self.statements(&stmts[split.used_up..split.products], &mut copying);
        if split.reads_first {
            self.gate(Classes::empty(), false);
        }
        self.statements(&stmts[split.products..split.taken], &mut copying);
        if split.reads_first {
            // If the second product of a wave is ready when the matrix pipe becomes free, the wave keeps the pipe.
            self.gate(Classes::empty(), false);
        }
        let names = self.addresses();
        self.keep(addresses, &split.addresses, &names);
        self.statements(&stmts[split.taken..], &mut copying);
        renamed(&copying.names, plan.cond)
    }

    /// Emits a fence, across which only instructions of the classes `but` may move.
    fn fence(&mut self, but: Classes) {
        self.effect(Inst::Schedule(Box::new(Schedule::Mark(Mark::Fence(but)))));
    }

    /// Emits a gate, across which only instructions of the classes `but` may move.
    pub fn gate(&mut self, but: Classes, urgent: bool) {
        self.effect(Inst::Schedule(Box::new(Schedule::Mark(Mark::Gate { but, urgent }))));
    }

    pub fn statements(&mut self, stmts: &[Stmt], copying: &mut Copying) {
        for stmt in stmts {
            let copied = match stmt {
                Stmt::Inst(v) if copying.left_out.contains(v) => continue,
                Stmt::Inst(v) => {
                    let copy = match copying.held.get(v) {
                        Some(var) => self.read(*var),
                        None => self.copy(*v, &copying.names),
                    };
                    self.exchange(copy, &copying.arrays);
                    copying.names.insert(*v, copy);
                    continue;
                }
                Stmt::If { cond, then, els } => {
                    let cond = renamed(&copying.names, *cond);
                    Stmt::If { cond, then: self.inner(then, copying), els: self.inner(els, copying) }
                }
                Stmt::While { head, cond, body } => {
                    let head = self.inner(head, copying);
                    let cond = renamed(&copying.names, *cond);
                    Stmt::While { head, cond, body: self.inner(body, copying) }
                }
                Stmt::DoWhile { body, cond } => {
                    let body = self.inner(body, copying);
                    Stmt::DoWhile { body, cond: renamed(&copying.names, *cond) }
                }
                Stmt::Loop { body } => Stmt::Loop { body: self.inner(body, copying) },
                Stmt::Block { label, body } => {
                    let copy = fresh(self.labels);
                    copying.labels.insert(*label, copy);
                    Stmt::Block { label: copy, body: self.inner(body, copying) }
                }
                Stmt::Exit(label) => Stmt::Exit(copying.labels.get(label).copied().unwrap_or(*label)),
            };
            self.out.push(copied);
        }
    }

    fn inner(&mut self, region: &Region, copying: &mut Copying) -> Region {
        let around = std::mem::take(&mut self.out);
        self.statements(&region.stmts, copying);
        Region { stmts: std::mem::replace(&mut self.out, around) }
    }

    pub fn copy(&mut self, v: Value, names: &HashMap<Value, Value>) -> Value {
        let mut def = self.kernel.def(v).clone();
        def.inst.operands_mut(|operand| *operand = renamed(names, *operand));
        self.push(def)
    }

    /// Replaces the LDS array of an access according to `arrays`.
    pub fn exchange(&mut self, v: Value, arrays: &HashMap<LdsId, LdsId>) {
        if let Some((Memory::Lds(id), _)) = self.kernel.values[v.0 as usize].inst.place_mut()
            && let Some(other) = arrays.get(id)
        {
            *id = *other;
        }
    }

    /// Leaves the loop if `again` is false.
    pub fn leave_unless(&mut self, again: Value, whole: Label) {
        let ty = self.kernel.ty(again);
        let ended = match self.kernel.def(again).inst {
            Inst::Cmp(pred, a, b) => inverse(pred, self.kernel.ty(a).elem).map(|pred| Inst::Cmp(pred, a, b)),
            _ => None,
        };
        let cond = self.value(ended.unwrap_or(Inst::Un(Un::Not, again)), ty);
        let then = Region { stmts: vec![Stmt::Exit(whole)] };
        self.out.push(Stmt::If { cond, then, els: Region::default() });
    }
}

/// The changes to make to the body while it is copied.
#[derive(Default)]
pub(super) struct Copying {
    /// The loads whose values are in variables, with the variables.
    pub held: HashMap<Value, Variable>,
    /// The instructions to omit.
    pub left_out: HashSet<Value>,
    /// The LDS arrays to replace.
    pub arrays: HashMap<LdsId, LdsId>,
    /// The new names of values.
    pub names: HashMap<Value, Value>,
    pub labels: HashMap<Label, Label>,
}

pub(super) fn renamed(names: &HashMap<Value, Value>, v: Value) -> Value {
    names.get(&v).copied().unwrap_or(v)
}

/// The comparison that is true exactly where `pred` is false. `None` for floats, which have none because of NaNs.
fn inverse(pred: Pred, elem: Elem) -> Option<Pred> {
    (!elem.is_float()).then_some(pred.negated())
}
