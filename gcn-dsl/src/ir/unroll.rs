//! Unrolling: a loop whose trips are known when the kernel is built becomes straight code.
//!
//! [`Trial`] executes the loop on what is known, with nothing but its variables as state, and counts the instructions that would
//! remain. If they are few, the body is appended again for each trip, so that its addresses and conditions fold and its loads
//! merge with those of other trips. A loop of more trips, whose body is straight and short, makes several trips at a time. That is
//! right without a test in between, because their number divides the number of trips.
//!
//! LLVM does the same, by the same kind of limits (`LoopUnrollPass`, and `AMDGPUTTIImpl::getUnrollingPreferences`).

use hashbrown::HashMap;

use super::build::Builder;
use super::mark::Mark;
use super::{
    Bin, Inst, Kernel, Label, Place, Region, Schedule, Stmt, Un, Value, Variable, fold, if_conversion,
};
use crate::scalar::Elem;

/// The most instructions that an unrolled loop may have. Code that runs once has to be fetched first, which costs more than the
/// counter of a long loop.
const LONGEST: u32 = 320;
/// The same for a loop with control flow inside, which may become known with the trip.
const LONGEST_NEST: u32 = 1024;
/// The most instructions of several trips of a loop that stays one.
const LONGEST_PART: u32 = 160;
/// How many trips a loop that stays one may make at a time.
const AT_A_TIME: [u32; 3] = [8, 4, 2];
/// The most trips that are counted.
const MOST_TRIPS: u32 = 1024;

/// A loop on a uniform condition.
#[derive(Clone, Copy)]
pub(super) struct Loop<'r> {
    /// Computes the condition before each trip. `None`: it is computed by the body, for the next trip.
    pub head: Option<&'r Region>,
    pub cond: Value,
    pub body: &'r Region,
}

/// Appends the trips of a loop, if they are known and short enough. True if it did.
pub(super) fn run(b: &mut Builder, looped: Loop<'_>) -> bool {
    if !may_repeat(b, looped) {
        return false;
    }
    let nested = looped.body.stmts.iter().any(|stmt| !matches!(stmt, Stmt::Inst(_)));
    let mut trial = Trial::new(b, if nested { LONGEST_NEST } else { LONGEST });
    if let (Some(()), Some(_)) = (trial.looped(looped), trial.trips) {
        Replay::default().looped(b, looped);
        return true;
    }
    several(b, looped)
}

/// Makes several trips at a time.
fn several(b: &mut Builder, looped: Loop<'_>) -> bool {
    let straight = |stmt: &Stmt| match stmt {
        Stmt::Inst(v) => !matches!(b.kernel().def(*v).inst, Inst::Barrier),
        _ => false,
    };
    if looped.head.is_some() || !looped.body.stmts.iter().all(straight) {
        return false;
    }
    let mut once = Trial::new(b, LONGEST_PART);
    if once.region(looped.body).is_none() {
        return false;
    }
    let length = (LONGEST_PART - once.left).max(1);
    let mut all = Trial::new(b, MOST_TRIPS * LONGEST_PART);
    let (Some(()), Some(trips)) = (all.looped(looped), all.trips) else { return false };
    let fits = |n: &u32| trips.is_multiple_of(*n) && trips > *n && n * length <= LONGEST_PART;
    let Some(count) = AT_A_TIME.into_iter().find(fits) else { return false };
    b.open(false);
    let mut replay = Replay::default();
    (0..count).for_each(|_| replay.region(b, looped.body));
    let cond = replay.new(looped.cond);
    let body = b.close(false);
    b.stmt(Stmt::DoWhile { body, cond });
    true
}

/// False for a loop with something that exists once, or whose form the user asks for.
fn may_repeat(b: &Builder, looped: Loop<'_>) -> bool {
    let kernel = b.kernel();
    let once = |v: Value| match &kernel.def(v).inst {
        Inst::Schedule(what) => **what != Schedule::Mark(Mark::Cold),
        Inst::Write { var, .. } => b.is_pinned(*var) || kernel.pipelines.iter().any(|p| p.counter == *var),
        // The resource of a slice, about which the kernel has notes.
        Inst::Concat(_) => {
            kernel.read_only.contains(&v)
                || kernel.whole_dwords.contains(&v)
                || kernel.overlapping.contains(&v)
        }
        _ => false,
    };
    let mut repeats = !b.is_dead() && kernel.ty(looped.cond).place == Place::Uniform;
    for region in looped.head.into_iter().chain([looped.body]) {
        region.each_inst(&mut |v| repeats &= !once(v));
    }
    repeats
}

