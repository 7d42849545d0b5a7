//! Page-locked memory of the host.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::LaunchError;
use super::backend::{Backend, Handle};
use super::buffer::{bytes_of, from_bytes, to_bytes};
use crate::lang::Stored;

/// Elements in page-locked host memory, from [`Device::pinned`](crate::Device::pinned). A device copies directly from
/// and to this memory. It is allocated once and can be used for many copies.
///
/// ```
/// use gcn_dsl::prelude::*;
/// let device = Device::simulator(Target::GFX942);
/// let (stream, mut x) = (device.stream()?, device.zeroed::<u32>(3)?);
/// let mut staging = device.pinned::<u32>(3)?;
/// for n in 0..4 {
///     staging.copy_from_slice(&[n, n + 1, n + 2])?; // waits for the copy before
///     stream.upload_pinned(&mut staging, &mut x)?;
/// }
/// stream.download_pinned(&x, &mut staging)?;
/// assert_eq!(staging.to_vec()?, [3, 4, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PinnedBuffer<T> {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) memory: Handle,
    /// The event after the last copy from or to the memory.
    pub(super) last: Option<Handle>,
    len: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<T: Stored> PinnedBuffer<T> {
    pub(super) fn new(backend: &Arc<dyn Backend>, len: usize) -> Result<PinnedBuffer<T>, LaunchError> {
        let memory = backend.pinned(bytes_of::<T>(len)?)?;
        Ok(PinnedBuffer { backend: Arc::clone(backend), memory, last: None, len, element: PhantomData })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Waits for the last copy that was started.
    fn wait(&self) -> Result<(), LaunchError> {
        self.last.as_ref().map_or(Ok(()), |last| self.backend.wait_for(last))
    }

    /// Waits for the last copy that was started, and returns the elements.
    ///
    /// # Errors
    /// Any error that the device reports.
    pub fn to_vec(&self) -> Result<Vec<T>, LaunchError> {
        self.wait()?;
        from_bytes(&self.backend.pinned_bytes(&self.memory)?)
    }

    /// Waits for the last copy that was started, and replaces the elements.
    ///
    /// # Errors
    /// [`LaunchError::Length`] if `data` has another length, or any error that the device reports.
    pub fn copy_from_slice(&mut self, data: &[T]) -> Result<(), LaunchError> {
        if data.len() != self.len {
            return Err(LaunchError::Length { from: data.len(), to: self.len });
        }
        self.wait()?;
        self.backend.set_pinned(&self.memory, &to_bytes(data))
    }
}
