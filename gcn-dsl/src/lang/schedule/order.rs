//! The order of instructions: manual blocks, barriers for the scheduler, patterns, priorities.

use std::panic::Location;

use super::pending::mark;
use crate::ir::mark::{Classes, Group, Mark};
use crate::ir::{Inst, Schedule};
use crate::lang::context::try_with;
use crate::lang::with;

/// The guard of a `#[schedule(manual)]` block; the block ends when it is dropped.
#[derive(Debug)]
pub struct Manual(&'static Location<'static>);

/// The expansion of the beginning of a `#[schedule(manual)]` block.
#[track_caller]
pub fn manual_begin() -> Manual {
    let loc = Location::caller();
    with(|c| {
        c.schedule.manual += 1;
        c.effect(mark(Mark::ManualBegin), loc);
    });
    Manual(loc)
}

impl Drop for Manual {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            try_with(|c| {
                c.schedule.manual = c.schedule.manual.saturating_sub(1);
                c.effect(mark(Mark::ManualEnd), self.0);
            });
        }
    }
}

/// Marks a point across which the scheduler moves no instruction.
///
/// In code that the compiler schedules, the instructions written before this point stay before those written after it.
#[track_caller]
pub fn sched_barrier() {
    sched_barrier_except(Classes::empty());
}

/// Marks a point across which the scheduler moves only instructions of `classes`, as with the mask of LLVM's
/// `sched_barrier`.
#[track_caller]
pub fn sched_barrier_except(classes: Classes) {
    let loc = Location::caller();
    with(|c| c.effect(mark(Mark::Fence(classes)), loc));
}

/// Sets the wave's priority (`s_setprio`), 0 to 3: of the waves of a SIMD that could issue, those of higher priority
/// issue first. A new wave has priority 0.
#[track_caller]
pub fn set_priority(priority: u8) {
    let loc = Location::caller();
    with(|c| {
        if priority > 3 {
            let message = format!("a wave has priority 0 to 3, not {priority}");
            c.fail(loc, message);
        }
        c.effect(Inst::Schedule(Box::new(Schedule::Priority(priority.min(3)))), loc);
    });
}

/// Marks the enclosing `if` or `else` body as rarely executed, as `std::hint::cold_path` does. It must be the first
/// call in that body; elsewhere it has no effect. The body is moved to the end of the kernel, so that on the usual path
/// the branch falls through, which is cheaper than a jump.
///
/// ```
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     /// y = 1 / x, and the number of waves that met a zero.
///     #[workgroup(64)]
///     fn invert(x: &[f32], y: &mut [f32], zeros: &mut [u32]) {
///         let i = global_id().x;
///         if any(x[i] == 0.0) {
///             cold_path();
///             zeros.atomic(0).fetch_add(1, Scope::Agent, Ordering::Relaxed);
///         }
///         y[i] = x[i].recip();
///     }
/// }
/// let text = invert.build(Target::GFX942)?.assembly(Comments::None);
/// let place = |what| text.find(what).unwrap();
/// assert!(place("s_endpgm") < place("atomic_add"));
/// # Ok::<(), gcn_dsl::BuildError>(())
/// ```
#[track_caller]
pub fn cold_path() {
    let loc = Location::caller();
    with(|c| c.effect(mark(Mark::Cold), loc));
}

/// The groups of an `interleave!`: for each, a count and the name of a class of instructions.
pub type Interleave<'a> = &'a [(u8, &'a str)];

/// The expansion of `interleave! { … }`.
#[track_caller]
pub fn interleave(groups: Interleave<'_>) {
    let groups =
        groups.iter().filter_map(|(count, name)| Some(Group { count: *count, class: Classes::named(name)? }));
    let pattern = mark(Mark::Interleave(groups.collect()));
    let loc = Location::caller();
    with(|c| c.effect(pattern, loc));
}
