//! Across lanes and waves.

use std::panic::Location;

use crate::ir::mark::Mark;
use crate::ir::{Inst, Schedule};
use crate::lang::control::{EveryLane, Flow};
use crate::lang::numbers::constant::refuse_lane;
use crate::lang::{IntoDevice, S, V, wave_size, with};
use crate::scalar::{Elem, Scalar};

/// Flows in which every lane of the workgroup runs.
///
/// Rustc reports this trait or the one that it stands on, so that both have the message.
#[diagnostic::on_unimplemented(
    message = "all lanes must run here, but only some may: this is inside a varying `if`, `match` or loop, or lanes may have left before",
    label = "needs all lanes of the workgroup",
    note = "a lane that is not here would never arrive at a barrier, and matrix instructions ignore EXEC: move the call out of the varying `if`, `match` or loop, or make the condition uniform (`S<bool>`)",
    note = "a varying `break` or `return` makes the whole loop around it varying, a varying `continue` or `return` what follows it: put the rest in an `if` instead, and this call after it"
)]
pub trait Convergent {}
impl<F: Flow> Convergent for F where F::Lanes: EveryLane {}

/// Waits until all waves of the workgroup are here. A barrier releases and acquires at workgroup scope, as the memory model of the
/// LLVM AMDGPU guide has it: every access to LDS and to global memory that any wave makes before it comes before all that any wave
/// makes after it.
///
/// LDS operations of different waves are not in the order in which the waves issue them, so that `s_barrier` waits for this wave's
/// LDS accesses first (`s_waitcnt lgkmcnt(0)`), loads included, unless something has waited for them before. For global accesses
/// there is nothing to wait for: the waves of a workgroup share a compute unit and its vector cache. Copies from global memory
/// straight to LDS are waited for. [`barrier_with_reads_pending`] waits for less.
#[track_caller]
pub fn barrier<F: Convergent>(_flow: &F) {
    with(|c| c.effect(Inst::Barrier, Location::caller()));
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
pub fn barrier_with_reads_pending<F: Convergent>(_flow: &F) {
    let loc = Location::caller();
    with(|c| {
        c.effect(Inst::Schedule(Box::new(Schedule::Mark(Mark::ReadsPass))), loc);
        c.effect(Inst::Barrier, loc);
    });
}

/// The value of the first active lane.
#[track_caller]
pub fn read_first_lane<T: Scalar>(v: V<T>) -> S<T> {
    let loc = Location::caller();
    if T::ELEM == Elem::Bool {
        let number: V<u32> = crate::lang::select(V::<bool>::from_value(v.value), 1u32, 0u32);
        let first = S::<u32>::emit(Inst::ReadFirstLane(number.value), loc);
        return S::from_value(crate::lang::ne(first, 0u32).value);
    }
    S::emit(Inst::ReadFirstLane(v.value), loc)
}

/// The value of lane `lane` (modulo [`wave_size()`](crate::lang::wave_size)), active or not. A condition is false in a lane that is not active.
#[track_caller]
pub fn read_lane<T: Scalar>(v: V<T>, lane: impl IntoDevice<S<u32>>) -> S<T> {
    let (lane, loc): (S<u32>, _) = (lane.into_device(), Location::caller());
    refuse_lane(lane.value, loc);
    if T::ELEM == Elem::Bool {
        let holds = ballot(V::from_value(v.value)) >> in_wave(lane);
        return S::from_value(crate::lang::ne(holds & 1u64, 0u64).value);
    }
    S::emit(Inst::ReadLane(v.value, lane.value), loc)
}

/// A number of a lane within the wave, for shifts of masks: those of 64 bits count modulo 64 themselves.
pub(super) fn in_wave(lane: S<u32>) -> S<u32> {
    match wave_size() {
        gcn_isa::target::WAVE_SIZE => lane,
        lanes => lane & (lanes - 1),
    }
}

/// The active lanes where `condition` holds, as a mask.
#[track_caller]
pub fn ballot(condition: V<bool>) -> S<u64> {
    S::emit(Inst::Ballot(condition.value), Location::caller())
}

/// The mask of active lanes.
#[track_caller]
pub fn active_lanes() -> S<u64> {
    let every: V<bool> = true.into_device();
    ballot(every)
}

/// True if `condition` holds in any active lane of the wave.
#[track_caller]
pub fn any(condition: V<bool>) -> S<bool> {
    crate::lang::ne(ballot(condition), 0)
}

/// True if `condition` holds in every active lane of the wave.
#[track_caller]
pub fn all(condition: V<bool>) -> S<bool> {
    crate::lang::eq(ballot(!condition), 0)
}
