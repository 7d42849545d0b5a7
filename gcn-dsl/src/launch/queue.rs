//! The state that streams share with the memory that they use.

use std::sync::Arc;

use super::LaunchError;
use super::backend::{Backend, Handle};

/// The state of a stream, shared with the memory that it uses.
pub(super) struct Queue {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) handle: Handle,
}

impl Queue {
    pub fn synchronize(&self) -> Result<(), LaunchError> {
        self.backend.synchronize(&self.handle)
    }

    /// All work that is started from now on runs after all work of `earlier` so far.
    pub fn wait_for_all_of(&self, earlier: &Queue) -> Result<(), LaunchError> {
        let event = self.backend.record(&earlier.handle)?;
        self.backend.wait(&self.handle, &event)
    }
}
