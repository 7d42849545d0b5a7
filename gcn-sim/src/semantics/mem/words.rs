//! Accesses of several dwords. Two dwords that form an aligned pair are read or written in one access, so that other threads never see one
//! changed without the other ([`crate::core::memory::allocation`]).

use super::access::Place;
use crate::core::fault::Fault;
use crate::core::machine::Cx;
use crate::core::memory::Combined;
use crate::core::trace::Kind;

/// The number of dwords of the widest vector access.
const MOST: usize = 4;

/// Removes the lane from a fault, because scalar accesses have none.
fn without_lane(fault: Fault) -> Fault {
    match fault {
        Fault::OutOfBounds { space, write, address, bytes, .. } => {
            Fault::OutOfBounds { space, write, lane: None, address, bytes }
        }
        other => other,
    }
}

impl Cx<'_> {
    /// Loads dwords from the given places; a dword without a place is 0.
    #[inline]
    pub(crate) fn load_words(
        &mut self,
        places: [Option<Place>; MOST],
        lane: usize,
    ) -> Result<[u32; MOST], Fault> {
        let mut values = [0; MOST];
        let mut i = 0;
        while i < MOST {
            let Some(place) = places[i] else {
                i += 1;
                continue;
            };
            let next = places.get(i + 1).copied().flatten();
            let pair = next.filter(|next| *next == place.plus(4)).and_then(|_| self.pair(place));
            if let Some(pair) = pair {
                self.note(place, 4, Some(lane as u8), Kind::Read);
                self.note(place.plus(4), 4, Some(lane as u8), Kind::Read);
                (values[i], values[i + 1]) = (pair as u32, (pair >> 32) as u32);
                i += 2;
            } else {
                values[i] = self.load(place, 4, lane)?;
                i += 1;
            }
        }
        Ok(values)
    }

    /// Loads an aligned pair of dwords if `place` is a suitably aligned address in global memory; otherwise `None`.
    #[inline]
    fn pair(&mut self, place: Place) -> Option<u64> {
        let Place::Global(address) = place else { return None };
        let at = self.memory.find(address, 8, self.w.memory_hint()).filter(|_| address.is_multiple_of(8))?;
        self.w.set_memory_hint(at);
        let allocation = self.memory.allocation(at);
        Some(allocation.load_pair(allocation.offset(address)))
    }

    /// Stores the low 1, 2 or 4 bytes of `value`. A store to global memory may be delayed until [`Combined::flush`].
    #[inline]
    pub(crate) fn store_combined(
        &mut self,
        combined: &mut Combined,
        place: Place,
        bytes: u32,
        lane: usize,
        value: u32,
    ) -> Result<(), Fault> {
        if self.trace.is_some() {
            if self.is_put_down(place, bytes, Some(lane as u8), &[value]) {
                return Ok(());
            }
            self.note(place, bytes, Some(lane as u8), Kind::Write);
            let stored = self.combine(combined, place, bytes, lane, value);
            return self.excuse(stored);
        }
        self.combine(combined, place, bytes, lane, value)
    }

    #[inline]
    fn combine(
        &mut self,
        combined: &mut Combined,
        place: Place,
        bytes: u32,
        lane: usize,
        value: u32,
    ) -> Result<(), Fault> {
        let Place::Global(address) = place else { return self.put(place, bytes, lane, value) };
        let at = self.memory.find(address, u64::from(bytes), self.w.memory_hint());
        let at = at.ok_or_else(|| place.fault(true, lane, bytes))?;
        self.w.set_memory_hint(at);
        let offset = self.memory.allocation(at).offset(address);
        combined.store(self.memory, at, offset, bytes, value);
        Ok(())
    }

    /// Ends a lane's stores. With a trace, they must be in memory before the next lane's stores are recorded; otherwise they may be
    /// combined with those.
    #[inline]
    pub(crate) fn finish_lane(&mut self, combined: &mut Combined) {
        if self.trace.is_some() {
            combined.flush(self.memory);
        }
    }

    /// Loads dwords through scalar memory, which has no lanes; a dword without an address is 0.
    #[inline]
    pub(crate) fn load_scalars(
        &mut self,
        address: impl Fn(usize) -> Option<u64>,
        to: &mut [u32],
    ) -> Result<(), Fault> {
        let mut i = 0;
        while i < to.len() {
            let Some(first) = address(i) else {
                i += 1;
                continue;
            };
            let place = Place::Global(first);
            self.note(place, 4, None, Kind::Read);
            let is_pair = i + 1 < to.len() && address(i + 1) == Some(first.wrapping_add(4));
            if let Some(pair) = is_pair.then(|| self.pair(place)).flatten() {
                self.note(place.plus(4), 4, None, Kind::Read);
                (to[i], to[i + 1]) = (pair as u32, (pair >> 32) as u32);
                i += 2;
            } else {
                let loaded = self.fetch(place, 4, 0).map_err(without_lane);
                to[i] = self.excuse(loaded)?;
                i += 1;
            }
        }
        Ok(())
    }

    /// Loads one or two bytes through scalar memory.
    pub(crate) fn load_scalar_part(&mut self, address: u64, bytes: u32) -> Result<u32, Fault> {
        let place = Place::Global(address);
        self.note(place, bytes, None, Kind::Read);
        let loaded = self.fetch(place, bytes, 0).map_err(without_lane);
        self.excuse(loaded)
    }

    /// Stores a dword through scalar memory. The store may be delayed until [`Combined::flush`].
    #[inline]
    pub(crate) fn store_scalar(
        &mut self,
        combined: &mut Combined,
        address: u64,
        value: u32,
    ) -> Result<(), Fault> {
        let place = Place::Global(address);
        if self.is_put_down(place, 4, None, &[value]) {
            return Ok(());
        }
        self.note(place, 4, None, Kind::Write);
        let stored = self.combine(combined, place, 4, 0, value).map_err(without_lane);
        self.excuse(stored)
    }
}
