//! The interface of a device, with one implementation for the simulator and one for HIP.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use gcn_isa::Target;

use super::{Grid, LaunchError, LaunchStats};
use crate::kernel::BuiltKernel;

/// A stream, an event or a loaded kernel of a device, whose implementation knows the type.
pub(super) type Handle = Arc<dyn Any + Send + Sync>;

/// The handle as what this implementation makes.
pub(super) fn own<'h, T: 'static>(handle: &'h Handle, what: &'static str) -> Result<&'h T, LaunchError> {
    handle.downcast_ref().ok_or(LaunchError::OtherDevice { what })
}

/// Bytes that are on their way to the host.
pub(super) trait Arriving: Send {
    /// Waits for them.
    fn wait(self: Box<Self>) -> Result<Vec<u8>, LaunchError>;
}

/// A device. Addresses and ranges that are not allocated are errors; methods with a stream may return before
/// the work is done.
pub(super) trait Backend: Send + Sync {
    fn target(&self) -> Target;
    fn alloc(&self, bytes: usize) -> Result<u64, LaunchError>;
    fn free(&self, address: u64) -> Result<(), LaunchError>;
    fn write(&self, address: u64, data: &[u8]) -> Result<(), LaunchError>;
    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, LaunchError>;

    /// The kernel out of `object`, which is loaded if it is not yet.
    fn load(&self, object: &[u8], kernel: &BuiltKernel) -> Result<Handle, LaunchError>;
    /// Starts a kernel on a stream; without one runs it after everything that was started before, and waits
    /// for it.
    fn launch(
        &self,
        stream: Option<&Handle>,
        loaded: &Handle,
        kernel: &BuiltKernel,
        grid: Grid,
        kernarg: &[u8],
    ) -> Result<LaunchStats, LaunchError>;

    fn stream(&self) -> Result<Handle, LaunchError>;
    fn synchronize(&self, stream: &Handle) -> Result<(), LaunchError>;
    fn write_on(&self, stream: &Handle, address: u64, data: &[u8]) -> Result<(), LaunchError>;
    fn read_on(&self, stream: &Handle, address: u64, bytes: usize) -> Result<Box<dyn Arriving>, LaunchError>;
    fn zero_on(&self, stream: &Handle, address: u64, bytes: usize) -> Result<(), LaunchError>;
    fn copy_on(&self, stream: &Handle, from: u64, to: u64, bytes: usize) -> Result<(), LaunchError>;

    /// A new event after what the stream has.
    fn record(&self, stream: &Handle) -> Result<Handle, LaunchError>;
    /// Everything that is started on the stream from now on runs after the event.
    fn wait(&self, stream: &Handle, event: &Handle) -> Result<(), LaunchError>;
    fn is_done(&self, event: &Handle) -> Result<bool, LaunchError>;
    fn wait_for(&self, event: &Handle) -> Result<(), LaunchError>;
    fn elapsed(&self, since: &Handle, until: &Handle) -> Result<Duration, LaunchError>;
}
