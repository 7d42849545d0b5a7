//! Execution of a loop on constants.

use hashbrown::HashMap;

use super::{Loop, MOST_TRIPS, REFUNDS, STEPS};
use crate::ir::build::Builder;
use crate::ir::{Bin, Inst, Kernel, Place, Region, Stmt, Un, Value, Variable, evaluate};
use crate::scalar::Elem;

/// Executes statements on constants.
pub(super) struct Trial<'k> {
    kernel: &'k Kernel,
    variables: HashMap<Variable, u64>,
    values: HashMap<Value, u64>,
    /// Values that equal another value, because a selection's condition is known.
    same: HashMap<Value, Value>,
    /// The cost of instructions that remain only if a remaining instruction uses them.
    owed: HashMap<Value, u32>,
    /// The instructions that folded selections may still compensate for.
    refunds: u32,
    /// The number of instructions that may still be emitted.
    pub left: u32,
    /// The number of statements that may still be visited.
    steps: u32,
    /// The trips of the outermost loop, once it has ended.
    pub trips: Option<u32>,
}

impl<'k> Trial<'k> {
    /// A trial that gives up when more than `left` instructions would remain.
    pub fn new(b: &'k Builder, left: u32) -> Trial<'k> {
        Trial {
            kernel: b.kernel(),
            // The trial starts with the variables before the loop; what they hold after it depends on the trips.
            variables: b.known_constants(),
            values: HashMap::new(),
            same: HashMap::new(),
            owed: HashMap::new(),
            refunds: REFUNDS,
            left,
            steps: STEPS,
            trips: None,
        }
    }

    fn value(&self, v: Value) -> Option<u64> {
        self.values.get(&v).copied().or_else(|| self.kernel.constant(v))
    }

    /// `None` once there are too many instructions.
    fn emit(&mut self, count: u32) -> Option<()> {
        self.left = self.left.checked_sub(count)?;
        Some(())
    }

    /// The value as which `v` is computed.
    fn original(&self, mut v: Value) -> Value {
        while let Some(other) = self.same.get(&v) {
            v = *other;
        }
        v
    }

    /// Counts the instruction that computes `v`, unless it has been counted.
    fn used(&mut self, v: Value) -> Option<()> {
        let mut open = vec![v];
        while let Some(v) = open.pop() {
            let v = self.original(v);
            // Charged once, when something that stays uses it: pure instructions whose every use folds cost nothing.
            if let Some(count) = self.owed.remove(&v) {
                self.emit(count)?;
                self.kernel.def(v).inst.operands(|operand| open.push(operand));
            }
        }
        Some(())
    }

    /// Executes a region. `None`: too many instructions would remain.
    pub fn region(&mut self, region: &Region) -> Option<()> {
        region.stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        match stmt {
            Stmt::Inst(v) => return self.inst(*v),
            Stmt::Exit(_) => return self.emit(1),
            Stmt::If { cond, then, els } => {
                if let Some(bits) = self.value(*cond) {
                    return self.region(if bits != 0 { then } else { els });
                }
                self.used(*cond)?;
                // Each side starts from what was known before the branch. Which of the two ran is not known, so what either wrote is
                // forgotten below.
                let before = self.variables.clone();
                self.region(then)?;
                self.variables = before;
                self.region(els)?;
                self.emit(2)?;
            }
            Stmt::DoWhile { body, cond } => {
                return self.looped(Loop { head: None, cond: *cond, body });
            }
            Stmt::While { head, cond, body } => {
                return self.looped(Loop { head: Some(head), cond: *cond, body });
            }
            // The number of trips is unknown, and on the second trip the known values of the first trip no longer hold.
            Stmt::Loop { body } => {
                self.forget(body);
                self.region(body)?;
                self.emit(1)?;
            }
            Stmt::Block { body, .. } => self.region(body)?,
        }
        // Not all lanes, or not all paths, have executed it.
        stmt.regions().into_iter().for_each(|region| self.forget(region));
        Some(())
    }

    /// Executes a loop. If its condition is not known it remains a loop, and its body runs with only those values known
    /// that the loop does not change.
    pub fn looped(&mut self, looped: Loop<'_>) -> Option<()> {
        let start = (self.variables.clone(), self.left);
        // Bounds the time of the trial too: nested loops multiply, and `steps` bounds their product.
        for trips in 1..=MOST_TRIPS {
            if let Some(head) = looped.head {
                self.region(head)?;
                match self.value(looped.cond) {
                    Some(0) => return self.ended(trips - 1),
                    Some(_) => {}
                    None => return self.stays(looped, start),
                }
            }
            self.region(looped.body)?;
            if looped.head.is_none() {
                match self.value(looped.cond) {
                    Some(0) => return self.ended(trips),
                    Some(_) => {}
                    None => return self.stays(looped, start),
                }
            }
            // Each trip keeps at least one instruction of overhead, so that an empty loop with many trips does not look free.
            self.emit(1)?;
        }
        None
    }

    fn ended(&mut self, trips: u32) -> Option<()> {
        self.trips = Some(trips);
        Some(())
    }

    fn stays(&mut self, looped: Loop<'_>, (variables, left): (HashMap<Variable, u64>, u32)) -> Option<()> {
        // Undo the trial execution: the loop remains in the program once, whatever was counted for its trips.
        (self.variables, self.left) = (variables, left);
        let regions = || looped.head.into_iter().chain([looped.body]);
        // Forget before and after: the body may rely only on values that no trip changes, and after the loop nothing is
        // known about the variables that it writes.
        regions().for_each(|region| self.forget(region));
        regions().try_for_each(|region| self.region(region))?;
        regions().for_each(|region| self.forget(region));
        self.trips = None;
        self.emit(2)
    }

    /// Forgets the variables that `region` writes.
    fn forget(&mut self, region: &Region) {
        region.each_inst(&mut |v| {
            if let Inst::Write { var, .. } = self.kernel.def(v).inst {
                self.variables.remove(&var);
            }
        });
    }

    fn inst(&mut self, v: Value) -> Option<()> {
        let result = match self.kernel.def(v).inst {
            Inst::Const(_) => return Some(()),
            Inst::Write { var, value, .. } => {
                match self.value(value) {
                    Some(bits) => self.variables.insert(var, bits),
                    None => {
                        self.used(value)?;
                        self.variables.remove(&var)
                    }
                };
                return Some(());
            }
            Inst::Read(var) => self.variables.get(&var).copied(),
            Inst::Select(c, x, y) => match self.value(c) {
                Some(bits) => {
                    let chosen = self.original(if bits != 0 { x } else { y });
                    let known = self.value(chosen);
                    self.is(v, known);
                    self.owed.remove(&v);
                    self.same.insert(v, chosen);
                    // A select by a known condition disappears. An array in registers that the counter indexes is a
                    // chain of selects, so these compensate for the cost of unrolling; the bound keeps huge chains from
                    // compensating for everything else.
                    let refund = length(self.kernel, v).min(self.refunds);
                    self.refunds -= refund;
                    self.left = self.left.saturating_add(refund);
                    return Some(());
                }
                None => None,
            },
            ref inst => self.evaluate(inst),
        };
        // The same instruction is executed once for each trip; results of the trip before must not survive.
        self.same.remove(&v);
        self.is(v, result);
        if result.is_some() {
            self.owed.remove(&v);
            return Some(());
        }
        let (inst, count) = (&self.kernel.def(v).inst, length(self.kernel, v));
        if inst.is_pure() || matches!(inst, Inst::Read(_)) {
            self.owed.insert(v, count);
            return Some(());
        }
        let mut operands = Vec::new();
        inst.operands(|operand| operands.push(operand));
        operands.into_iter().try_for_each(|operand| self.used(operand))?;
        self.emit(count)
    }

    fn is(&mut self, v: Value, known: Option<u64>) {
        match known {
            Some(bits) => self.values.insert(v, bits),
            None => self.values.remove(&v),
        };
    }

    fn evaluate(&self, inst: &Inst) -> Option<u64> {
        let elem = |v: Value| {
            let ty = self.kernel.ty(v);
            (ty.count == 1).then_some(ty.elem)
        };
        let word = |v: Value| elem(v).filter(|elem| matches!(elem, Elem::I32 | Elem::U32));
        match *inst {
            Inst::Splat(x) => self.value(x),
            Inst::Bitcast(x) | Inst::Cast(x) => word(x).and_then(|_| self.value(x)),
            Inst::Bin(op @ (Bin::And | Bin::Or), x, y) if elem(x) == Some(Elem::Bool) => {
                let decides = u64::from(op == Bin::Or);
                match (self.value(x), self.value(y)) {
                    // One known side decides an `or` that is true and an `and` that is false.
                    (Some(bits), _) | (_, Some(bits)) if bits == decides => Some(bits),
                    (Some(_), y) => y,
                    (x, _) => x,
                }
            }
            // Only 32-bit words: counters and indices have no other type, and the builder folds the other types.
            Inst::Bin(op, x, y) => {
                evaluate::eval(op, self.value(x)? as u32, self.value(y)? as u32, word(x)?).map(u64::from)
            }
            // Counters are uniform. A varying comparison is a mask, in which `true` would have to mean all active
            // lanes.
            Inst::Cmp(pred, x, y) if self.kernel.ty(x).place == Place::Uniform => {
                let holds = evaluate::holds(pred, word(x)?, self.value(x)? as u32, self.value(y)? as u32);
                Some(u64::from(holds))
            }
            Inst::Un(Un::Not, x) if elem(x) == Some(Elem::Bool) => Some(u64::from(self.value(x)? == 0)),
            _ => None,
        }
    }
}

/// The approximate number of machine instructions for `v`.
fn length(kernel: &Kernel, v: Value) -> u32 {
    let ty = kernel.ty(v);
    match &kernel.def(v).inst {
        Inst::Read(_) | Inst::Splat(_) | Inst::Bitcast(_) | Inst::Extract { .. } | Inst::Concat(_) => 0,
        Inst::Bin(Bin::Div | Bin::Rem, ..) => 25 * u32::from(ty.dwords()),
        Inst::Bin(Bin::MulHi, ..) if ty.dwords() == 2 => 6,
        // This includes matrix instructions, beside which a counter costs nothing.
        Inst::Machine(_) => u32::from(ty.dwords()),
        Inst::Bin(..) | Inst::Fma(..) | Inst::Select(..) | Inst::Un(..) | Inst::Cast(_) => {
            u32::from(ty.dwords())
        }
        _ => 1,
    }
}
