//! Properties of a device.

use gcn_isa::Target;

/// Properties of a device, from [`Device::properties`](crate::Device::properties).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// The device's name, for example `AMD Instinct MI300X`; the simulator's name says that it is a simulator.
    pub name: String,
    /// The device's target.
    pub target: Target,
    /// Number of compute units; on RDNA, of workgroup processors, which consist of two compute units each (HIP's
    /// multiprocessors). For the simulator, the number in its timed model.
    pub compute_units: u32,
    /// Maximum size of the LDS of a workgroup in bytes.
    pub lds_bytes: u32,
    /// Size of the device memory in bytes; `None` for the simulator, whose memory only the host limits.
    pub memory_bytes: Option<u64>,
    /// The highest clock of the compute units in MHz; for a timed simulator, the argument of
    /// [`Device::timed_simulator`](crate::Device::timed_simulator).
    pub clock_mhz: Option<u32>,
}
