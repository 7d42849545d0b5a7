//! The apertures through which LDS and scratch appear in the flat address space.

/// The first flat address of LDS.
pub(crate) const SHARED_BASE: u64 = 0x0001_0000_0000_0000;
/// The first flat address of scratch.
pub(crate) const PRIVATE_BASE: u64 = 0x0002_0000_0000_0000;
/// The size of each aperture in bytes.
pub(crate) const SIZE: u64 = 1 << 32;

/// The bits that distinguish the scratch of this wave from global memory and from the scratch of the workgroup's other waves.
const SCRATCH: u64 = 1 << 59;
const WAVE_SHIFT: u32 = 32;
/// The position of the lane's number in the flat address of scratch (LLVM 22, measured: it casts a private pointer to a flat one by adding
/// the lane's number in these bits and the base).
const LANE_SHIFT: u32 = 52;

/// The base of a wave's scratch, on targets where programs can read it: flat address 0 of the scratch of lane 0.
pub(crate) fn scratch_base(wave: u32) -> u64 {
    SCRATCH | u64::from(wave) << WAVE_SHIFT
}

/// The flat address of the first byte of a lane's scratch, on the same targets. Its lower half is 0.
pub(crate) fn scratch_of_lane(wave: u32, lane: usize) -> u64 {
    scratch_base(wave) | (lane as u64) << LANE_SHIFT
}
