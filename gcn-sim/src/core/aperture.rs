//! Where LDS and scratch appear in the flat address space.

/// First flat address of LDS.
pub(crate) const SHARED_BASE: u64 = 0x0001_0000_0000_0000;
/// First flat address of scratch.
pub(crate) const PRIVATE_BASE: u64 = 0x0002_0000_0000_0000;
/// Bytes of each aperture.
pub(crate) const SIZE: u64 = 1 << 32;
