//! Events of HIP.

use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use super::{Context, HipError};

/// `hipErrorNotReady`.
const NOT_READY: i32 = 600;

/// A point in a stream's work, recorded once.
pub(in super::super) struct HipEvent {
    context: Context,
    /// The handle from `hipEventCreate`, owned by this value.
    handle: *mut c_void,
}

// SAFETY: the handle is never dereferenced here; HIP's functions may be called from any thread.
unsafe impl Send for HipEvent {}
// SAFETY: as above; nothing changes an event after it was recorded.
unsafe impl Sync for HipEvent {}

impl HipEvent {
    /// Records an event after all work that was started on `stream` so far.
    pub(super) fn record(context: &Context, stream: *mut c_void) -> Result<HipEvent, HipError> {
        let mut handle = ptr::null_mut();
        let api = context.current()?;
        // SAFETY: `handle` may be written.
        let code = unsafe { (api.functions.hipEventCreate)(&raw mut handle) };
        api.check("hipEventCreate", code)?;
        let event = HipEvent { context: context.clone(), handle };
        // SAFETY: the event and the stream were created and not destroyed.
        let code = unsafe { (api.functions.hipEventRecord)(event.handle, stream) };
        api.check("hipEventRecord", code)?;
        Ok(event)
    }

    pub(super) fn handle(&self) -> *mut c_void {
        self.handle
    }

    /// True if the event has happened: all work before it has completed.
    pub fn is_done(&self) -> Result<bool, HipError> {
        let api = &self.context.api;
        // SAFETY: the event was created and not destroyed.
        match unsafe { (api.functions.hipEventQuery)(self.handle) } {
            NOT_READY => Ok(false),
            code => api.check("hipEventQuery", code).map(|()| true),
        }
    }

    /// Waits until the event has happened.
    pub fn synchronize(&self) -> Result<(), HipError> {
        let api = &self.context.api;
        // SAFETY: the event was created and not destroyed.
        let code = unsafe { (api.functions.hipEventSynchronize)(self.handle) };
        api.check("hipEventSynchronize", code)
    }

    /// The time from this event to `until`; `None` if `until` happened earlier. Waits for both events.
    pub fn elapsed(&self, until: &HipEvent) -> Result<Option<Duration>, HipError> {
        self.synchronize()?;
        until.synchronize()?;
        let (api, mut milliseconds) = (&self.context.api, 0.0f32);
        // SAFETY: `milliseconds` may be written; both events were created and not destroyed.
        let code =
            unsafe { (api.functions.hipEventElapsedTime)(&raw mut milliseconds, self.handle, until.handle) };
        api.check("hipEventElapsedTime", code)?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).ok())
    }
}

impl Drop for HipEvent {
    fn drop(&mut self) {
        // SAFETY: the handle is from hipEventCreate and this value is its only owner.
        unsafe { (self.context.api.functions.hipEventDestroy)(self.handle) };
    }
}
