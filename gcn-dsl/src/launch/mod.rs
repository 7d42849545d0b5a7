//! Launches of kernels, on the simulator and on GPUs.

mod backend;
mod buffer;
mod debug;
mod device;
mod error;
mod graph;
#[cfg(feature = "hip")]
mod interop;
mod kernarg;
mod kernel;
mod module;
#[cfg(feature = "objects")]
mod object;
mod pack;
mod passed;
mod pinned;
mod properties;
mod queue;
mod simulator;
mod stream;
mod timed;

#[cfg(feature = "hip")]
mod gpu;
#[cfg(feature = "hip")]
pub mod hip;

pub use crate::lang::DevicePtr;
pub use buffer::{DeviceBuffer, DeviceSlice, DeviceView, DeviceViewMut};
pub use debug::Printed;
pub use device::Device;
pub use error::LaunchError;
pub use graph::{Graph, GraphBuilder};
pub use kernarg::kernarg_bytes;
pub use kernel::{Kernel, Launcher};
pub use module::{CodeOf, LoadedKernel, LoadedModule, Module};
#[cfg(feature = "objects")]
pub use object::{LoadedObject, ObjectArg, ObjectArgs, ObjectKernel};
pub use pack::DevicePacker;
pub use passed::{Passed, PassedFor};
pub use pinned::PinnedBuffer;
pub use properties::Properties;
pub use stream::{Download, Event, Stream};
pub use timed::TimedKernel;

use crate::kernel::BuiltKernel;

/// The number of workgroups of a launch in each dimension, and other properties of the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Workgroups in x, y and z.
    pub workgroups: [u32; 3],
    /// Bytes of LDS in addition to the kernel's own, for [`LdsSlice::dynamic`](crate::lang::LdsSlice::dynamic).
    pub dynamic_lds: u32,
    /// True if all workgroups must be on the device at the same time, so that they may wait for each other.
    pub cooperative: bool,
}

impl Grid {
    /// A grid of one dimension.
    pub const fn x(x: u32) -> Grid {
        Grid::xyz(x, 1, 1)
    }

    /// A grid of two dimensions.
    pub const fn xy(x: u32, y: u32) -> Grid {
        Grid::xyz(x, y, 1)
    }

    /// A grid of three dimensions.
    pub const fn xyz(x: u32, y: u32, z: u32) -> Grid {
        Grid { workgroups: [x, y, z], dynamic_lds: 0, cooperative: false }
    }

    /// The grid with `bytes` bytes of LDS for each workgroup in addition to the kernel's own arrays.
    #[must_use]
    pub const fn with_dynamic_lds(self, bytes: u32) -> Grid {
        Grid { dynamic_lds: bytes, ..self }
    }

    /// The grid with all workgroups on the device at the same time, so that they may wait for each other. A launch of
    /// more workgroups than fit on the device fails; the limit is [`LoadedKernel::workgroups_per_cu`] times
    /// [`Properties::compute_units`].
    #[must_use]
    pub const fn cooperative(self) -> Grid {
        Grid { cooperative: true, ..self }
    }
}

/// Statistics of a launch. GPUs do not count instructions, so the number of instructions is 0 for them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LaunchStats {
    /// Number of workgroups.
    pub workgroups: u64,
    /// Number of executed instructions, counted once for each wave.
    pub wave_instructions: u64,
    /// The values that `dbg!` showed, sorted by workgroup, wave and time. The simulator has also printed them to
    /// standard error.
    pub printed: Vec<Printed>,
}

impl Grid {
    /// Rejects a grid with which the kernel cannot be dispatched.
    fn check(self, built: &BuiltKernel) -> Result<(), LaunchError> {
        let kernel = || built.name().to_owned();
        let [x, y, z] = self.workgroups;
        if x == 0 || y == 0 || z == 0 {
            return Err(LaunchError::EmptyGrid { kernel: kernel(), x, y, z });
        }
        let (own, dynamic, limit) = (built.lds_start(), self.dynamic_lds, built.target().lds_per_cu());
        if dynamic > 0 && own.checked_add(dynamic).is_none_or(|all| all > limit) {
            return Err(LaunchError::Lds { kernel: kernel(), own, dynamic, limit });
        }
        for (dimension, (&workgroups, &size)) in
            self.workgroups.iter().zip(&built.signature().workgroup).enumerate()
        {
            if workgroups.checked_mul(size).is_none() {
                return Err(LaunchError::GridTooLarge { kernel: kernel(), workgroups, size, dimension });
            }
        }
        Ok(())
    }
}
