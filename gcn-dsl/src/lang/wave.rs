//! Across lanes and waves.

use std::panic::Location;

use super::control::{AllLanes, Flow};
use super::{IntoDevice, S, V, lane_id, with};
use crate::ir::{Inst, Type, Value};
use crate::scalar::{Elem, Scalar};

/// Flows in which every lane of the workgroup runs.
pub trait Convergent {}
impl<F: Flow> Convergent for F where F::Lanes: AllLanes {}

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

/// For each lane the value of lane `lane` (modulo 64). An inactive source lane gives 0.
#[track_caller]
pub fn shuffle<T: Scalar>(v: V<T>, lane: impl IntoDevice<V<u32>>) -> V<T> {
    let loc = Location::caller();
    let address = lane.into_device() << 2;
    let permute =
        |value: Value, ty: Type| with(|c| c.value(Inst::Permute { address: address.value, value }, ty, loc));
    if T::ELEM.dwords() == 1 {
        return V::from_value(permute(v.value, V::<T>::TYPE));
    }
    let dword = Type::varying(Elem::U32);
    let half = |i| with(|c| c.value(Inst::Extract { from: v.value, dword: i }, dword, loc));
    let (low, high) = (half(0), half(1));
    let parts = [permute(low, dword), permute(high, dword)].into_iter().collect();
    V::emit(Inst::Concat(parts), loc)
}

/// For each lane the value of lane `lane_id() ^ mask`: the step of a butterfly reduction.
#[track_caller]
pub fn shuffle_xor<T: Scalar>(v: V<T>, mask: u32) -> V<T> {
    shuffle(v, lane_id() ^ mask)
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
