//! Unrolling: a loop whose number of trips is known when the kernel is built becomes straight-line code.
//!
//! [`Trial`] executes the loop on constants, with its variables as the only state, and counts the instructions that
//! would remain. If they are few, the body is appended once for each iteration, so that addresses and conditions fold
//! and loads merge across iterations. A loop with more iterations and a short body without control flow is unrolled
//! partially. The copies of the body need no test between them, because the unroll factor divides the trip count. If
//! the trip count is unknown and the loop loads from memory, it is unrolled partially, too, and a second loop runs the
//! remaining iterations ([`counted`]).
//!
//! LLVM does the same, with similar limits (`LoopUnrollPass`, and `AMDGPUTTIImpl::getUnrollingPreferences`).

mod counted;
mod replay;
mod trial;

use hashbrown::HashSet;

use crate::ir::build::Builder;
use crate::ir::mark::Mark;
use crate::ir::{Inst, Kernel, Place, Region, Schedule, Stmt, Value, Variable};
pub use counted::{Counted, run as counted};
use replay::Replay;
use trial::Trial;

/// The largest number of instructions that a fully unrolled loop may have. Each of them must be fetched although it
/// runs only once, which in a long loop costs more than the counter does.
const LONGEST: u32 = 320;
/// The same limit for a loop that contains control flow, whose conditions may become known in each iteration.
const LONGEST_NEST: u32 = 1024;
/// The largest number of instructions in the body of a partially unrolled loop.
const LONGEST_PART: u32 = 160;
/// The possible factors of partial unrolling.
const AT_A_TIME: [u32; 3] = [8, 4, 2];
/// The number of additional instructions that an unrolled loop may have because selects fold. In a loop, each access to
/// an array in registers selects among all elements; after unrolling, the index is known and the access needs no
/// select.
const REFUNDS: u32 = 4096;
/// The budget of a trial in visited statements, counting revisits: a nested loop is visited again in each iteration of
/// the outer loops. An assignment to one element of an array in registers takes several statements for each other
/// element.
const STEPS: u32 = 128 * LONGEST_NEST;
/// The largest number of iterations that a trial counts.
const MOST_TRIPS: u32 = 1024;

/// A loop with a uniform condition.
#[derive(Clone, Copy)]
pub(in crate::ir) struct Loop<'r> {
    /// Computes the condition before each iteration. If it is `None`, the body computes the condition for the next
    /// iteration.
    pub head: Option<&'r Region>,
    pub cond: Value,
    pub body: &'r Region,
}

/// Appends the iterations of a loop as straight-line code, if its trip count is known and they are short enough.
/// Returns true if they were appended.
pub(in crate::ir) fn run(b: &mut Builder, looped: Loop<'_>) -> bool {
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

/// Unrolls a loop partially, if its trip count is known. Returns true if the loop was appended.
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
    let length = LONGEST_PART.saturating_sub(once.left).max(1);
    let control = control(b.kernel(), looped);
    let mut all = Trial::new(b, u32::MAX);
    let trip = Loop { body: &control, ..looped };
    let (Some(()), Some(trips)) = (all.looped(trip), all.trips) else { return false };
    let fits = |n: &u32| trips.is_multiple_of(*n) && trips > *n && n * length <= LONGEST_PART;
    let Some(count) = AT_A_TIME.into_iter().find(fits) else { return false };
    b.open(false);
    let mut replay = Replay::default();
    (0..count).for_each(|_| replay.region(b, looped.body));
    let cond = replay.renamed(looped.cond);
    let body = b.close(false);
    b.stmt(Stmt::DoWhile { body, cond });
    true
}

/// For a loop without control flow: the instructions that determine its trip count.
fn control(kernel: &Kernel, looped: Loop<'_>) -> Region {
    let mut needed: HashSet<Value> = HashSet::new();
    let mut variables: HashSet<Variable> = HashSet::new();
    needed.insert(looped.cond);
    // Go backwards, and repeat as long as that finds another needed variable, since the write of a variable may come
    // later in the body than its reads.
    loop {
        let before = variables.len();
        for stmt in looped.body.stmts.iter().rev() {
            let Stmt::Inst(v) = *stmt else { continue };
            match kernel.def(v).inst {
                Inst::Write { var, value, .. } if variables.contains(&var) => {
                    needed.extend([v, value]);
                }
                Inst::Read(var) if needed.contains(&v) => {
                    variables.insert(var);
                }
                ref inst if needed.contains(&v) => inst.operands(|operand| {
                    needed.insert(operand);
                }),
                _ => {}
            }
        }
        if variables.len() == before {
            break;
        }
    }
    let stmts = looped.body.stmts.iter().filter(|stmt| matches!(stmt, Stmt::Inst(v) if needed.contains(v)));
    Region { stmts: stmts.cloned().collect() }
}

/// True for an empty block. Such a block marks the place for the value that an exit carries to the end of an enclosing
/// construct, and must not be duplicated.
fn is_place(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Block { body, .. } if body.stmts.is_empty())
}

/// False for a loop that contains an instruction that must not be duplicated, and for a loop whose form the user has
/// requested.
fn may_repeat(b: &Builder, looped: Loop<'_>) -> bool {
    let kernel = b.kernel();
    let once = |v: Value| match &kernel.def(v).inst {
        Inst::Schedule(what) => **what != Schedule::Mark(Mark::Cold),
        Inst::Write { var, .. } => {
            b.is_pinned(*var) || b.is_rolled(*var) || kernel.pipelines.iter().any(|p| p.counter == *var)
        }
        // The kernel's lists identify a slice's resource by its value, so a copy of the value would be missing there.
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
        region.each_stmt(&mut |stmt| repeats &= !is_place(stmt));
    }
    repeats
}
