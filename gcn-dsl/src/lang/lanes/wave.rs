//! Operations across the lanes of a wave that give uniform values.

use std::panic::Location;

use crate::ir::Inst;
use crate::lang::values::constant::refuse_lane;
use crate::lang::values::kind::Kind;
use crate::lang::values::operand::At;
use crate::lang::{IntoDevice, S, V, wave_size};
use crate::scalar::{Elem, Scalar};

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

/// The value of lane `lane` (modulo [`wave_size()`](crate::lang::wave_size)), whether it is active or not. A condition
/// is false in an inactive lane.
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

/// A lane's number modulo the wave size, as a shift count for 64-bit masks; shifts of 64-bit values take their count
/// modulo 64 anyway.
pub(in crate::lang) fn in_wave(lane: S<u32>) -> S<u32> {
    match wave_size() {
        gcn_isa::target::WAVE_SIZE => lane,
        lanes => lane & (lanes - 1),
    }
}

/// The mask of the active lanes in which `condition` is true.
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

/// True if `condition` is true in any active lane of the wave.
#[track_caller]
pub fn any(condition: V<bool>) -> S<bool> {
    crate::lang::ne(ballot(condition), 0)
}

/// True if `condition` is true in every active lane of the wave.
#[track_caller]
pub fn all(condition: V<bool>) -> S<bool> {
    crate::lang::eq(ballot(!condition), 0)
}

/// Converts a varying result back to a uniform one if the arguments, of kind `P`, were uniform.
#[track_caller]
pub(in crate::lang) fn first_unless_varying<P: Kind, T: Scalar>(x: V<T>) -> At<P, T> {
    match P::VARYING {
        true => P::picked(None, Some(x)),
        false => P::picked(Some(read_first_lane(x)), None),
    }
}
