//! Page-locked host memory, which a device copies from and to asynchronously.

use std::ffi::c_void;
use std::ptr;

use super::{Context, HipError};

/// Page-locked host memory, initially zero and freed when dropped.
pub(in super::super) struct HostMemory {
    context: Context,
    /// The address from `hipHostMalloc`, owned by this value.
    start: *mut c_void,
    len: usize,
}

// SAFETY: this value alone owns the memory, and HIP's functions may be called from any thread.
unsafe impl Send for HostMemory {}
// SAFETY: as above; shared references only read memory that no copy writes, see `bytes`.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    pub(super) fn new(context: &Context, len: usize) -> Result<HostMemory, HipError> {
        let mut start = ptr::null_mut();
        let api = context.current()?;
        // SAFETY: `start` may be written.
        let code = unsafe { (api.functions.hipHostMalloc)(&raw mut start, len.max(1), 0) };
        api.check("hipHostMalloc", code)?;
        // SAFETY: the allocation has at least `len` bytes.
        unsafe { start.cast::<u8>().write_bytes(0, len) };
        Ok(HostMemory { context: context.clone(), start, len })
    }

    pub(super) fn of(context: &Context, data: &[u8]) -> Result<HostMemory, HipError> {
        let memory = HostMemory::new(context, data.len())?;
        // SAFETY: the allocation is new and as long as `data`.
        unsafe { memory.start.cast::<u8>().copy_from_nonoverlapping(data.as_ptr(), data.len()) };
        Ok(memory)
    }

    pub(super) fn start(&self) -> *mut c_void {
        self.start
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// A copy of the bytes.
    ///
    /// # Safety
    /// No copy from a device to this memory may be in progress.
    pub(super) unsafe fn bytes(&self) -> Vec<u8> {
        // SAFETY: all bytes were initialised to zero; the caller guarantees that nothing writes them now.
        unsafe { std::slice::from_raw_parts(self.start.cast::<u8>(), self.len) }.to_vec()
    }

    /// A copy of the bytes, for memory that a [`PinnedBuffer`](crate::PinnedBuffer) owns.
    pub(in super::super) fn to_vec(&self) -> Vec<u8> {
        // SAFETY: the buffer has waited for its last copy, and only its own methods start copies.
        unsafe { self.bytes() }
    }

    /// Replaces the bytes, up to the length of `data`, of memory that a [`PinnedBuffer`](crate::PinnedBuffer) owns.
    pub(in super::super) fn set(&self, data: &[u8]) {
        let bytes = data.len().min(self.len);
        // SAFETY: the range lies in the allocation; the buffer, which is borrowed exclusively, has waited for its last
        // copy.
        unsafe { self.start.cast::<u8>().copy_from_nonoverlapping(data.as_ptr(), bytes) };
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // An error cannot be reported here.
        if let Ok(api) = self.context.current() {
            // SAFETY: the address is from hipHostMalloc and this value is its only owner.
            unsafe { (api.functions.hipHostFree)(self.start) };
        }
    }
}
