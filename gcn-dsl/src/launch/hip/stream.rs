//! Streams of HIP, with their copies and fills.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::api::Api;
use super::host::HostMemory;
use super::{Context, HipBuffer, HipError, HipEvent};

/// `hipMemcpyHostToDevice`.
const TO_DEVICE: i32 = 1;
/// `hipMemcpyDeviceToHost`.
const TO_HOST: i32 = 2;
/// `hipMemcpyDeviceToDevice`.
const ON_DEVICE: i32 = 3;

/// A copy that has been started: the event that follows it, and the host memory that the copy uses until that event.
struct Copy {
    done: HipEvent,
    _memory: Arc<HostMemory>,
}

/// A stream. Dropping it waits for its work.
pub(in super::super) struct HipStream {
    context: Context,
    handle: *mut c_void,
    /// True if the handle is from `hipStreamCreate` and this value destroys it.
    owned: bool,
    /// The copies that may still be in progress, in the order of their start.
    copies: Mutex<VecDeque<Copy>>,
}

// SAFETY: the handle is never dereferenced here; HIP's functions may be called from any thread.
unsafe impl Send for HipStream {}
// SAFETY: as above; mutable state is behind a lock.
unsafe impl Sync for HipStream {}

/// A copy from a stream's device to the host that has been started.
pub(in super::super) struct Incoming {
    memory: Arc<HostMemory>,
    done: HipEvent,
}

impl Incoming {
    /// Waits for the copy and returns the bytes.
    pub fn wait(self) -> Result<Vec<u8>, HipError> {
        self.done.synchronize()?;
        // SAFETY: the only copy to this memory has completed.
        Ok(unsafe { self.memory.bytes() })
    }
}

impl HipStream {
    pub(super) fn new(context: Context) -> Result<HipStream, HipError> {
        let mut handle = ptr::null_mut();
        {
            let api = context.current()?;
            // SAFETY: `handle` may be written.
            let code = unsafe { (api.functions.hipStreamCreate)(&raw mut handle) };
            api.check("hipStreamCreate", code)?;
        }
        Ok(HipStream { context, handle, owned: true, copies: Mutex::default() })
    }

