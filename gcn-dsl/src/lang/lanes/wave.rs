//! Operations across the lanes of a wave that give uniform values.

use std::panic::Location;

use crate::ir::Inst;
use crate::lang::values::constant::refuse_lane;
use crate::lang::values::kind::Kind;
use crate::lang::values::operand::At;
use crate::lang::values::value::PerLane;
use crate::lang::{IntoDevice, S, V};
use crate::scalar::{Elem, LaneMask, Scalar};

/// The value of the first active lane.
#[track_caller]
pub fn read_first_lane<T: Scalar>(v: impl PerLane<T>) -> S<T> {
    let (v, loc) = (v.per_lane(), Location::caller());
    if T::ELEM == Elem::Bool {
        let number: V<u32> = crate::lang::select(V::<bool>::from_value(v.value), 1u32, 0u32);
        let first = S::<u32>::emit(Inst::ReadFirstLane(number.value), loc);
        return S::from_value(crate::lang::ne(first, 0u32).value);
    }
    S::emit(Inst::ReadFirstLane(v.value), loc)
}

/// The value of lane `lane` (modulo [`wave_size()`](crate::lang::wave_size)), whether it is active or not. A condition
/// is false in an inactive lane.
#[track_caller]
pub fn read_lane<T: Scalar>(v: impl PerLane<T>, lane: impl IntoDevice<S<u32>>) -> S<T> {
    let (v, lane, loc): (V<T>, S<u32>, _) = (v.per_lane(), lane.into_device(), Location::caller());
    refuse_lane(lane.value, loc);
    if T::ELEM == Elem::Bool {
        return S::from_value(ballot(V::<bool>::from_value(v.value)).contains(lane).value);
    }
    S::emit(Inst::ReadLane(v.value, lane.value), loc)
}

/// The mask of the active lanes in which `condition` is true.
#[track_caller]
pub fn ballot(condition: impl PerLane<bool>) -> S<LaneMask> {
    S::emit(Inst::Ballot(condition.per_lane().value), Location::caller())
}

/// The mask of active lanes.
#[track_caller]
pub fn active_lanes() -> S<LaneMask> {
    let every: V<bool> = true.into_device();
    ballot(every)
}

/// True if `condition` is true in any active lane of the wave.
#[track_caller]
pub fn any(condition: impl PerLane<bool>) -> S<bool> {
    ballot(condition).any()
}

/// True if `condition` is true in every active lane of the wave.
#[track_caller]
pub fn all(condition: impl PerLane<bool>) -> S<bool> {
    ballot(!condition.per_lane()).is_empty()
}

/// Converts a varying result back to a uniform one if the arguments, of kind `P`, were uniform.
#[track_caller]
pub(in crate::lang) fn first_unless_varying<P: Kind, T: Scalar>(x: V<T>) -> At<P, T> {
    match P::VARYING {
        true => P::picked(None, Some(x)),
        false => P::picked(Some(read_first_lane(x)), None),
    }
}
