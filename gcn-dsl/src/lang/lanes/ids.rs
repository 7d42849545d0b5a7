//! The position of a lane in its wave, its workgroup and its grid.

use std::panic::Location;

use crate::ir::Inst;
use crate::lang::{S, V, wave_size, with};

/// A value for each of three dimensions.
#[derive(Debug, Clone, Copy)]
pub struct Dim3<X> {
    /// First dimension.
    pub x: X,
    /// Second dimension.
    pub y: X,
    /// Third dimension.
    pub z: X,
}

fn dims<X>(f: impl Fn(u8) -> X) -> Dim3<X> {
    Dim3 { x: f(0), y: f(1), z: f(2) }
}

/// The workgroup's index in the grid.
#[track_caller]
pub fn workgroup_id() -> Dim3<S<u32>> {
    let loc = Location::caller();
    dims(|d| S::emit(Inst::WorkgroupId(d), loc))
}

/// The work-item's index in its workgroup.
#[track_caller]
pub fn local_id() -> Dim3<V<u32>> {
    let loc = Location::caller();
    dims(|d| {
        let size = with(|c| c.workgroup[d as usize]);
        if size == 1 {
            return crate::lang::splat(0u32);
        }
        V::emit(Inst::LocalId(d), loc)
    })
}

/// The workgroup's size in each dimension, from the kernel's `#[workgroup(..)]`.
pub fn workgroup_size() -> Dim3<u32> {
    let size = with(|c| c.workgroup);
    dims(|d| size[d as usize])
}

/// The number of waves in a workgroup: its work-items divided by [`wave_size()`](wave_size), rounded up.
///
/// ```
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     /// The sum of 256 numbers: each wave leaves its own in LDS.
///     #[workgroup(256)]
///     fn total(x: &[u32], sum: &mut [u32]) {
///         let sums = LdsSlice::<u32>::new(num_waves() as usize);
///         sums[wave_id()] = wave_sum(x[local_id().x]);
///         barrier();
///         let mut all = 0;
///         for w in 0..num_waves() {
///             all += sums[w];
///         }
///         sum[0] = all;
///     }
/// }
///
/// for target in [Target::GFX942, Target::GFX1100] {
///     let mut sum = [0];
///     total.launch(&Device::simulator(target), Grid::x(1), (&[3; 256], &mut sum))?;
///     assert_eq!(sum, [3 * 256]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn num_waves() -> u32 {
    let size = workgroup_size();
    (size.x * size.y * size.z).div_ceil(wave_size())
}

/// The number of work-items of the grid in each dimension, from the launch.
///
/// This is useful as the step of a loop over all elements, whatever the size of the grid is:
///
/// ```
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     /// Adds 1 to every element, whatever the grid.
///     #[workgroup(64)]
///     fn increment(x: &mut [u32]) {
///         for i in (global_id().x..x.len()).step_by(global_size().x) {
///             x[i] += 1;
///         }
///     }
/// }
///
/// let mut x = vec![0; 1000];
/// increment.launch(&Device::simulator(Target::GFX942), Grid::x(3), (&mut x,))?;
/// assert_eq!(x, [1; 1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The size is read from the dispatch packet (HSA Platform System Architecture, 2.9.6) by a scalar load.
#[track_caller]
pub fn global_size() -> Dim3<S<u32>> {
    let loc = Location::caller();
    dims(|d| S::emit(Inst::GridSize(d), loc))
}

/// The number of workgroups of the grid in each dimension, from the launch; `gridDim` in CUDA. It is computed from
/// [`global_size`]; the last workgroup counts even if it has fewer work-items.
#[track_caller]
pub fn num_workgroups() -> Dim3<S<u32>> {
    let (items, size) = (global_size(), workgroup_size());
    let groups = |items: S<u32>, size: u32| (items - 1u32) / size + 1u32;
    Dim3 { x: groups(items.x, size.x), y: groups(items.y, size.y), z: groups(items.z, size.z) }
}

/// The work-item's index in the grid: `workgroup_id * workgroup_size + local_id`, wrapping at 2^32.
#[track_caller]
pub fn global_id() -> Dim3<V<u32>> {
    let (group, size, local) = (workgroup_id(), workgroup_size(), local_id());
    Dim3 { x: group.x * size.x + local.x, y: group.y * size.y + local.y, z: group.z * size.z + local.z }
}

/// The lane's number in its wave, from 0 to [`wave_size()`]` - 1`.
#[track_caller]
pub fn lane_id() -> V<u32> {
    V::emit(Inst::LaneId, Location::caller())
}

/// The wave's number in its workgroup.
///
/// Work-items are assigned to waves in the order of `x + size.x * (y + size.y * z)`.
#[track_caller]
pub fn wave_id() -> S<u32> {
    let (local, size) = (local_id(), workgroup_size());
    let flat = local.x + size.x * (local.y + size.y * local.z);
    let first: V<u32> = flat >> wave_size().trailing_zeros();
    crate::lang::read_first_lane(first)
}