/// Executes statements on constants.
struct Trial<'k> {
    kernel: &'k Kernel,
    variables: HashMap<Variable, u64>,
    values: HashMap<Value, u64>,
    /// How many instructions may still be emitted.
    left: u32,
    /// The trips of the outermost loop, once it has ended.
    trips: Option<u32>,
}

impl<'k> Trial<'k> {
    fn new(b: &'k Builder, left: u32) -> Trial<'k> {
        Trial {
            kernel: b.kernel(),
            variables: b.known_constants(),
            values: HashMap::new(),
            left,
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

    fn region(&mut self, region: &Region) -> Option<()> {
        region.stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Inst(v) => return self.inst(*v),
            Stmt::Exit(_) => return self.emit(1),
            Stmt::If { cond, then, els } => {
                if let Some(bits) = self.value(*cond) {
                    return self.region(if bits != 0 { then } else { els });
                }
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
            Stmt::Loop { body } => {
                self.forget(body);
                self.region(body)?;
                self.emit(1)?;
            }
            Stmt::Block { body, .. } => self.region(body)?,
        }
        // Not all lanes, or not all ways, have executed it.
        stmt.regions().into_iter().for_each(|region| self.forget(region));
        Some(())
    }

    /// Executes a loop. If its condition is not known it stays one, with a body that runs on what does not change in it.
    fn looped(&mut self, looped: Loop<'_>) -> Option<()> {
        let start = (self.variables.clone(), self.left);
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
            self.emit(1)?;
        }
        None
    }

    fn ended(&mut self, trips: u32) -> Option<()> {
        self.trips = Some(trips);
        Some(())
    }

    fn stays(&mut self, looped: Loop<'_>, (variables, left): (HashMap<Variable, u64>, u32)) -> Option<()> {
        (self.variables, self.left) = (variables, left);
        let regions = || looped.head.into_iter().chain([looped.body]);
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
                    None => self.variables.remove(&var),
                };
                return Some(());
            }
            Inst::Read(var) => self.variables.get(&var).copied(),
            ref inst => self.evaluate(inst),
        };
        match result {
            Some(bits) => {
                self.values.insert(v, bits);
                Some(())
            }
            None => {
                self.values.remove(&v);
                self.emit(length(self.kernel, v))
            }
        }
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
                    (Some(bits), _) | (_, Some(bits)) if bits == decides => Some(bits),
                    (Some(_), y) => y,
                    (x, _) => x,
                }
            }
            Inst::Bin(op, x, y) => {
                fold::eval(op, self.value(x)? as u32, self.value(y)? as u32, word(x)?).map(u64::from)
            }
            Inst::Cmp(pred, x, y) if self.kernel.ty(x).place == Place::Uniform => {
                let holds = fold::holds(pred, word(x)?, self.value(x)? as u32, self.value(y)? as u32);
                Some(u64::from(holds))
            }
            Inst::Un(Un::Not, x) if elem(x) == Some(Elem::Bool) => Some(u64::from(self.value(x)? == 0)),
            _ => None,
        }
    }
}

/// About how many machine instructions it takes.
fn length(kernel: &Kernel, v: Value) -> u32 {
    let ty = kernel.ty(v);
    match &kernel.def(v).inst {
        Inst::Read(_) | Inst::Splat(_) | Inst::Bitcast(_) | Inst::Extract { .. } | Inst::Concat(_) => 0,
        Inst::Bin(Bin::Div | Bin::Rem, ..) => 25 * u32::from(ty.dwords()),
        // Matrix instructions among them, beside which a counter costs nothing.
        Inst::Machine(_) => u32::from(ty.dwords()),
        Inst::Bin(..) | Inst::Fma(..) | Inst::Select(..) | Inst::Un(..) | Inst::Cast(_) => {
            u32::from(ty.dwords())
        }
        _ => 1,
    }
}

