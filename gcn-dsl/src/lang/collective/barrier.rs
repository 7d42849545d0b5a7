//! Barriers of a workgroup.

use std::panic::Location;

use crate::ir::mark::Mark;
use crate::ir::{Inst, Schedule};
use crate::lang::control::everyone::{Barrier, Everyone};
use crate::lang::with;

/// Waits until all waves of the workgroup are here. A barrier releases and acquires at workgroup scope, as the memory model of the
/// LLVM AMDGPU guide has it: every access to LDS and to global memory that any wave makes before it comes before all that any wave
/// makes after it.
///
/// LDS operations of different waves are not in the order in which the waves issue them, so that `s_barrier` waits for this wave's
/// LDS accesses first (`s_waitcnt lgkmcnt(0)`), loads included, unless something has waited for them before. For global accesses
/// there is nothing to wait for: the waves of a workgroup share a compute unit and its vector cache. Copies from global memory
/// straight to LDS are waited for. [`barrier_with_reads_pending`] waits for less.
#[track_caller]
pub fn barrier() -> Barrier {
    with(|c| c.effect(Inst::Barrier, Location::caller()));
    Barrier(Everyone::gives(()))
}

/// A [`barrier()`] that does not wait for this wave's loads from LDS: they may still be pending when other waves go on.
///
/// What they read must not be overwritten by any wave before the next `barrier()`, or before another
/// `barrier_with_reads_pending()` that every wave reaches with these loads done. The compiler does not check that;
/// `gcn_dsl::sim::Sanitize::RACES` finds it. Use it where loads from one buffer are to pass the barrier that publishes another
/// one; buffers with phases ([`LdsBuf`](crate::lang::LdsBuf), [`LdsPair`](crate::lang::LdsPair)) take `barrier(buffer)`. On targets whose
/// `s_barrier` needs every counter at 0 (before gfx90a) it is the same as `barrier()`.
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
