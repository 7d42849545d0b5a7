//! Memory by device.

use super::{State, current_device};
use crate::error::{Error, Result};
use crate::heap::Kind;
use crate::host::Ptr;

/// Rows of pitched memory begin at multiples of this.
const PITCH: usize = 256;

/// The kinds of memory that `hipFree` frees: all that was allocated, as ROCm's.
pub(crate) const DEVICE: &[Kind] = &[Kind::Device, Kind::Managed, Kind::Pinned];
/// The kinds of memory that `hipHostFree` frees.
pub(crate) const PINNED: &[Kind] = &[Kind::Pinned];

/// `hipInvalidDeviceId`.
pub(crate) const NO_DEVICE: i32 = -2;

/// Advice about managed memory.
pub(crate) struct Advice {
    pub read_mostly: bool,
    pub preferred: i32,
    pub accessed_by: Vec<i32>,
    pub prefetched: i32,
}

impl Default for Advice {
    fn default() -> Advice {
        Advice { read_mostly: false, preferred: NO_DEVICE, accessed_by: Vec::new(), prefetched: NO_DEVICE }
    }
}

impl State {
    /// Allocates; no bytes are a null pointer.
    pub(crate) fn allocate(&mut self, kind: Kind, bytes: usize, flags: u32) -> Result<Option<Ptr>> {
        let device = current_device();
        self.model(device)?;
        self.wait(device)?;
        if bytes == 0 {
            return Ok(None);
        }
        self.heap.alloc(kind, device, bytes, flags).map(Some)
    }

    /// Allocates rows; gives the pitch as well.
    pub(crate) fn allocate_rows(&mut self, width: usize, rows: usize) -> Result<(Option<Ptr>, usize)> {
        let pitch = width.checked_next_multiple_of(PITCH).ok_or(Error::InvalidValue)?;
        let bytes = pitch.checked_mul(rows).ok_or(Error::InvalidValue)?;
        Ok((self.allocate(Kind::Device, bytes, 0)?, pitch))
    }

    /// Frees; null is nothing to free.
    pub(crate) fn free(&mut self, at: Ptr, kinds: &[Kind]) -> Result {
        if at.is_null() {
            return Ok(());
        }
        self.heap.free(at, kinds, Error::InvalidValue)?;
        self.pools.freed(at);
        self.advice.remove(&at.address());
        Ok(())
    }

    /// Frees everything that a device has, and forgets what went wrong on it.
    pub(crate) fn reset(&mut self, device: usize) {
        self.heap.reset(device);
        self.pools.reset(device);
        let Self { advice, heap, .. } = self;
        advice.retain(|base, _| heap.allocation(*base).is_some());
        self.faults.remove(&device);
        self.hostcalls.remove(&device);
        self.meetings.remove(&device);
        let of = |(handle, stream): (u64, &super::Stream)| {
            (stream.device == device && !super::DEFAULT_STREAMS.contains(&handle)).then_some(handle)
        };
        let streams: Vec<u64> = self.streams.iter().filter_map(of).collect();
        streams.into_iter().for_each(|handle| drop(self.streams.remove(handle)));
    }
}
