//! Across lanes and waves.

use std::panic::Location;

use super::control::{EveryLane, Flow};
use super::{IntoDevice, S, V, with};
use crate::ir::Inst;
use crate::scalar::Scalar;

/// Flows in which every lane of the workgroup runs.
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
    S::emit(Inst::ReadFirstLane(v.value), Location::caller())
}

/// The value of lane `lane` (modulo 64), active or not.
#[track_caller]
pub fn read_lane<T: Scalar>(v: V<T>, lane: impl IntoDevice<S<u32>>) -> S<T> {
    S::emit(Inst::ReadLane(v.value, lane.into_device().value), Location::caller())
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
