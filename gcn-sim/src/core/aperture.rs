//! The apertures through which LDS and scratch appear in the flat address space.

/// The first flat address of LDS.
pub(crate) const SHARED_BASE: u64 = 0x0001_0000_0000_0000;
/// The first flat address of scratch.
pub(crate) const PRIVATE_BASE: u64 = 0x0002_0000_0000_0000;
/// The size of each aperture in bytes.
pub(crate) const SIZE: u64 = 1 << 32;
