//! Device memory of HIP.

use std::ffi::c_void;
use std::fmt;
use std::ptr;

use super::{Context, HipError};

/// An allocation of device memory, freed when dropped.
pub struct HipBuffer {
    context: Context,
    start: *mut c_void,
    len: usize,
    /// True if the memory is from `hipMalloc` and this value frees it.
    owned: bool,
}

// SAFETY: the address belongs to the device and is never dereferenced on the host; HIP's functions may be called from
// any thread.
unsafe impl Send for HipBuffer {}
// SAFETY: as above; simultaneous copies to and from one buffer race only on the device, as two kernels' accesses would.
unsafe impl Sync for HipBuffer {}

impl fmt::Debug for HipBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HipBuffer({:#x}, {} bytes)", self.address(), self.len)
    }
}

impl HipBuffer {
    pub(super) fn new(context: Context, len: usize) -> Result<HipBuffer, HipError> {
        let mut start = ptr::null_mut();
        let api = context.current()?;
        // An empty buffer also gets an address of its own: for 0 bytes HIP would return null. SAFETY: `start` may be
        // written.
        let code = unsafe { (api.functions.hipMalloc)(&raw mut start, len.max(1)) };
        api.check("hipMalloc", code)?;
        drop(api);
        Ok(HipBuffer { context, start, len, owned: true })
    }

    /// Memory that is allocated and freed elsewhere.
    pub(super) fn borrowed(context: Context, address: u64, len: usize) -> HipBuffer {
        HipBuffer { context, start: ptr::without_provenance_mut(address as usize), len, owned: false }
    }

    /// The address on the device. It is unique as long as this buffer exists.
    pub fn address(&self) -> u64 {
        self.start.addr() as u64
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if the size is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies `data` to the device, at byte `offset` of the buffer, and waits for the copy.
    ///
    /// # Errors
    /// [`HipError::OutOfRange`], [`HipError::Call`].
    pub fn write(&self, offset: usize, data: &[u8]) -> Result<(), HipError> {
        let Some(at) = self.place(offset, data.len())? else { return Ok(()) };
        let api = self.context.current()?;
        // SAFETY: `place` has checked that the range lies in this allocation; `data` is readable.
        let code = unsafe { (api.functions.hipMemcpyHtoD)(at, data.as_ptr().cast(), data.len()) };
        api.check("hipMemcpyHtoD", code)
    }

    /// Copies bytes from the device, from byte `offset` of the buffer. Waits for kernels that were started before.
    ///
    /// # Errors
    /// [`HipError::OutOfRange`], [`HipError::Call`].
    pub fn read(&self, offset: usize, data: &mut [u8]) -> Result<(), HipError> {
        let Some(at) = self.place(offset, data.len())? else { return Ok(()) };
        let api = self.context.current()?;
        // SAFETY: `place` has checked that the range lies in this allocation; `data` is writable.
        let code = unsafe { (api.functions.hipMemcpyDtoH)(data.as_mut_ptr().cast(), at, data.len()) };
        api.check("hipMemcpyDtoH", code)
    }

    /// Copies `bytes` bytes from the device, from byte `offset` of the buffer.
    pub(in super::super) fn read_vec(&self, offset: usize, bytes: usize) -> Result<Vec<u8>, HipError> {
        // Check the range before host memory is allocated.
        self.place(offset, bytes)?;
        let mut data = vec![0; bytes];
        self.read(offset, &mut data)?;
        Ok(data)
    }

    /// The address of a range, for operations of a stream; `None` if the range is empty.
    pub(super) fn range(&self, offset: usize, bytes: usize) -> Result<Option<*mut c_void>, HipError> {
        self.place(offset, bytes)
    }

    /// A range of the buffer as a separate, borrowed buffer, for a copy that is started while this one exists.
    pub(in super::super) fn share(&self, offset: usize, bytes: usize) -> Result<HipBuffer, HipError> {
        self.place(offset, bytes)?;
        let address = self.address() + offset as u64;
        Ok(HipBuffer::borrowed(self.context.clone(), address, bytes))
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// The address of a range in the buffer; `None` if it is empty.
    fn place(&self, offset: usize, bytes: usize) -> Result<Option<*mut c_void>, HipError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.len => {
                Ok((bytes > 0).then(|| self.start.cast::<u8>().wrapping_add(offset).cast()))
            }
            _ => Err(HipError::OutOfRange { offset, bytes, len: self.len }),
        }
    }
}

impl Drop for HipBuffer {
    fn drop(&mut self) {
        if self.start.is_null() || !self.owned {
            return;
        }
        // The error cannot be reported here; the memory of a lost device is lost with it.
        if let Ok(api) = self.context.current() {
            // SAFETY: the address is from hipMalloc and this value is its only owner.
            unsafe { (api.functions.hipFree)(self.start) };
        }
    }
}
