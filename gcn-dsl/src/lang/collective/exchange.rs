//! Shuffles through LDS, for targets on which `ds_bpermute_b32` reaches only half of a wave and no instruction
//! exchanges the halves.
//!
//! These are RDNA 1 and 2 in waves of 64 lanes. All shuffles of a kernel share an LDS array, in which every wave has
//! one dword for each of its lanes. A wave's LDS operations are executed in order, so no barrier is needed, only fences
//! that keep the compiler from reordering them.

use crate::gcn_kernel;
use crate::lang::{
    IntoDevice, LdsSlice, Ordering, S, Scope, V, active_lanes, fence, lane_id, select, splat, wave_id,
    wave_size, with, workgroup_size,
};

/// True if shuffles must go through LDS.
pub(super) fn is_needed() -> bool {
    const EXCHANGES_HALVES: &str = "v_permlane64_b32";
    with(|c| {
        let has_it = || gcn_isa::table::find_operation(c.target, EXCHANGES_HALVES).next().is_some();
        c.target.permuted_lanes() < c.wave.lanes() as usize && !has_it()
    })
}

/// The number of waves in the workgroup.
fn waves() -> u32 {
    let size = workgroup_size();
    (size.x * size.y * size.z).div_ceil(wave_size())
}

/// The array that all shuffles share.
fn places() -> LdsSlice<u32> {
    let len = waves() * wave_size();
    let id = with(|c| *c.exchange.get_or_insert_with(|| c.builder.lds(len as usize, 4)));
    LdsSlice::whole(id, len)
}

/// The index of this wave's first dword in the array.
#[track_caller]
fn first_place() -> S<u32> {
    if waves() == 1 { 0u32.into_device() } else { wave_id() * wave_size() }
}

gcn_kernel! {
    /// For each lane, the value of `x` in lane `lane`, or 0 if that lane is inactive.
    #[device]
    #[track_caller]
    pub(super) fn exchanged(x: V<u32>, lane: V<u32>, #[host] all_active: bool) -> V<u32> {
        let (places, first) = (places(), first_place());
        let from = lane & (wave_size() - 1);
        // This store must come after the loads of an earlier exchange.
        fence(Scope::Wavefront, Ordering::AcqRel);
        places[first + lane_id()] = x;
        fence(Scope::Wavefront, Ordering::AcqRel);
        let there = places[first + from];
        comptime if all_active { there } else { select(splat(active_lanes()) >> from & 1 == 1, there, 0) }
    }
}
