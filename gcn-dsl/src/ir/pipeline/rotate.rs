//! Emits the pipelined loop.

use gcn_isa::counters::Counter;
use gcn_isa::program::SourceLoc;
use hashbrown::HashMap;

use super::super::{
    Inst, Kernel, Label, Place, Pred, Region, Schedule, Stmt, Type, Un, Value, ValueDef, Variable,
};
use super::Request;
use super::plan::Plan;
use crate::ir::mark::{Classes, Mark};
use crate::scalar::Elem;

/// The statements that replace the loop with this body.
pub(super) fn rotate(
    kernel: &mut Kernel,
    labels: &mut u32,
    request: Request,
    plan: &Plan,
    body: &Region,
) -> Vec<Stmt> {
    let stages = usize::from(request.stages);
    let declare = |kernel: &mut Kernel, ty: Type| {
        kernel.variables.push(ty);
        Variable(kernel.variables.len() as u32 - 1)
    };
    let state = plan.state.iter().map(|var| {
        let ty = kernel.variables[var.0 as usize];
        (*var, declare(kernel, ty))
    });
    let state: Vec<(Variable, Variable)> = state.collect();
    // Where a trip's values are used up before later loads start, these take their place.
    let copies = if plan.used_up.is_some() { stages - 1 } else { stages };
    let mut sets = Vec::with_capacity(copies);
    for _ in 0..copies {
        let types: Vec<Type> = plan.loads.iter().map(|v| kernel.ty(*v)).collect();
        sets.push(types.into_iter().map(|ty| declare(kernel, ty)).collect::<Vec<_>>());
    }
    let whole = fresh(labels);
    let mut emit = Emit { kernel, labels, plan, body, state, out: Vec::new(), at: request.at };
    emit.start();
    for set in &sets[..stages - 1] {
        let loaded = emit.ahead(false);
        emit.keep(set, &loaded);
    }
    let before = std::mem::take(&mut emit.out);
    let mut last = plan.cond;
    // Copy `trip` uses the set that was loaded `stages - 1` trips earlier. The loads that it issues go into
    // the set of the previous copy, which nothing reads any more, or into its own.
    for trip in 0..copies {
        last = emit.trip(&sets[trip], &sets[(trip + stages - 1) % copies]);
        if trip + 1 < copies {
            emit.leave_unless(last, whole);
        }
    }
    let trips = Stmt::DoWhile { body: Region { stmts: emit.out }, cond: last };
    let mut stmts = before;
    stmts.push(Stmt::Block { label: whole, body: Region { stmts: vec![trips] } });
    stmts
}

fn fresh(labels: &mut u32) -> Label {
    *labels += 1;
    Label(*labels - 1)
}

struct Emit<'a> {
    kernel: &'a mut Kernel,
    labels: &'a mut u32,
    plan: &'a Plan,
    body: &'a Region,
    /// Variables of the loop, each with its copy that is ahead.
    state: Vec<(Variable, Variable)>,
    out: Vec<Stmt>,
    at: Option<SourceLoc>,
}

