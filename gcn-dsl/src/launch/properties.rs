//! What a device is.

use gcn_isa::Target;

/// Facts about a device, from [`Device::properties`](crate::Device::properties).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// Its name, for example `AMD Instinct MI300X`; the simulator's says what it is.
    pub name: String,
    /// Its target.
    pub target: Target,
    /// Compute units, on RDNA workgroup processors, which have two each: what HIP calls multiprocessors. The simulator has as many as its
    /// timed model.
    pub compute_units: u32,
    /// Bytes of LDS that a workgroup may use.
    pub lds_bytes: u32,
    /// Bytes of device memory; the simulator's is limited by the host's alone.
    pub memory_bytes: Option<u64>,
    /// The highest clock of the compute units in MHz; the simulator's is what
    /// [`Device::timed_simulator`](crate::Device::timed_simulator) was given.
    pub clock_mhz: Option<u32>,
}
