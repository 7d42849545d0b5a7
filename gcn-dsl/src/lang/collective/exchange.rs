//! Values of any lane of a wave where `ds_bpermute_b32` reaches only half of it and nothing exchanges the halves: through LDS.
//!
//! RDNA 1 and 2 in waves of 64 lanes. Every wave has a dword for each of its lanes in one array, which all shuffles of a kernel use. A
//! wave's LDS operations are carried out in order, so no barrier is needed, only fences that keep the compiler from moving them past
//! each other.

use crate::gcn_kernel;
use crate::lang::{
    IntoDevice, LdsSlice, Ordering, S, Scope, V, active_lanes, fence, lane_id, select, splat, wave_id,
    wave_size, with, workgroup_size,
};

/// True where a shuffle goes through LDS.
pub(super) fn is_needed() -> bool {
    const EXCHANGES_HALVES: &str = "v_permlane64_b32";
    with(|c| {
        let has_it = || gcn_isa::table::find_operation(c.target, EXCHANGES_HALVES).next().is_some();
        c.target.permuted_lanes() < c.wave.lanes() as usize && !has_it()
    })
}

/// How many waves the workgroup has.
fn waves() -> u32 {
    let size = workgroup_size();
    (size.x * size.y * size.z).div_ceil(wave_size())
}

/// The array.
fn places() -> LdsSlice<u32> {
    let len = waves() * wave_size();
    let id = with(|c| *c.exchange.get_or_insert_with(|| c.builder.lds(len as usize, 4)));
    LdsSlice::whole(id, len)
}

/// The first place of this wave.
#[track_caller]
fn first_place() -> S<u32> {
    if waves() == 1 { 0u32.into_device() } else { wave_id() * wave_size() }
}

gcn_kernel! {
    /// For each lane the value of lane `lane`; 0 if that is not active.
    #[device]
    #[track_caller]
    pub(super) fn exchanged(x: V<u32>, lane: V<u32>, #[host] all_active: bool) -> V<u32> {
        let (places, first) = (places(), first_place());
        let from = lane & (wave_size() - 1);
        // After the reads of an earlier exchange.
        fence(Scope::Wavefront, Ordering::AcqRel);
        places[first + lane_id()] = x;
        fence(Scope::Wavefront, Ordering::AcqRel);
        let there = places[first + from];
        comptime if all_active { there } else { select(splat(active_lanes()) >> from & 1 == 1, there, 0) }
    }
}