    /// A stream that is created and destroyed elsewhere.
    pub(super) fn borrowed(context: Context, handle: *mut c_void) -> HipStream {
        HipStream { context, handle, owned: false, copies: Mutex::default() }
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(in super::super) fn handle(&self) -> *mut c_void {
        self.handle
    }

    fn copies(&self) -> MutexGuard<'_, VecDeque<Copy>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all work that was started on the stream.
    pub fn synchronize(&self) -> Result<(), HipError> {
        let mut copies = self.copies();
        let api = &self.context.api;
        // SAFETY: the stream was created and not destroyed.
        let code = unsafe { (api.functions.hipStreamSynchronize)(self.handle) };
        api.check("hipStreamSynchronize", code)?;
        copies.clear();
        Ok(())
    }

    /// Records an event after all work that was started on the stream so far.
    pub fn record(&self) -> Result<HipEvent, HipError> {
        HipEvent::record(&self.context, self.handle)
    }

    /// Makes all work that is started on the stream from now on wait for `event`.
    pub fn wait(&self, event: &HipEvent) -> Result<(), HipError> {
        let api = &self.context.api;
        // SAFETY: the stream and the event were created and not destroyed.
        let code = unsafe { (api.functions.hipStreamWaitEvent)(self.handle, event.handle(), 0) };
        api.check("hipStreamWaitEvent", code)
    }

    /// The address of a range of a buffer of this device; `None` if it is empty.
    fn range(&self, buffer: &HipBuffer, at: usize, bytes: usize) -> Result<Option<*mut c_void>, HipError> {
        if !buffer.context().is(&self.context) {
            return Err(HipError::OtherDevice { kernel: "a copy".to_owned() });
        }
        buffer.range(at, bytes)
    }

    /// Starts a copy of a buffer's bytes to the host.
    pub fn read(&self, from: &HipBuffer, at: usize, bytes: usize) -> Result<Incoming, HipError> {
        let source = self.range(from, at, bytes)?;
        let memory = Arc::new(HostMemory::new(&self.context, bytes)?);
        if let Some(source) = source {
            // SAFETY: the range is within the buffer; the host memory has the same length, and `keep` keeps it
            // allocated until the copy has completed.
            unsafe { self.copy(memory.start(), source, bytes, TO_HOST)? };
        }
        self.keep(&memory)?;
        Ok(Incoming { memory, done: self.record()? })
    }

    /// Starts a copy of host bytes to a buffer. `data` is read before this returns.
    pub fn write(&self, to: &HipBuffer, at: usize, data: &[u8]) -> Result<(), HipError> {
        let Some(to) = self.range(to, at, data.len())? else { return Ok(()) };
        let memory = Arc::new(HostMemory::of(&self.context, data)?);
        // SAFETY: the range is within the buffer; the host memory has the same length, and `keep` keeps it allocated
        // until the copy has completed.
        unsafe { self.copy(to, memory.start(), memory.len(), TO_DEVICE)? };
        self.keep(&memory)
    }

    /// Starts a copy between two ranges of buffers.
    pub fn copy_between(
        &self,
        (from, from_at): (&HipBuffer, usize),
        (to, to_at): (&HipBuffer, usize),
        bytes: usize,
    ) -> Result<(), HipError> {
        let (from, to) = (self.range(from, from_at, bytes)?, self.range(to, to_at, bytes)?);
        let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
        // SAFETY: both ranges are within their buffers.
        unsafe { self.copy(to, from, bytes, ON_DEVICE) }
    }

    /// Starts a copy from a buffer of another device of the library to one of this stream's device.
    pub fn copy_peer(
        &self,
        from: &HipBuffer,
        (to, to_at): (&HipBuffer, usize),
        bytes: usize,
    ) -> Result<(), HipError> {
        let (there, api) = (from.context(), &self.context.api);
        if !Arc::ptr_eq(&there.api, api) {
            return Err(HipError::OtherDevice { kernel: "a copy".to_owned() });
        }
        let (from, to) = (from.range(0, bytes)?, self.range(to, to_at, bytes)?);
        let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
        let copy = Api::newer(&api.functions.hipMemcpyPeerAsync)?;
        // SAFETY: both ranges are within their buffers, which are on these devices.
        let code = unsafe { copy(to, self.context.ordinal, from, there.ordinal, bytes, self.handle) };
        api.check("hipMemcpyPeerAsync", code)
    }

    /// Starts a copy of all bytes of page-locked memory to a buffer.
    pub fn write_from(&self, to: &HipBuffer, at: usize, memory: &Arc<HostMemory>) -> Result<(), HipError> {
        let Some(to) = self.range(to, at, memory.len())? else { return Ok(()) };
        // SAFETY: the range is within the buffer; `keep` keeps the memory allocated until the copy has completed.
        unsafe { self.copy(to, memory.start(), memory.len(), TO_DEVICE)? };
        self.keep(memory)
    }

    /// Starts a copy from a buffer that fills page-locked memory.
    pub fn read_to(&self, from: &HipBuffer, at: usize, memory: &Arc<HostMemory>) -> Result<(), HipError> {
        let Some(from) = self.range(from, at, memory.len())? else { return Ok(()) };
        // SAFETY: the range is within the buffer; `keep` keeps the memory allocated until the copy has completed.
        unsafe { self.copy(memory.start(), from, memory.len(), TO_HOST)? };
        self.keep(memory)
    }

    /// Starts a fill of bytes of a buffer with one value.
    pub fn fill(&self, buffer: &HipBuffer, at: usize, byte: u8, bytes: usize) -> Result<(), HipError> {
        let Some(to) = self.range(buffer, at, bytes)? else { return Ok(()) };
        let api = &self.context.api;
        // SAFETY: the range is within the buffer; the stream was created and not destroyed.
        let code = unsafe { (api.functions.hipMemsetAsync)(to, byte.into(), bytes, self.handle) };
        api.check("hipMemsetAsync", code)
    }

    /// # Safety
    /// Until the copy has completed, `from` must be readable and `to` writable in the direction that `kind` says, and
    /// nothing else may access the host memory.
    unsafe fn copy(
        &self,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: i32,
    ) -> Result<(), HipError> {
        let api = &self.context.api;
        // SAFETY: the caller guarantees that the ranges are valid; the stream was created and not destroyed.
        let code = unsafe { (api.functions.hipMemcpyAsync)(to, from, bytes, kind, self.handle) };
        api.check("hipMemcpyAsync", code)
    }

    /// Keeps host memory allocated until all work that was started on the stream so far has completed.
    fn keep(&self, memory: &Arc<HostMemory>) -> Result<(), HipError> {
        let mut copies = self.copies();
        let memory = Arc::clone(memory);
        match self.record() {
            Ok(done) => copies.push_back(Copy { done, _memory: memory }),
            Err(error) => {
                // Without an event the end of the copy cannot be observed, so leak the memory.
                std::mem::forget(memory);
                return Err(error);
            }
        }
        while copies.front().is_some_and(|copy| copy.done.is_done().unwrap_or(false)) {
            copies.pop_front();
        }
        Ok(())
    }
}

impl Drop for HipStream {
    fn drop(&mut self) {
        if self.synchronize().is_err() {
            // A device that does not respond may still be copying, so leak the memory of its copies.
            std::mem::forget(std::mem::take(&mut *self.copies()));
            return;
        }
        if !self.owned {
            return;
        }
        // SAFETY: the handle is from hipStreamCreate and this value is its only owner.
        unsafe { (self.context.api.functions.hipStreamDestroy)(self.handle) };
    }
}
