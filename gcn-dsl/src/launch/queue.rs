//! The part of a stream to which the memory that the stream uses keeps a reference.

use std::sync::Arc;

use super::LaunchError;
use super::backend::{Backend, Handle};

/// A stream's backend and handle. The stream shares this value with the memory that it uses, so that later users of the
/// memory can wait for the stream.
pub(super) struct Queue {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) handle: Handle,
}

impl Queue {
    pub fn synchronize(&self) -> Result<(), LaunchError> {
        self.backend.synchronize(&self.handle)
    }

    /// Makes all work that is started on this stream from now on wait for all work that was started on `earlier` so
    /// far.
    pub fn wait_for_all_of(&self, earlier: &Queue) -> Result<(), LaunchError> {
        let event = self.backend.record(&earlier.handle)?;
        self.backend.wait(&self.handle, &event)
    }
}
