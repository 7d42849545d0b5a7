//! Checks that the barriers of `#[ping_pong]` loops pair, and sets the priorities of the two groups.
//!
//! In the loop, a wave of the second group is one barrier ahead of the waves of the first, and at the end all
//! must have passed the same number of barriers. So all waves of the workgroup must reach the loop, make the
//! same trips and come to the same phases on each trip, and the loop must contain no barriers but its own.
//! Which values are the same in all waves is found by a fixpoint over values and variables: arguments,
//! workgroup ids and constants are; values computed from work-item ids, or read from memory that can be
//! written, are not.
//!
//! Matrix instructions on f64 occupy the vector ALU. In their phases the multiplying group has the lower
//! priority: otherwise the few address computations of the other group would wait for the end of the phase.

use std::fmt;

use gcn_isa::Target;
use gcn_isa::program::SourceLoc;
use gcn_isa::table::{self, Class};
use hashbrown::HashMap;
use smallvec::SmallVec;

use super::mark::Mark;
use super::{Inst, Kernel, Label, Region, Schedule, Stmt, Value};

/// A `#[ping_pong]` loop that waves could leave at different barriers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnpairedBarriers {
    /// The attribute's position.
    pub at: Option<SourceLoc>,
    /// Why.
    pub reason: UnpairedReason,
}

/// The reason why barriers would not pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum UnpairedReason {
    /// A branch on a value that differs between waves decides whether a wave reaches the loop, or how many
    /// trips it makes.
    Wave(Option<SourceLoc>),
    /// A barrier in the loop.
    Barrier(Option<SourceLoc>),
}

impl std::error::Error for UnpairedBarriers {}

impl fmt::Display for UnpairedBarriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            UnpairedReason::Wave(at) => write!(
                f,
                "{}all waves of the workgroup must get to a `#[ping_pong]` loop and make the same trips, but the condition{} may \
                 differ between waves: compute it from arguments, `workgroup_id()` and constants, not from `wave_id()`, work-item \
                 ids or memory that the kernel writes",
                SourceLoc::lead(self.at),
                at.map(|at| format!(" at {at}")).unwrap_or_default()
            ),
            UnpairedReason::Barrier(at) => write!(
                f,
                "{}a barrier inside a `#[ping_pong]` loop would pair with the loop's own: each `#[matrix]` block is a barrier \
                 already between what comes before and after it; take this one away, or the attribute{}",
                SourceLoc::lead(at),
                self.at.map(|at| format!(" at {at}")).unwrap_or_default()
            ),
        }
    }
}

/// Checks every `#[ping_pong]` loop of `kernel`, and sets the priorities of its phases.
///
/// # Errors
/// The first loop whose barriers would not pair.
pub fn run(kernel: &mut Kernel, target: Target) -> Result<(), UnpairedBarriers> {
    check(kernel, target)?;
    let mut phase = Phase::default();
    let mut exchanged = Vec::new();
    kernel.body.each_inst(&mut |v| exchanged.extend(phase.inst(kernel, target, v)));
    for v in exchanged {
        if let Inst::Schedule(what) = &mut kernel.values[v.0 as usize].inst
            && let Schedule::Priority(level) = &mut **what
        {
            *level = 1 - *level;
        }
    }
    Ok(())
}

/// The phase around an instruction.
#[derive(Default)]
struct Phase {
    /// The instruction that raised the priority.
    raised: Option<Value>,
    takes_valu: bool,
    /// In a `#[ping_pong]` loop.
    inside: bool,
}

impl Phase {
    /// Visits the next instruction. At the end of a phase, returns the priority instructions that must be
    /// swapped.
    fn inst(&mut self, kernel: &Kernel, target: Target, v: Value) -> SmallVec<[Value; 2]> {
        match &kernel.def(v).inst {
            Inst::Machine(call) => {
                let mut rows = table::find_mnemonic(target, call.mnemonic);
                self.takes_valu |= rows.any(|row| row.class == Class::MfmaDgemm);
            }
            Inst::Schedule(what) => match (&**what, self.raised) {
                (Schedule::Mark(Mark::PingPong), _) => *self = Phase { inside: true, ..Phase::default() },
                (Schedule::Mark(Mark::PingPongEnd), _) => *self = Phase::default(),
                (Schedule::Priority(1), _) if self.inside => {
                    *self = Phase { raised: Some(v), takes_valu: false, inside: true };
                }
                (Schedule::Priority(0), Some(raised)) => {
                    let phase = std::mem::replace(self, Phase { inside: true, ..Phase::default() });
                    return if phase.takes_valu { SmallVec::from([raised, v]) } else { SmallVec::new() };
                }
                _ => {}
            },
            _ => {}
        }
        SmallVec::new()
    }
}

