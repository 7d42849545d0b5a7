//! Interoperation with other users of HIP in the process: shared streams and memory.
#![allow(unsafe_code, reason = "nothing checks what others say about handles and addresses of HIP")]

use std::ffi::c_void;
use std::sync::Arc;

use super::gpu::Gpu;
use super::hip::{HipDevice, HipStream};
use super::{Device, DeviceBuffer, LaunchError, Stream};
use crate::lang::Stored;

impl Device {
    fn gpu(&self) -> Result<&Gpu, LaunchError> {
        let gpu = self.backend().as_any().downcast_ref();
        gpu.ok_or(LaunchError::OtherDevice { what: "what HIP has made" })
    }

    /// The HIP device; `None` for a simulator.
    pub fn as_hip(&self) -> Option<&HipDevice> {
        self.gpu().ok().map(Gpu::device)
    }

    /// Wraps a stream (`hipStream_t`) that was created elsewhere; null is the default stream. Dropping the result waits
    /// for its work and does not destroy the stream.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`] if the device is a simulator.
    ///
    /// # Safety
    /// `stream` must be a stream of this device that exists at least as long as the result and its clones.
    pub unsafe fn wrap_stream(&self, stream: *mut c_void) -> Result<Stream, LaunchError> {
        Ok(Stream::of(self.backend(), Arc::new(self.gpu()?.device().borrowed_stream(stream))))
    }

    /// Wraps memory that was allocated elsewhere, for example with `hipMalloc`. Dropping the result waits for the
    /// streams that use it and does not free the memory.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`] if the device is a simulator; [`LaunchError::Memory`] if the range overlaps a
    /// buffer of the device.
    ///
    /// # Safety
    /// The device must be able to access `len` elements at this address until the result is dropped, and all other uses
    /// of the memory during that time must be ordered with the streams of this crate that use the result.
    pub unsafe fn wrap_buffer<T: Stored>(
        &self,
        address: u64,
        len: usize,
    ) -> Result<DeviceBuffer<T>, LaunchError> {
        let (gpu, bytes) = (self.gpu()?, super::buffer::bytes_of::<T>(len)?);
        gpu.adopt(gpu.device().borrowed_buffer(address, bytes))?;
        Ok(DeviceBuffer::adopted(self.backend(), address, len, bytes))
    }
}

impl Stream {
    /// The stream's `hipStream_t`, for other users of HIP; `None` for a simulator. It is valid as long as this stream
    /// exists.
    pub fn as_hip(&self) -> Option<*mut c_void> {
        self.handle().downcast_ref::<HipStream>().map(HipStream::handle)
    }
}
