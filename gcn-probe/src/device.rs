//! The GPU under test, accessed through `libamdhip64.so`.
#![allow(
    unsafe_code,
    reason = "a launch with arguments as bytes is unsafe: nothing checks addresses in them"
)]

use std::path::Path;

use gcn_dsl::Device;
use gcn_dsl::launch::hip::{HipDevice, HipError};
use gcn_isa::Target;
use serde::{Deserialize, Serialize};

use crate::launch::{KERNEL, Launch, Seen};

/// An open GPU.
#[derive(Debug)]
pub struct Gpu {
    device: HipDevice,
    simulated: bool,
}

/// The description of a GPU in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The GPU's name according to HIP.
    pub name: String,
    /// The target ID, with its feature settings.
    pub target_id: String,
    /// The number of compute units.
    pub compute_units: u32,
    /// Clock in MHz, if HIP knows it.
    pub clock_mhz: Option<u32>,
    /// The driver.
    #[serde(default)]
    pub driver: Driver,
    /// True if the device is the simulator (`gcn run`); such a report proves nothing about hardware.
    #[serde(default)]
    pub simulated: bool,
}

/// The driver of a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Driver {
    /// The version number that HIP reports.
    pub hip: String,
    /// The version of Linux's module `amdgpu`. Only the module of AMD's packages has one; that of the kernel itself has none.
    pub module: Option<String>,
}

/// The folder in which Linux describes its devices.
pub const SYS: &str = "/sys";

impl Gpu {
    /// Opens the GPU with this HIP ordinal.
    ///
    /// # Errors
    /// Those of [`HipDevice::open`].
    pub fn open(ordinal: u32) -> Result<Gpu, HipError> {
        let device = HipDevice::open(ordinal)?;
        let simulated = device.is_simulated()?;
        Ok(Gpu { device, simulated })
    }

    /// The number of times to run a program that hardware has to run `times` times. The simulator gives the same result for the same
    /// program every time, so two runs of it show as much as a hundred.
    pub fn repeats(&self, times: u32) -> u32 {
        if self.simulated { times.min(2) } else { times }
    }

    /// The target of the GPU.
    pub fn target(&self) -> Target {
        self.device.target()
    }

    /// The description of the GPU for reports.
    ///
    /// # Errors
    /// Errors of HIP.
    pub fn about(&self) -> Result<About, String> {
        let hip = |error: HipError| error.to_string();
        let properties = self.as_device().properties().map_err(|error| error.to_string())?;
        let simulated = self.simulated;
        let module = std::fs::read_to_string(Path::new(SYS).join("module/amdgpu/version")).ok();
        let driver = Driver {
            hip: self.device.driver_version().map_err(hip)?,
            module: module.filter(|_| !simulated).map(|version| version.trim().to_owned()),
        };
        Ok(About {
            name: properties.name,
            target_id: self.device.target_id().to_string(),
            compute_units: properties.compute_units,
            clock_mhz: properties.clock_mhz,
            driver,
            simulated,
        })
    }

    /// The GPU's address on the PCI bus; `None` for a simulated GPU.
    ///
    /// # Errors
    /// What HIP reports.
    pub fn pci_address(&self) -> Result<Option<String>, HipError> {
        if self.simulated { Ok(None) } else { self.device.pci_address().map(Some) }
    }

    /// The GPU as kernels of gcn-dsl are launched on it.
    pub fn as_device(&self) -> Device {
        Device::of_hip(&self.device)
    }

    /// The GPU as suites run programs on it.
    pub fn runner(&self) -> impl FnMut(&Launch, u32, Seen<'_>) -> Result<(), String> + '_ {
        |launch, times, seen| self.run(launch, times, seen).map_err(|error| error.to_string())
    }

    /// Runs a program the given number of times, each time from the same initial buffer contents, or until `seen`, which receives the
    /// contents after each run, returns `false`.
    ///
    /// # Errors
    /// Errors of HIP.
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
