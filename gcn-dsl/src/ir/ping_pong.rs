//! Checks that all waves execute the same barriers of `#[ping_pong]` loops, and sets the priorities of the two groups
//! of waves.
//!
//! In the loop, a wave of the second group is one barrier ahead of the waves of the first, and at the end all must have
//! passed the same number of barriers. Therefore all waves of the workgroup must reach the loop, run the same number of
//! iterations, and go through the same phases in each iteration; and the loop must contain no barriers other than those
//! of its phases. A fixpoint iteration over values and variables finds which values are the same in all waves.
//! Arguments, workgroup ids and constants are; values that are computed from work-item ids, or loaded from memory that
//! may be written, are not.
//!
//! Matrix instructions on f64 occupy the vector ALU. In phases with such instructions the multiplying group has the
//! lower priority, since otherwise the few address computations of the other group would have to wait for the end of
//! the phase.

use std::fmt;

use gcn_isa::Target;
use gcn_isa::program::SourceLoc;
use gcn_isa::table::{self, Class};
use hashbrown::HashMap;
use smallvec::SmallVec;

use super::mark::Mark;
use super::{Inst, Kernel, Label, Region, Schedule, Stmt, Value};

/// The error for a `#[ping_pong]` loop in which waves could reach different numbers of barriers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnpairedBarriers {
    /// The location of the attribute.
    pub at: Option<SourceLoc>,
    /// The reason.
    pub reason: UnpairedReason,
}

/// The reasons why barriers may not match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum UnpairedReason {
    /// A branch on a value that differs between waves decides whether a wave reaches the loop, or how many iterations
    /// it runs; the location is that of the value.
    Wave(Option<SourceLoc>),
    /// The loop contains another barrier, at this location.
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
/// The error for the first loop whose barriers may not match.
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

/// The phase that contains the current instruction.
#[derive(Default)]
struct Phase {
    /// The instruction that raised the priority.
    raised: Option<Value>,
    takes_valu: bool,
    /// True in a `#[ping_pong]` loop.
    inside: bool,
}

impl Phase {
    /// Visits the next instruction. At the end of a phase whose priorities must be exchanged, returns the two priority
    /// instructions.
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
    // The location of the enclosing loop; and true if the next barrier belongs to the loop.
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
        // By design only one group of waves reaches the barriers before and after the loop; these barriers do not
        // delimit phases.
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

/// The values that may differ between the waves of a workgroup.
struct Differs {
    values: Vec<bool>,
    variables: Vec<bool>,
    /// The marks that some waves may not reach, each with the condition that decides about it.
    under: HashMap<Value, Value>,
}

/// Exits that some waves may not take, each with the condition that decides about it.
type Exits = Vec<(Label, Value)>;

impl Differs {
    fn of(kernel: &Kernel) -> Differs {
        let (values, variables) = (vec![false; kernel.values.len()], vec![false; kernel.variables.len()]);
        let mut differs = Differs { values, variables, under: HashMap::new() };
        // Flags are only set and never cleared, so the iteration terminates.
        loop {
            let before = differs.variables.clone();
            differs.region(kernel, &kernel.body, None);
            if differs.variables == before {
                return differs;
            }
        }
    }

    /// Visits a region. `under` is an enclosing condition that differs between waves, if there is one. Returns the
    /// exits from the region that some waves may not take.
    fn region(&mut self, kernel: &Kernel, region: &Region, under: Option<Value>) -> Exits {
        let mut left = Exits::new();
        for stmt in &region.stmts {
            // After an exit that only some waves take, only the other waves run the following statements.
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
        // If the loop condition that the body computes differs between waves, or if only some waves exit, then only
        // some waves run later iterations: visit the body again under that condition.
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
