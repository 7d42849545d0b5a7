//! Streams and memory that are shared with other users of HIP in the process.
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

    /// The GPU, if the device is one.
    pub fn as_hip(&self) -> Option<&HipDevice> {
        self.gpu().ok().map(Gpu::device)
    }

    /// A stream that was created elsewhere, a `hipStream_t`; null is the default stream. Dropping the result waits for
    /// its work and does not destroy the stream.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`] if the device is a simulator.
    ///
    /// # Safety
    /// It must be a stream of this device that is not destroyed before the result and its clones.
    pub unsafe fn wrap_stream(&self, stream: *mut c_void) -> Result<Stream, LaunchError> {
        Ok(Stream::of(self.backend(), Arc::new(self.gpu()?.device().borrowed_stream(stream))))
    }

    /// Memory that was allocated elsewhere, for example with `hipMalloc`. Dropping the result waits for the streams
    /// that use it and does not free it.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`] if the device is a simulator; [`LaunchError::Memory`] if the range overlaps a
    /// buffer of the device.
    ///
    /// # Safety
    /// The device must be able to access the elements at this address until the result is dropped, and all other uses
    /// meanwhile must be ordered with the streams here.
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
    /// The `hipStream_t`, for other users of HIP; `None` for a simulator's. It lives as long as this stream.
    pub fn as_hip(&self) -> Option<*mut c_void> {
        self.handle().downcast_ref::<HipStream>().map(HipStream::handle)
    }
}
