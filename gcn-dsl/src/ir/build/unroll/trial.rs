//! Trial execution of a loop on constants, for the cost model of unrolling.

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
    /// Selects whose condition is known, each with the value that it equals.
    same: HashMap<Value, Value>,
    /// The cost of instructions that remain only if an instruction that remains uses them.
    owed: HashMap<Value, u32>,
    /// The number of instructions for which folded selects may still compensate.
    refunds: u32,
    /// The number of further instructions that may remain.
    pub left: u32,
    /// The number of further statements that may be visited.
    steps: u32,
    /// The trip count of the outermost loop; `None` until that loop has ended.
    pub trips: Option<u32>,
}

impl<'k> Trial<'k> {
    /// A trial that gives up if more than `left` instructions would remain.
    pub fn new(b: &'k Builder, left: u32) -> Trial<'k> {
        Trial {
            kernel: b.kernel(),
            // The trial starts with the variables' values before the loop; their values after the loop depend on the
            // trip count.
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

    /// Counts instructions that remain; `None` if there are too many.
    fn emit(&mut self, count: u32) -> Option<()> {
        self.left = self.left.checked_sub(count)?;
        Some(())
    }

    /// The value that `v` equals: that of the known select operand, or `v` itself.
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
            // Count the instruction once, when an instruction that remains uses it: a pure instruction whose every use
            // folds costs nothing.
            if let Some(count) = self.owed.remove(&v) {
                self.emit(count)?;
                self.kernel.def(v).inst.operands(|operand| open.push(operand));
            }
        }
        Some(())
    }

    /// Executes a region. `None` if too many instructions would remain.
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
                // Each side starts with the variables' values before the branch. Since it is unknown which side runs,
                // the variables that either side writes are forgotten below.
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
            // The trip count is unknown, and values that are known in the first iteration may differ in the second.
            Stmt::Loop { body } => {
                self.forget(body);
                self.region(body)?;
                self.emit(1)?;
            }
            Stmt::Block { body, .. } => self.region(body)?,
        }
        // Some lanes, or some paths, have not executed the statement.
        stmt.regions().into_iter().for_each(|region| self.forget(region));
        Some(())
    }

    /// Executes a loop. If its condition is not known, the loop remains, and its body is executed once, with only those
    /// variables known that the loop does not write.
    pub fn looped(&mut self, looped: Loop<'_>) -> Option<()> {
        let start = (self.variables.clone(), self.left);
        // `MOST_TRIPS` limits the iterations, and thereby the time of the trial. In nested loops the iterations multiply; there, `steps`
        // limits the time.
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
            // Each iteration costs at least one instruction, so that an empty loop with many iterations does not look
            // free.
            self.emit(1)?;
        }
        None
    }

    fn ended(&mut self, trips: u32) -> Option<()> {
        self.trips = Some(trips);
        Some(())
    }

    fn stays(&mut self, looped: Loop<'_>, (variables, left): (HashMap<Variable, u64>, u32)) -> Option<()> {
        // Undo the trial: the loop remains and is counted once, not once per iteration.
        (self.variables, self.left) = (variables, left);
        let regions = || looped.head.into_iter().chain([looped.body]);
        // Forget the variables that the loop writes, before and after the body: the body may rely only on variables
        // that no iteration changes, and after the loop the values of the others are unknown.
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
                    // A select with a known condition disappears. If the index of an access to an array in registers
                    // depends on the loop's counter, the access is a chain of selects, whose folding compensates for
                    // the cost of unrolling. The bound keeps huge chains from compensating for everything else.
                    let refund = length(self.kernel, v).min(self.refunds);
                    self.refunds -= refund;
                    self.left = self.left.saturating_add(refund);
                    return Some(());
                }
                None => None,
            },
            ref inst => self.evaluate(inst),
        };
        // The instruction is executed once in each iteration; the result of the previous iteration must not survive.
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
                    // One known operand decides an `or` (if it is true) or an `and` (if it is false).
                    (Some(bits), _) | (_, Some(bits)) if bits == decides => Some(bits),
                    (Some(_), y) => y,
                    (x, _) => x,
                }
            }
            // Evaluate 32-bit words only: counters and indices have no other type.
            Inst::Bin(op, x, y) => {
                evaluate::eval(op, self.value(x)? as u32, self.value(y)? as u32, word(x)?).map(u64::from)
            }
            // Evaluate uniform comparisons only, as those of counters are. A varying comparison gives a mask, in which
            // `true` would have to mean all active lanes.
            Inst::Cmp(pred, x, y) if self.kernel.ty(x).place == Place::Uniform => {
                evaluate::holds(pred, word(x)?, self.value(x)?, self.value(y)?).map(u64::from)
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
        // Matrix instructions are among these; compared to one, the cost of a counter is negligible.
        Inst::Machine(_) => u32::from(ty.dwords()),
        Inst::Bin(..) | Inst::Fma(..) | Inst::Select(..) | Inst::Un(..) | Inst::Cast(_) => {
            u32::from(ty.dwords())
        }
        _ => 1,
    }
}
