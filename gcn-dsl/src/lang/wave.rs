//! Across lanes and waves.

use std::panic::Location;

use super::control::{EveryLane, Flow};
use super::{IntoDevice, S, V, with};
use crate::ir::Inst;
use crate::scalar::{Elem, Scalar};

/// Flows in which every lane of the workgroup runs.
///
/// Rustc reports this trait or the one that it stands on, so that both have the message.
#[diagnostic::on_unimplemented(
    message = "all lanes must run here, but only some may: this is inside a varying `if`, `match` or loop, or lanes may have left before",
    label = "needs all lanes of the workgroup",
    note = "a lane that is not here would never arrive at a barrier, and matrix instructions ignore EXEC: move the call out of the varying `if`, `match` or loop, or make the condition uniform (`S<bool>`)",
    note = "a varying `break` or `return` makes the whole loop around it varying, a varying `continue` or `return` what follows it: put the rest in an `if` instead, and this call behind it"
)]
pub trait Convergent {}
impl<F: Flow> Convergent for F where F::Lanes: EveryLane {}

/// Waits until all waves of the workgroup are here; LDS and global accesses before it are visible after it.
#[track_caller]
pub fn barrier<F: Convergent>(_flow: &F) {
    with(|c| c.effect(Inst::Barrier, Location::caller()));
}

/// The value of the first active lane.
#[track_caller]
pub fn read_first_lane<T: Scalar>(v: V<T>) -> S<T> {
    let loc = Location::caller();
    if T::ELEM == Elem::Bool {
        let number: V<u32> = super::select(V::<bool>::from_value(v.value), 1u32, 0u32);
        let first = S::<u32>::emit(Inst::ReadFirstLane(number.value), loc);
        return S::from_value(super::ne(first, 0u32).value);
    }
    S::emit(Inst::ReadFirstLane(v.value), loc)
}

/// The value of lane `lane` (modulo 64), active or not. A condition is false in a lane that is not active.
#[track_caller]
pub fn read_lane<T: Scalar>(v: V<T>, lane: impl IntoDevice<S<u32>>) -> S<T> {
    let (lane, loc): (S<u32>, _) = (lane.into_device(), Location::caller());
    if T::ELEM == Elem::Bool {
        let holds = ballot(V::from_value(v.value)) >> lane;
        return S::from_value(super::ne(holds & 1u64, 0u64).value);
    }
    S::emit(Inst::ReadLane(v.value, lane.value), loc)
}

/// The active lanes where `condition` holds, as a mask.
#[track_caller]
pub fn ballot(condition: V<bool>) -> S<u64> {
    S::emit(Inst::Ballot(condition.value), Location::caller())
}

/// True if `condition` holds in any active lane of the wave.
#[track_caller]
pub fn any(condition: V<bool>) -> S<bool> {
    super::ne(ballot(condition), 0)
}

/// True if `condition` holds in every active lane of the wave.
#[track_caller]
pub fn all(condition: V<bool>) -> S<bool> {
    super::eq(ballot(!condition), 0)
}
