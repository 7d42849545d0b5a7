//! The trait of all devices ([`Backend`]), which the simulator and HIP implement.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use gcn_isa::Target;

use super::{Grid, LaunchError, LaunchStats, Properties};
use crate::kernel::BuiltKernel;

/// An object of a backend whose type only the backend knows: a stream, an event, a loaded kernel, a graph, or
/// page-locked host memory.
pub(super) type Handle = Arc<dyn Any + Send + Sync>;

/// Downcasts a handle to the backend's own type. If the handle belongs to another backend, returns an error, in which
/// `what` names the object.
pub(super) fn own<'h, T: 'static>(handle: &'h Handle, what: &'static str) -> Result<&'h T, LaunchError> {
    handle.downcast_ref().ok_or(LaunchError::OtherDevice { what })
}

/// A copy to the host that has been started.
pub(super) trait Arriving: Send {
    /// Waits for the copy and returns the bytes.
    fn wait(self: Box<Self>) -> Result<Vec<u8>, LaunchError>;
}

/// A step of a graph.
pub(super) enum Step {
    Launch { loaded: Handle, kernel: Box<BuiltKernel>, grid: Grid, kernarg: Vec<u8> },
    Copy { from: u64, to: u64, bytes: usize },
    Fill { address: u64, byte: u8, bytes: usize },
}

/// A device. Operations on addresses and ranges that are not allocated fail. Methods that take a stream may return
/// before the work has completed.
pub(super) trait Backend: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn target(&self) -> Target;
    fn properties(&self) -> Result<Properties, LaunchError>;
    fn alloc(&self, bytes: usize) -> Result<u64, LaunchError>;
    fn free(&self, address: u64) -> Result<(), LaunchError>;
    fn write(&self, address: u64, data: &[u8]) -> Result<(), LaunchError>;
    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, LaunchError>;

    /// Returns the kernel from the code object `object`, which is loaded if it is not loaded yet.
    fn load(&self, object: &[u8], kernel: &BuiltKernel) -> Result<Handle, LaunchError>;
    /// The number of workgroups of the kernel that fit on a compute unit at a time, if each has `dynamic_lds` bytes of
    /// LDS in addition to the kernel's own arrays.
    fn occupancy(&self, loaded: &Handle, kernel: &BuiltKernel, dynamic_lds: u32) -> Result<u32, LaunchError>;
    /// Starts a kernel on a stream. Without a stream, runs the kernel after all work that was started before, and waits
    /// for it.
    fn launch(
        &self,
        stream: Option<&Handle>,
        loaded: &Handle,
        kernel: &BuiltKernel,
        grid: Grid,
        kernarg: &[u8],
    ) -> Result<LaunchStats, LaunchError>;

    /// Loads the kernel `name` from a code object of any compiler.
    #[cfg(feature = "objects")]
    fn load_object(&self, object: &[u8], name: &str) -> Result<Handle, LaunchError>;
    /// Runs a kernel from [`Backend::load_object`], with the given grid and workgroup size, after all work that was
    /// started before, and waits for it.
    #[cfg(feature = "objects")]
    fn launch_object(
        &self,
        loaded: &Handle,
        name: &str,
        sizes: (Grid, [u32; 3]),
        kernarg: &[u8],
    ) -> Result<LaunchStats, LaunchError>;

    fn stream(&self) -> Result<Handle, LaunchError>;
    fn synchronize(&self, stream: &Handle) -> Result<(), LaunchError>;
    fn write_on(&self, stream: &Handle, address: u64, data: &[u8]) -> Result<(), LaunchError>;
    fn read_on(&self, stream: &Handle, address: u64, bytes: usize) -> Result<Box<dyn Arriving>, LaunchError>;
    fn fill_on(&self, stream: &Handle, address: u64, byte: u8, bytes: usize) -> Result<(), LaunchError>;
    fn copy_on(&self, stream: &Handle, from: u64, to: u64, bytes: usize) -> Result<(), LaunchError>;

    /// Starts a copy from a device of the same kind to this one.
    fn copy_peer_on(
        &self,
        stream: &Handle,
        from: (&dyn Backend, u64),
        to: u64,
        bytes: usize,
    ) -> Result<(), LaunchError>;
    /// Lets kernels of this device access the memory of `peer`, if the hardware permits it. Returns true if they can
    /// access it.
    fn access_peer(&self, peer: &dyn Backend) -> Result<bool, LaunchError>;

    /// Allocates page-locked host memory, all zero.
    fn pinned(&self, bytes: usize) -> Result<Handle, LaunchError>;
    /// A copy of the bytes of page-locked memory. No copy to the memory may be in progress.
    fn pinned_bytes(&self, memory: &Handle) -> Result<Vec<u8>, LaunchError>;
    /// Replaces the bytes of page-locked memory. No copy to or from the memory may be in progress.
    fn set_pinned(&self, memory: &Handle, data: &[u8]) -> Result<(), LaunchError>;
    /// Starts a copy of the whole page-locked memory to the device.
    fn write_pinned_on(&self, stream: &Handle, address: u64, memory: &Handle) -> Result<(), LaunchError>;
    /// Starts a copy from the device that fills the page-locked memory.
    fn read_pinned_on(&self, stream: &Handle, address: u64, memory: &Handle) -> Result<(), LaunchError>;

    /// Prepares a graph of these steps, which run one after the other.
    fn graph(&self, steps: Vec<Step>) -> Result<Handle, LaunchError>;
    /// Starts all steps of the graph on the stream.
    fn replay(&self, stream: &Handle, graph: &Handle) -> Result<(), LaunchError>;

    /// Records an event that happens when all work that was started on the stream so far has completed.
    fn record(&self, stream: &Handle) -> Result<Handle, LaunchError>;
    /// Makes all work that is started on the stream from now on wait for the event.
    fn wait(&self, stream: &Handle, event: &Handle) -> Result<(), LaunchError>;
    fn is_done(&self, event: &Handle) -> Result<bool, LaunchError>;
    fn wait_for(&self, event: &Handle) -> Result<(), LaunchError>;
    fn elapsed(&self, since: &Handle, until: &Handle) -> Result<Duration, LaunchError>;
}