fn check(kernel: &Kernel, target: Target) -> Result<(), UnpairedBarriers> {
    let mut marks = Vec::new();
    kernel.body.each_inst(&mut |v| {
        if marked(kernel, v).is_some() || is_barrier(target, &kernel.def(v).inst) {
            marks.push(v);
        }
    });
    if !marks.iter().any(|v| marked(kernel, *v) == Some(&Mark::PingPong)) {
        return Ok(());
    }
    let differs = Differs::of(kernel);
    // The position of the enclosing loop, and whether the next barrier belongs to the construct.
    let (mut around, mut own) = (None, false);
    for v in marks {
        let def = kernel.def(v);
        let is_own = std::mem::take(&mut own);
        match marked(kernel, v) {
            Some(Mark::PingPong) => around = Some(def.loc),
            Some(Mark::PingPongEnd) => around = None,
            Some(Mark::Stagger | Mark::Phase) => own = true,
            _ => {}
        }
        let Some(at) = around else { continue };
        if is_barrier(target, &def.inst) && !is_own {
            return Err(UnpairedBarriers { at, reason: UnpairedReason::Barrier(def.loc) });
        }
        // Only one group reaches the barriers before and after the loop, by design; they do not delimit
        // phases.
        let shared = matches!(marked(kernel, v), Some(Mark::PingPong | Mark::Phase));
        if let Some(condition) = differs.under.get(&v).filter(|_| shared) {
            return Err(UnpairedBarriers { at, reason: UnpairedReason::Wave(kernel.def(*condition).loc) });
        }
    }
    Ok(())
}

fn marked(kernel: &Kernel, v: Value) -> Option<&Mark> {
    match &kernel.def(v).inst {
        Inst::Schedule(what) => match &**what {
            Schedule::Mark(mark) => Some(mark),
            _ => None,
        },
        _ => None,
    }
}

fn is_barrier(target: Target, inst: &Inst) -> bool {
    match inst {
        Inst::Barrier => true,
        Inst::Machine(call) => {
            table::find_mnemonic(target, call.mnemonic).any(|row| row.class == Class::Barrier)
        }
        _ => false,
    }
}

/// Values that may differ between the waves of a workgroup.
struct Differs {
    values: Vec<bool>,
    variables: Vec<bool>,
    /// The marks that some waves may not reach, each with the condition that decides it.
    under: HashMap<Value, Value>,
}

/// An exit that some waves may not take, and the condition.
type Exits = Vec<(Label, Value)>;

impl Differs {
    fn of(kernel: &Kernel) -> Differs {
        let (values, variables) = (vec![false; kernel.values.len()], vec![false; kernel.variables.len()]);
        let mut differs = Differs { values, variables, under: HashMap::new() };
        // Flags are only set, never cleared, so the iteration ends.
        loop {
            let before = differs.variables.clone();
            differs.region(kernel, &kernel.body, None);
            if differs.variables == before {
                return differs;
            }
        }
    }

    /// Visits a region under a condition that differs, if there is one. Returns the exits from it that some
    /// waves do not take.
    fn region(&mut self, kernel: &Kernel, region: &Region, under: Option<Value>) -> Exits {
        let mut left = Exits::new();
        for stmt in &region.stmts {
            // After an exit that only some waves take, the remaining statements run in the other waves only.
            let under = under.or_else(|| left.first().map(|(_, condition)| *condition));
            match stmt {
                Stmt::Inst(v) => self.inst(kernel, *v, under),
                Stmt::Exit(label) => left.extend(under.map(|condition| (*label, condition))),
                _ => left.extend(self.nested(kernel, stmt, under)),
            }
        }
        left
    }

    fn nested(&mut self, kernel: &Kernel, stmt: &Stmt, under: Option<Value>) -> Exits {
        let own = stmt.condition().filter(|c| self.values[c.0 as usize]);
        let mut exits = self.regions(kernel, stmt, under.or(own));
        if let Stmt::Block { label, .. } = stmt {
            exits.retain(|(to, _)| to != label);
        }
        let is_loop = stmt.repeats();
        // If the body computes a condition that differs, or some waves exit, the later trips are made by some
        // waves only: visit the body again under that condition.
        let own = stmt.condition().filter(|c| self.values[c.0 as usize]);
        match own.or_else(|| exits.first().map(|(_, condition)| *condition)) {
            Some(some) if is_loop && under.is_none() => self.regions(kernel, stmt, Some(some)),
            _ => exits,
        }
    }

    fn regions(&mut self, kernel: &Kernel, stmt: &Stmt, under: Option<Value>) -> Exits {
        stmt.regions().into_iter().flat_map(|inner| self.region(kernel, inner, under)).collect()
    }

    fn inst(&mut self, kernel: &Kernel, v: Value, under: Option<Value>) {
        let inst = &kernel.def(v).inst;
        let mut differs = match inst {
            Inst::LocalId(_) | Inst::LaneId | Inst::Load { .. } => true,
            Inst::Atomic(_) | Inst::Machine(_) => true,
            Inst::LoadUniform { resource, .. } => !kernel.read_only.contains(resource),
            Inst::Read(var) => self.variables[var.0 as usize],
            _ => false,
        };
        inst.operands(|operand| differs |= self.values[operand.0 as usize]);
        self.values[v.0 as usize] |= differs;
        match (inst, under) {
            (Inst::Write { var, .. }, _) => self.variables[var.0 as usize] |= differs || under.is_some(),
            (Inst::Schedule(_), Some(condition)) => {
                self.under.insert(v, condition);
            }
            _ => {}
        }
    }
}
