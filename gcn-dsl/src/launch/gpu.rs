//! A GPU as a device.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gcn_isa::Target;

use super::hip::{HipBuffer, HipDevice, HipError};
use super::{Backend, Grid, LaunchError, LaunchStats};
use crate::kernel::BuiltKernel;

/// A HIP device and the buffers that are allocated on it, by address.
pub(super) struct Gpu {
    device: HipDevice,
    buffers: Mutex<BTreeMap<u64, HipBuffer>>,
}

impl Gpu {
    pub fn open(ordinal: u32) -> Result<Gpu, HipError> {
        Ok(Gpu { device: HipDevice::open(ordinal)?, buffers: Mutex::default() })
    }

    pub fn target(&self) -> Target {
        self.device.target()
    }

    fn buffers(&self) -> MutexGuard<'_, BTreeMap<u64, HipBuffer>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `f` on the buffer that holds `address`, with the address's offset in it.
    fn with_buffer<R>(
        &self,
        address: u64,
        f: impl FnOnce(&HipBuffer, usize) -> Result<R, HipError>,
    ) -> Result<R, LaunchError> {
        let buffers = self.buffers();
        let (start, buffer) = buffers.range(..=address).next_back().ok_or_else(|| unknown(address))?;
        Ok(f(buffer, (address - start) as usize)?)
    }
}

fn unknown(address: u64) -> LaunchError {
    let what = format!("{address:#x} is in no buffer of this device; allocate it with `device.alloc`");
    LaunchError::Memory(what.into())
}

impl Backend for Gpu {
    fn alloc(&self, bytes: usize) -> Result<u64, LaunchError> {
        let buffer = self.device.alloc(bytes)?;
        let address = buffer.address();
        self.buffers().insert(address, buffer);
        Ok(address)
    }

    fn free(&self, address: u64) -> Result<(), LaunchError> {
        self.buffers().remove(&address).map(drop).ok_or_else(|| unknown(address))
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), LaunchError> {
        self.with_buffer(address, |buffer, offset| buffer.write(offset, data))
    }

    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, LaunchError> {
        self.with_buffer(address, |buffer, offset| buffer.read_vec(offset, bytes))
    }

    fn run(&self, kernel: &BuiltKernel, grid: Grid, kernarg: &[u8]) -> Result<LaunchStats, LaunchError> {
        let module = self.device.load_module(kernel.code_object())?;
        let function = module.function(kernel.name())?;
        self.device.launch_built(&function, kernel, grid, kernarg)?;
        self.device.synchronize()?;
        let workgroups = grid.workgroups.iter().map(|n| u64::from(*n)).product();
        Ok(LaunchStats { workgroups, ..LaunchStats::default() })
    }
}
