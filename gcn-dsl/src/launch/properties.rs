//! Properties of a device.

use gcn_isa::Target;

/// Facts about a device, from [`Device::properties`](crate::Device::properties).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// Its name, for example `AMD Instinct MI300X`; the simulator's name identifies it as such.
    pub name: String,
    /// Its target.
    pub target: Target,
    /// Compute units, on RDNA workgroup processors, which have two each: what HIP calls multiprocessors. The simulator has as many as its
    /// timed model.
    pub compute_units: u32,
    /// Bytes of LDS that a workgroup may use.
    pub lds_bytes: u32,
    /// Bytes of device memory; only the host limits that of the simulator.
    pub memory_bytes: Option<u64>,
    /// The highest clock of the compute units in MHz; for the simulator, the argument of
    /// [`Device::timed_simulator`](crate::Device::timed_simulator).
    pub clock_mhz: Option<u32>,
}