/// Appends statements again.
#[derive(Default)]
struct Replay {
    names: HashMap<Value, Value>,
    labels: HashMap<Label, Label>,
}

impl Replay {
    fn new(&self, v: Value) -> Value {
        self.names.get(&v).copied().unwrap_or(v)
    }

    /// The trips of a loop, as far as they are known, and then the loop if it goes on.
    fn looped(&mut self, b: &mut Builder, looped: Loop<'_>) {
        for _ in 0..MOST_TRIPS {
            if let Some(head) = looped.head {
                self.region(b, head);
                match b.as_const(self.new(looped.cond)) {
                    Some(0) => return,
                    Some(_) => {}
                    None => break,
                }
            }
            self.region(b, looped.body);
            if b.is_dead() {
                return;
            }
            if looped.head.is_none() {
                match b.as_const(self.new(looped.cond)) {
                    Some(0) => return,
                    Some(_) => {}
                    None => break,
                }
            }
        }
        match looped.head {
            Some(head) => {
                let head = self.nested(b, head, true);
                let cond = self.new(looped.cond);
                let body = self.nested(b, looped.body, false);
                b.stmt(Stmt::While { head, cond, body });
            }
            None => {
                let again = self.new(looped.cond);
                b.open(false);
                let body = self.nested(b, looped.body, false);
                b.stmt(Stmt::DoWhile { body, cond: self.new(looped.cond) });
                let then = b.close(false);
                b.stmt(Stmt::If { cond: again, then, els: Region::default() });
            }
        }
    }

    fn region(&mut self, b: &mut Builder, region: &Region) {
        region.stmts.iter().for_each(|stmt| self.stmt(b, stmt));
    }

    /// The statements in a region of their own.
    fn nested(&mut self, b: &mut Builder, region: &Region, varying: bool) -> Region {
        b.open(varying);
        self.region(b, region);
        b.close(varying)
    }

    /// The statements in a region that runs at most once for each time that the current one does.
    fn branch(&mut self, b: &mut Builder, region: &Region, varying: bool) -> Region {
        b.open_branch(varying);
        self.region(b, region);
        b.close(varying)
    }

    fn stmt(&mut self, b: &mut Builder, stmt: &Stmt) {
        let varies = |b: &Builder, cond: Value| b.kernel().ty(cond).place == Place::Varying;
        match stmt {
            Stmt::Inst(v) => self.inst(b, *v),
            Stmt::If { cond, then, els } => {
                let cond = self.new(*cond);
                if let Some(bits) = b.as_const(cond) {
                    return self.region(b, if bits != 0 { then } else { els });
                }
                let varying = varies(b, cond);
                let then = self.branch(b, then, varying);
                let els = self.branch(b, els, varying);
                b.branch(cond, varying, then, els);
            }
            Stmt::DoWhile { body, cond } => {
                let body = self.nested(b, body, false);
                b.looped(None, self.new(*cond), body);
            }
            Stmt::While { head, cond, body } => {
                let varying = varies(b, *cond);
                let head = self.nested(b, head, true);
                let cond = self.new(*cond);
                let body = self.nested(b, body, varying);
                b.looped(Some(head), cond, body);
            }
            Stmt::Loop { body } => {
                let body = self.nested(b, body, true);
                b.stmt(Stmt::Loop { body });
            }
            Stmt::Block { label, body } => {
                let copy = b.open_block();
                self.labels.insert(*label, copy);
                self.region(b, body);
                b.close_block(copy);
            }
            Stmt::Exit(label) => b.exit(self.labels.get(label).copied().unwrap_or(*label)),
        }
    }

    fn inst(&mut self, b: &mut Builder, v: Value) {
        let def = b.kernel().def(v).clone();
        match def.inst {
            Inst::Write { var, value, .. } => b.write(var, self.new(value), def.loc),
            mut inst if def.ty.is_none() => {
                inst.operands_mut(|operand| *operand = self.new(*operand));
                b.effect(inst, def.loc);
            }
            _ => if_conversion::append(b, v, &mut self.names),
        }
    }
}