impl Emit<'_> {
    fn push(&mut self, def: ValueDef) -> Value {
        self.kernel.values.push(def);
        let v = Value(self.kernel.values.len() as u32 - 1);
        self.out.push(Stmt::Inst(v));
        v
    }

    fn value(&mut self, inst: Inst, ty: Type) -> Value {
        self.push(ValueDef { inst, ty: Some(ty), loc: self.at })
    }

    fn effect(&mut self, inst: Inst) {
        self.push(ValueDef { inst, ty: None, loc: self.at });
    }

    fn read(&mut self, var: Variable) -> Value {
        let ty = self.kernel.variables[var.0 as usize];
        self.value(Inst::Read(var), ty)
    }

    /// Writes without keeping inactive lanes: all lanes that run the loop run the write, and no others see
    /// the variable.
    fn write(&mut self, var: Variable, value: Value) {
        self.effect(Inst::Write { var, value, keep: false });
    }

    /// The slice starts at the first trip.
    fn start(&mut self) {
        for (var, further) in self.state.clone() {
            let value = self.read(var);
            self.write(further, value);
        }
    }

    /// Emits the slice once: the loads of its trip, and the step to the next trip, if there is one.
    ///
    /// Scalar loads come last, with a wait (`drained`) before them. They return in any order, so waiting for
    /// those of this trip means waiting for all that are outstanding: if later ones were started earlier, the
    /// wait would include them.
    fn ahead(&mut self, drained: bool) -> Vec<Value> {
        let mut undrained = drained;
        let (mut names, mut now) = (HashMap::new(), HashMap::new());
        let further: HashMap<Variable, Variable> = self.state.iter().copied().collect();
        for stmt in &self.body.stmts {
            let Stmt::Inst(v) = *stmt else { continue };
            if !self.plan.slice.contains(&v) || self.plan.last.contains(&v) {
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
                _ => {
                    self.drain(v, &mut undrained);
                    let copy = self.copy(v, &names);
                    names.insert(v, copy);
                }
            }
        }
        for v in self.plan.loads.iter().filter(|v| self.plan.last.contains(*v)) {
            self.drain(*v, &mut undrained);
            let copy = self.copy(*v, &names);
            names.insert(*v, copy);
        }
        self.advance(renamed(&names, self.plan.cond), &now);
        self.plan.loads.iter().map(|v| renamed(&names, *v)).collect()
    }

    /// Before the first scalar load, waits for those that are outstanding.
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

    /// Steps to the next trip, but not beyond the last one.
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
            // A select instead of a branch: after the last trip the copies keep their values, so the loads
            // that run ahead repeat addresses that the loop has read.
            let value = self.value(Inst::Select(again, *next, old), ty);
            self.write(further, value);
        }
    }

    fn keep(&mut self, set: &[Variable], loaded: &[Value]) {
        for (var, value) in set.iter().zip(loaded) {
            self.write(*var, *value);
        }
    }

    /// Emits the body with the values in `set` instead of its loads, and the loads of a later trip into `next`; returns the body's
    /// condition.
    fn trip(&mut self, set: &[Variable], next: &[Variable]) -> Value {
        let held = self.plan.loads.iter().copied().zip(set.iter().copied()).collect();
        let mut copying = Copying { held, names: HashMap::new(), labels: HashMap::new() };
        let (first, rest) = self.body.stmts.split_at(self.plan.used_up.map_or(0, |last| last + 1));
        self.statements(first, &mut copying);
        if self.plan.used_up.is_some() {
            // Before this place the registers of `next` are in use.
            let fence = Mark::Fence(Classes::empty());
            self.effect(Inst::Schedule(Box::new(Schedule::Mark(fence))));
        }
        let loaded = self.ahead(true);
        if self.plan.used_up.is_some() {
            self.keep(next, &loaded);
        }
        self.statements(rest, &mut copying);
        if self.plan.used_up.is_none() {
            self.keep(next, &loaded);
        }
        renamed(&copying.names, self.plan.cond)
    }

    fn statements(&mut self, stmts: &[Stmt], copying: &mut Copying) {
        for stmt in stmts {
            let copied = match stmt {
                Stmt::Inst(v) => {
                    let copy = match copying.held.get(v) {
                        Some(var) => self.read(*var),
                        None => self.copy(*v, &copying.names),
                    };
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

    fn copy(&mut self, v: Value, names: &HashMap<Value, Value>) -> Value {
        let mut def = self.kernel.def(v).clone();
        def.inst.operands_mut(|operand| *operand = renamed(names, *operand));
        self.push(def)
    }

    /// Leaves the loop if no trip follows.
    fn leave_unless(&mut self, again: Value, whole: Label) {
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

/// The names in a copy of the body.
struct Copying {
    /// Loads whose values are in variables.
    held: HashMap<Value, Variable>,
    names: HashMap<Value, Value>,
    labels: HashMap<Label, Label>,
}

fn renamed(names: &HashMap<Value, Value>, v: Value) -> Value {
    names.get(&v).copied().unwrap_or(v)
}

/// The comparison that is true exactly where `pred` is false. Floats have none, because of NaN.
fn inverse(pred: Pred, elem: Elem) -> Option<Pred> {
    (!elem.is_float()).then_some(match pred {
        Pred::Lt => Pred::Ge,
        Pred::Le => Pred::Gt,
        Pred::Gt => Pred::Le,
        Pred::Ge => Pred::Lt,
        Pred::Eq => Pred::Ne,
        Pred::Ne => Pred::Eq,
    })
}
