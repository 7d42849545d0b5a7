//! Memory of each device.

use std::collections::BTreeMap;

use super::{State, current_device};
use crate::error::{Error, Result};
use crate::heap::Kind;
use crate::host::{self, Ptr};

/// The alignment in bytes of rows in pitched memory.
const PITCH: usize = 256;

/// The kinds of memory that `hipFree` frees: as in ROCm, all kinds that can be allocated.
pub(crate) const DEVICE: &[Kind] = &[Kind::Device, Kind::Managed, Kind::Pinned];
/// The kinds of memory that `hipHostFree` frees.
pub(crate) const PINNED: &[Kind] = &[Kind::Pinned];

/// `hipInvalidDeviceId`.
pub(crate) const NO_DEVICE: i32 = -2;

/// Advice about managed memory.
#[derive(Clone)]
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

impl Advice {
    /// The advice that two ranges have in common.
    fn and(mut self, other: &Advice) -> Advice {
        let one = |a, b| if a == b { a } else { NO_DEVICE };
        self.read_mostly &= other.read_mostly;
        self.preferred = one(self.preferred, other.preferred);
        self.prefetched = one(self.prefetched, other.prefetched);
        self.accessed_by.retain(|device| other.accessed_by.contains(device));
        self
    }
}

/// Advice about non-overlapping address ranges: for the start address of each, its end and the advice.
#[derive(Default)]
pub(crate) struct Advices(BTreeMap<u64, (u64, Advice)>);

impl Advices {
    /// Splits the range that contains an address at that address.
    fn split(&mut self, at: u64) {
        if let Some((_, (end, advice))) = self.0.range_mut(..at).next_back()
            && *end > at
        {
            let rest = (std::mem::replace(end, at), advice.clone());
            self.0.insert(at, rest);
        }
    }

    /// Changes the advice about `from..to`.
    pub(crate) fn change(&mut self, from: u64, to: u64, change: impl Fn(&mut Advice)) {
        self.split(from);
        self.split(to);
        let mut at = from;
        while at < to {
            let next = self.0.range(at..to).next().map(|(start, (end, _))| (*start, *end));
            at = match next {
                Some((start, end)) if start == at => end,
                next => {
                    let end = next.map_or(to, |(start, _)| start);
                    self.0.insert(at, (end, Advice::default()));
                    end
                }
            };
        }
        self.0.range_mut(from..to).for_each(|(_, (_, advice))| change(advice));
    }

    /// The advice that all parts of `from..to` have in common; the range must not be empty.
    pub(crate) fn of(&self, from: u64, to: u64) -> Advice {
        let none = Advice::default();
        let before = self.0.range(..=from).next_back().filter(|(_, (end, _))| *end > from);
        let (mut at, mut common) = (from, None);
        let mut add = |advice: &Advice| {
            common = Some(common.take().map_or_else(|| advice.clone(), |common: Advice| common.and(advice)));
        };
        for (start, (end, advice)) in before.into_iter().chain(self.0.range(from + 1..to.max(from + 1))) {
            if *start > at {
                add(&none);
            }
            add(advice);
            at = *end;
        }
        if at < to {
            add(&none);
        }
        common.unwrap_or(none)
    }

    /// Removes the advice about `from..to`.
    fn forget(&mut self, from: u64, to: u64) {
        self.split(from);
        self.split(to);
        self.0.retain(|start, _| !(from..to).contains(start));
    }
}

impl State {
    /// Allocates memory; with size 0, returns a null pointer.
    pub(crate) fn allocate(&mut self, kind: Kind, bytes: usize, flags: u32) -> Result<Option<Ptr>> {
        let device = current_device();
        self.model(device)?;
        self.wait(device)?;
        if bytes == 0 {
            return Ok(None);
        }
        self.heap.alloc(kind, device, bytes, flags).map(Some)
    }

    /// Allocates rows; also returns the pitch.
    pub(crate) fn allocate_rows(&mut self, width: usize, rows: usize) -> Result<(Option<Ptr>, usize)> {
        let pitch = width.checked_next_multiple_of(PITCH).ok_or(Error::InvalidValue)?;
        let bytes = pitch.checked_mul(rows).ok_or(Error::InvalidValue)?;
        Ok((self.allocate(Kind::Device, bytes, 0)?, pitch))
    }

    /// Frees memory; a null pointer is ignored.
    pub(crate) fn free(&mut self, at: Ptr, kinds: &[Kind]) -> Result {
        if at.is_null() {
            return Ok(());
        }
        if self.reserved.contains(&at) {
            return self.free_reserved(at);
        }
        let bytes = self.heap.allocation(at.address()).map_or(0, |found| found.bytes as u64);
        self.heap.free(at, kinds, Error::InvalidValue)?;
        self.pools.freed(at);
        self.waiting.remove(&at);
        self.advice.forget(at.address(), at.address() + bytes.next_multiple_of(host::ALIGN as u64));
        Ok(())
    }

    /// Frees all memory of a device and clears its error.
    pub(crate) fn reset(&mut self, device: usize) {
        self.heap.reset(device);
        self.pools.reset(device);
        let Self { advice, heap, reserved, waiting, .. } = self;
        advice.0.retain(|start, _| heap.covers(*start));
        [reserved, waiting]
            .into_iter()
            .for_each(|set| set.retain(|at| heap.allocation(at.address()).is_some()));
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
