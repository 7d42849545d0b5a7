//! Barriers of a workgroup.

use std::panic::Location;

use crate::ir::mark::Mark;
use crate::ir::{Inst, Schedule};
use crate::lang::control::everyone::{Barrier, Everyone};
use crate::lang::with;

/// Waits until all waves of the workgroup have arrived. A barrier releases and acquires at workgroup scope, as defined
/// by the memory model of the LLVM AMDGPU guide: every access to LDS and to global memory that any wave makes before it
/// happens before all accesses that any wave makes after it.
///
/// LDS operations of different waves are not executed in the order in which the waves issue them, so the compiler puts
/// a wait for this wave's LDS accesses (`s_waitcnt lgkmcnt(0)`), loads included, before `s_barrier`, unless an earlier
/// wait already covers them. Global accesses need no wait: the waves of a workgroup share a compute unit and its vector
/// cache. Direct copies from global memory to LDS are waited for. [`barrier_with_reads_pending`] waits for less.
#[track_caller]
pub fn barrier() -> Barrier {
    with(|c| c.effect(Inst::Barrier, Location::caller()));
    Barrier(Everyone::gives(()))
}

/// A [`barrier()`] that does not wait for this wave's loads from LDS: they may still be pending when other waves
/// continue.
///
/// No wave may overwrite the memory that these loads read until the next `barrier()`, or until another
/// `barrier_with_reads_pending()` before which every wave has waited for these loads. The compiler does not check that;
/// `gcn_dsl::sim::Sanitize::RACES` finds violations. This function is useful if loads from one buffer may still be
/// pending at the barrier that publishes another buffer; buffers with phases ([`LdsBuf`](crate::lang::LdsBuf),
/// [`LdsPair`](crate::lang::LdsPair)) take `barrier(buffer)` instead. On targets whose `s_barrier` needs every counter
/// at 0 (before gfx90a) this function is the same as `barrier()`.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     #[workgroup(256)]
///     fn two_reversals(x: &[u32], y: &mut [u32]) {
///         let (first, second) = (Lds::<u32, 256>::new(), Lds::<u32, 256>::new());
///         let i = local_id().x;
///         first[i] = x[i];
///         barrier();
///         second[i] = x[i + 256];
///         let early = first[255 - i];       // nobody writes `first` any more
///         barrier_with_reads_pending();     // for what `second` holds
///         y[i] = early + second[255 - i];
///     }
/// }
/// let x: Vec<u32> = (0..512).collect();
/// let mut y = vec![0; 256];
/// two_reversals.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut y))?;
/// assert_eq!(y[0], 255 + 511);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn barrier_with_reads_pending() -> Everyone<()> {
    let loc = Location::caller();
    with(|c| {
        c.effect(Inst::Schedule(Box::new(Schedule::Mark(Mark::ReadsPass))), loc);
        c.effect(Inst::Barrier, loc);
    });
    Everyone::gives(())
}
