//! The GPU that is probed, through `libamdhip64.so`.
#![allow(
    unsafe_code,
    reason = "a launch with arguments as bytes is unsafe: nothing checks addresses in them"
)]

use gcn_dsl::Device;
use gcn_dsl::launch::hip::{HipDevice, HipError};
use gcn_isa::Target;
use serde::{Deserialize, Serialize};

use crate::launch::{KERNEL, Launch};

/// A GPU.
#[derive(Debug)]
pub struct Gpu {
    device: HipDevice,
}

/// What a report says about a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The name that HIP gives.
    pub name: String,
    /// The target with its settings.
    pub target_id: String,
    /// Compute units.
    pub compute_units: u32,
    /// Clock in MHz, if HIP knows it.
    pub clock_mhz: Option<u32>,
}

impl Gpu {
    /// The GPU with this number.
    ///
    /// # Errors
    /// Those of [`HipDevice::open`].
    pub fn open(ordinal: u32) -> Result<Gpu, HipError> {
        Ok(Gpu { device: HipDevice::open(ordinal)? })
    }

    /// The target of the GPU.
    pub fn target(&self) -> Target {
        self.device.target()
    }

    /// What reports say about it.
    ///
    /// # Errors
    /// What HIP reports.
    pub fn about(&self) -> Result<About, String> {
        let properties = Device::of_hip(&self.device).properties().map_err(|error| error.to_string())?;
        Ok(About {
            name: properties.name,
            target_id: self.device.target_id().to_string(),
            compute_units: properties.compute_units,
            clock_mhz: properties.clock_mhz,
        })
    }

    /// Runs a program so many times, each from the same contents of its buffer, or until `seen` has seen enough of the contents after it.
    ///
    /// # Errors
    /// What HIP reports.
    pub fn run(
        &self,
        launch: &Launch,
        times: u32,
        seen: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), HipError> {
        let module = self.device.load_module(&launch.code_object)?;
        let kernel = module.function(KERNEL)?;
        let buffer = self.device.alloc(launch.bytes())?;
        let kernarg = buffer.address().to_le_bytes();
        let (grid, group) = launch.sizes();
        let mut after = vec![0; launch.input.len()];
        for _ in 0..times {
            buffer.write(0, &launch.input)?;
            // SAFETY: the program accesses this buffer, of as many bytes as it is made for, and no other memory; it lives until the end of
            // this function.
            unsafe { self.device.launch(&kernel, grid, group, 0, &kernarg)? };
            self.device.synchronize()?;
            buffer.read(0, &mut after)?;
            if !seen(&after) {
                break;
            }
        }
        Ok(())
    }
}
