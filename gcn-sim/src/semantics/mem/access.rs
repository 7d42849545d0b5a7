//! Single accesses to global memory, LDS and scratch, with bounds checks.

use smallvec::SmallVec;

use crate::core::fault::Fault;
use crate::core::machine::Cx;
use crate::core::site::Space;
use crate::core::trace::{Kind, Path, Touch};
use crate::core::value::{LANES, lanes};
use crate::core::wave::Lanes;

/// The memory and the address of a lane's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A global address.
    Global(u64),
    /// A byte offset in LDS.
    Lds(u32),
    /// A byte offset in the lane's scratch.
    Scratch(u32),
}

impl Place {
    /// The place that is `bytes` bytes after this one.
    pub(crate) fn plus(self, bytes: u32) -> Place {
        match self {
            Place::Global(a) => Place::Global(a.wrapping_add(u64::from(bytes))),
            Place::Lds(a) => Place::Lds(a.wrapping_add(bytes)),
            Place::Scratch(a) => Place::Scratch(a.wrapping_add(bytes)),
        }
    }

    pub(super) fn fault(self, write: bool, lane: usize, bytes: u32) -> Fault {
        let (space, address) = match self {
            Place::Global(a) => (Space::Global, a),
            Place::Lds(a) => (Space::Lds, u64::from(a)),
            Place::Scratch(a) => (Space::Scratch, u64::from(a)),
        };
        Fault::OutOfBounds { space, write, lane: Some(lane as u8), address, bytes }
    }
}

/// The record of an access.
fn touch(place: Place, bytes: u32, lane: Option<u8>, kind: Kind) -> Touch {
    let (space, address) = match place {
        Place::Global(a) if lane.is_none() => (Path::Scalar, a),
        Place::Global(a) => (Path::Global, a),
        Place::Lds(a) => (Path::Lds, u64::from(a)),
        Place::Scratch(a) => (Path::Scratch, u64::from(a)),
    };
    Touch { space, lane, address, bytes: bytes as u16, kind }
}

/// Up to four bytes as a little-endian number.
fn get(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// The end of the last lane's datum of `bytes` bytes, if the datum of each active lane begins after that of the lane before.
#[inline]
fn ascending(active: u64, bytes: u64, at: impl Fn(usize) -> u64) -> Option<u64> {
    let mut end = 0;
    for lane in lanes(active) {
        if at(lane) < end {
            return None;
        }
        end = at(lane) + bytes;
    }
    Some(end)
}

/// True if no two of these data of `bytes` bytes overlap.
fn are_apart(addresses: impl Iterator<Item = u64>, bytes: u64) -> bool {
    let mut addresses: SmallVec<[u64; 2 * LANES]> = addresses.collect();
    addresses.sort_unstable();
    addresses.windows(2).all(|pair| pair[1] - pair[0] >= bytes)
}

impl Cx<'_> {
    /// True if the accesses of an instruction may be performed together, instead of each being recorded before it happens. Those to LDS
    /// must be recorded afterwards, with [`Cx::note_lds`].
    #[inline]
    pub(super) fn is_at_once(&self) -> bool {
        self.trace.as_deref().is_none_or(|trace| trace.only_lds)
    }

    /// True if the accesses of an instruction may be performed together: there is no trace, or the trace permits it. Then
    /// [`Cx::note_global`], [`Cx::note_stores`] or [`Cx::note_lds`] must record them.
    #[inline]
    pub(super) fn may_be_together(&self) -> bool {
        self.trace.as_deref().is_none_or(|trace| trace.only_lds || trace.at_once)
    }

    /// Records accesses to global memory that are performed together, if there is a trace of them: for each active lane, `pieces` times
    /// `bytes` bytes from the address of the lane on, which is in the allocation. `None` if stores must be performed one after the other.
    #[inline]
    pub(super) fn note_global(
        &mut self,
        (allocation, active): (usize, u64),
        (pieces, bytes): (u16, u32),
        kind: Kind,
        address: impl Fn(usize) -> u64,
    ) -> Option<()> {
        let Some(trace) = self.trace.as_deref_mut().filter(|trace| !trace.only_lds) else { return Some(()) };
        let (step, size) = (u64::from(bytes), u64::from(pieces) * u64::from(bytes));
        if kind == Kind::Write {
            let allocation = self.memory.allocation(allocation);
            let end = ascending(active, size, &address);
            if end.is_none() && !are_apart(lanes(active).map(&address), size) {
                return None;
            }
            let start = address(active.trailing_zeros() as usize);
            let bytes = size * u64::from(active.count_ones());
            if trace.keep && end == Some(start + bytes) {
                let kept = trace.replaced.len();
                trace.replaced.resize(kept + bytes as usize, 0);
                allocation.read(allocation.offset(start), &mut trace.replaced[kept..]);
            } else if trace.keep {
                for lane in lanes(active) {
                    let mut old = [0; 16];
                    let old = &mut old[..size as usize];
                    allocation.read(allocation.offset(address(lane)), old);
                    trace.replaced.extend_from_slice(old);
                }
            }
        }
        let piece = |lane: usize, piece: u16| {
            touch(Place::Global(address(lane) + u64::from(piece) * step), bytes, Some(lane as u8), kind)
        };
        match pieces {
            1 => trace.touches.extend(lanes(active).map(|lane| piece(lane, 0))),
            _ => {
                trace.touches.extend(lanes(active).flat_map(|lane| (0..pieces).map(move |n| piece(lane, n))));
            }
        }
        Some(())
    }

    /// Records stores of `bytes` bytes to LDS that are performed together: one of each active lane at each of its addresses. `None` if they
    /// must be performed one after the other, because one is out of bounds, or two may overlap.
    pub(super) fn note_stores(&mut self, at: &[&Lanes], active: u64, bytes: usize) -> Option<()> {
        self.can_store(at, active, bytes)?;
        let (lds, trace) = (&self.lds, self.trace.as_deref_mut()?);
        for (lane, at) in lanes(active).flat_map(|lane| at.iter().map(move |at| (lane, at[lane]))) {
            trace.touches.push(touch(Place::Lds(at), bytes as u32, Some(lane as u8), Kind::Write));
            if trace.keep {
                trace.replaced.extend_from_slice(&lds[at as usize..at as usize + bytes]);
            }
        }
        Some(())
    }

    /// `None` if these stores to LDS must be performed one after the other.
    fn can_store(&self, at: &[&Lanes], active: u64, bytes: usize) -> Option<()> {
        let addresses = || at.iter().flat_map(|at| lanes(active).map(|lane| u64::from(at[lane])));
        let inside = addresses().all(|address| address + bytes as u64 <= self.lds.len() as u64);
        let ascend = at.len() == 1 && ascending(active, bytes as u64, |lane| at[0][lane].into()).is_some();
        (inside && (ascend || are_apart(addresses(), bytes as u64))).then_some(())
    }

    /// Records copies of a load to LDS that are performed together, if there is a trace: for each active lane, of `pieces` dwords from its
    /// address on to the place in LDS that starts at `start` plus the lane's number times their size. All are in bounds.
    pub(super) fn note_copies(
        &mut self,
        active: u64,
        pieces: u32,
        start: u32,
        address: impl Fn(usize) -> u64,
    ) {
        let (lds, Some(trace)) = (&self.lds, self.trace.as_deref_mut()) else { return };
        for lane in lanes(active) {
            let to = start + 4 * pieces * lane as u32;
            let piece = |place: Place, kind| touch(place, 4, Some(lane as u8), kind);
            if !trace.only_lds {
                let from = |n: u32| Place::Global(address(lane) + 4 * u64::from(n));
                trace.touches.extend((0..pieces).map(|n| piece(from(n), Kind::Read)));
            }
            trace.touches.extend((0..pieces).map(|n| piece(Place::Lds(to + 4 * n), Kind::Write)));
            if trace.keep {
                trace.replaced.extend_from_slice(&lds[to as usize..(to + 4 * pieces) as usize]);
            }
        }
    }

    /// Records accesses of `bytes` bytes to scratch, in pieces of at most four, if there is a trace of them.
    #[inline]
    pub(super) fn note_scratch(&mut self, at: &Lanes, active: u64, bytes: usize, kind: Kind) {
        let size = self.w.scratch.len() / LANES;
        let Some(trace) = self.trace.as_deref_mut().filter(|trace| !trace.only_lds) else { return };
        for lane in lanes(active) {
            let first = at[lane] - (lane * size) as u32;
            let piece = |ahead: usize| {
                let place = Place::Scratch(first + ahead as u32);
                touch(place, bytes.min(4) as u32, Some(lane as u8), kind)
            };
            trace.touches.extend((0..bytes).step_by(4).map(piece));
        }
    }

    /// Records accesses to LDS of `bytes` bytes at the addresses of active lanes, if there is a trace.
    #[inline]
    pub(super) fn note_lds(&mut self, at: &Lanes, active: u64, bytes: usize, kind: Kind) {
        let Some(trace) = self.trace.as_deref_mut() else { return };
        let of_lane = |lane: usize| touch(Place::Lds(at[lane]), bytes as u32, Some(lane as u8), kind);
        if !trace.only_lds {
            return trace.touches.extend(lanes(active).map(of_lane));
        }
        let mut active = lanes(active);
        let Some(mut run) = active.next().map(of_lane) else { return };
        for lane in active {
            if u64::from(at[lane]) == run.address + u64::from(run.bytes) {
                run.bytes += bytes as u16;
            } else {
                trace.touches.push(std::mem::replace(&mut run, of_lane(lane)));
            }
        }
        trace.touches.push(run);
    }

    /// As [`Cx::note_lds`], for two accesses of each lane.
    pub(super) fn note_two(&mut self, at: &[Lanes; 2], active: u64, bytes: usize, kind: Kind) {
        let Some(trace) = self.trace.as_deref_mut() else { return };
        if trace.only_lds {
            return at.iter().for_each(|at| self.note_lds(at, active, bytes, kind));
        }
        let of_lane = |lane: usize| {
            at.each_ref().map(|at| touch(Place::Lds(at[lane]), bytes as u32, Some(lane as u8), kind))
        };
        trace.touches.extend(lanes(active).flat_map(of_lane));
    }

    /// Loads 1, 2 or 4 bytes, zero-extended.
    #[inline]
    pub(crate) fn load(&mut self, place: Place, bytes: u32, lane: usize) -> Result<u32, Fault> {
        if self.trace.is_some() {
            self.note(place, bytes, Some(lane as u8), Kind::Read);
            let loaded = self.fetch(place, bytes, lane);
            return self.excuse(loaded);
        }
        self.fetch(place, bytes, lane)
    }

    #[inline]
    pub(super) fn fetch(&mut self, place: Place, bytes: u32, lane: usize) -> Result<u32, Fault> {
        match place {
            Place::Global(address) => {
                let at = self.memory.find(address, u64::from(bytes), self.w.memory_hint());
                let at = at.ok_or_else(|| place.fault(false, lane, bytes))?;
                self.w.set_memory_hint(at);
                let allocation = self.memory.allocation(at);
                Ok(allocation.load(allocation.offset(address), bytes))
            }
            Place::Lds(_) | Place::Scratch(_) => {
                let slice = self.local(place, false, bytes, lane)?;
                Ok(match *slice {
                    [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
                    ref other => get(other),
                })
            }
        }
    }

    /// Stores the low 1, 2 or 4 bytes of `value`.
    #[inline]
    pub(crate) fn store(&mut self, place: Place, bytes: u32, lane: usize, value: u32) -> Result<(), Fault> {
        if self.trace.is_some() {
            if self.is_put_down(place, bytes, Some(lane as u8), &[value]) {
                return Ok(());
            }
            self.note(place, bytes, Some(lane as u8), Kind::Write);
            let stored = self.put(place, bytes, lane, value);
            return self.excuse(stored);
        }
        self.put(place, bytes, lane, value)
    }

    /// Checks and records a store whose data are written later, with [`Cx::put`].
    pub(super) fn check_store(&mut self, place: Place, bytes: u32, lane: usize) -> Result<(), Fault> {
        self.note(place, bytes, Some(lane as u8), Kind::Write);
        let there = match place {
            Place::Global(address) => {
                let at = self.memory.find(address, u64::from(bytes), self.w.memory_hint());
                at.map(|_| ()).ok_or_else(|| place.fault(true, lane, bytes))
            }
            Place::Lds(_) | Place::Scratch(_) => self.local(place, true, bytes, lane).map(|_| ()),
        };
        self.excuse(there)
    }

    #[inline]
    pub(super) fn put(&mut self, place: Place, bytes: u32, lane: usize, value: u32) -> Result<(), Fault> {
        match place {
            Place::Global(address) => {
                let at = self.memory.find(address, u64::from(bytes), self.w.memory_hint());
                let at = at.ok_or_else(|| place.fault(true, lane, bytes))?;
                self.w.set_memory_hint(at);
                let allocation = self.memory.allocation(at);
                allocation.store(allocation.offset(address), bytes, value);
            }
            Place::Lds(_) | Place::Scratch(_) => {
                let slice = self.local(place, true, bytes, lane)?;
                slice.copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
            }
        }
        Ok(())
    }

    /// Loads up to 16 bytes of LDS as dwords.
    #[inline]
    pub(crate) fn load_local(&mut self, place: Place, bytes: u32, lane: usize) -> Result<[u32; 4], Fault> {
        self.note(place, bytes, Some(lane as u8), Kind::Read);
        let mut to = [0; 4];
        match self.local(place, false, bytes, lane) {
            Ok(slice) => {
                // Dword by dword, because copying a variable number of bytes would be a call.
                let (words, rest) = slice.as_chunks::<4>();
                to.iter_mut().zip(words).for_each(|(to, word)| *to = u32::from_le_bytes(*word));
                if !rest.is_empty() {
                    to[words.len()] = get(rest);
                }
            }
            Err(fault) => self.excuse(Err(fault))?,
        }
        Ok(to)
    }

    /// Stores the first `bytes` bytes of four dwords to LDS.
    #[inline]
    pub(crate) fn store_local(
        &mut self,
        place: Place,
        bytes: u32,
        lane: usize,
        words: [u32; 4],
    ) -> Result<(), Fault> {
        if self.is_put_down(place, bytes, Some(lane as u8), &words) {
            return Ok(());
        }
        self.note(place, bytes, Some(lane as u8), Kind::Write);
        match self.local(place, true, bytes, lane) {
            Ok(slice) => {
                let (to, rest) = slice.as_chunks_mut::<4>();
                to.iter_mut().zip(words).for_each(|(to, word)| *to = word.to_le_bytes());
                if !rest.is_empty() {
                    rest.copy_from_slice(&words[to.len()].to_le_bytes()[..rest.len()]);
                }
            }
            Err(fault) => self.excuse(Err(fault))?,
        }
        Ok(())
    }

    /// The bytes in LDS or in the lane's scratch.
    #[inline]
    fn local(&mut self, place: Place, write: bool, bytes: u32, lane: usize) -> Result<&mut [u8], Fault> {
        let (memory, start) = match place {
            Place::Lds(address) => (&mut self.lds[..], address as usize),
            Place::Scratch(address) => {
                let size = self.w.scratch.len() / LANES;
                (&mut self.w.scratch[lane * size..(lane + 1) * size], address as usize)
            }
            Place::Global(_) => (&mut [][..], 0),
        };
        memory.get_mut(start..start + bytes as usize).ok_or_else(|| place.fault(write, lane, bytes))
    }

    /// Atomically updates a dword; returns the old value.
    pub(crate) fn update32(
        &mut self,
        place: Place,
        lane: usize,
        f: impl Fn(u32) -> u32,
    ) -> Result<u32, Fault> {
        self.note_atomic(place, 4, lane);
        let updated = self.update_word(place, lane, f);
        self.excuse(updated)
    }

    #[inline]
    fn update_word(&mut self, place: Place, lane: usize, f: impl Fn(u32) -> u32) -> Result<u32, Fault> {
        self.aligned(place, lane, 4)?;
        if let Place::Global(address) = place {
            let at = self.memory.find(address, 4, self.w.memory_hint());
            let at = at.ok_or_else(|| place.fault(true, lane, 4))?;
            self.w.set_memory_hint(at);
            let allocation = self.memory.allocation(at);
            return Ok(allocation.update(allocation.offset(address), f));
        }
        // The waves of a workgroup take turns on one thread, so no other access happens between load and store.
        let old = self.fetch(place, 4, lane)?;
        self.put(place, 4, lane, f(old))?;
        Ok(old)
    }

    /// Atomically updates two dwords; returns the old value.
    pub(crate) fn update64(
        &mut self,
        place: Place,
        lane: usize,
        f: impl Fn(u64) -> u64,
    ) -> Result<u64, Fault> {
        self.note_atomic(place, 8, lane);
        let updated = self.update_pair(place, lane, f);
        self.excuse(updated)
    }

    fn update_pair(&mut self, place: Place, lane: usize, f: impl Fn(u64) -> u64) -> Result<u64, Fault> {
        self.aligned(place, lane, 8)?;
        if let Place::Global(address) = place {
            let at = self.memory.find(address, 8, self.w.memory_hint());
            let at = at.ok_or_else(|| place.fault(true, lane, 8))?;
            self.w.set_memory_hint(at);
            let allocation = self.memory.allocation(at);
            return Ok(allocation.update_pair(allocation.offset(address), f));
        }
        let old = self.load_wide(place, lane)?;
        let new = f(old);
        self.put(place, 4, lane, new as u32)?;
        self.put(place.plus(4), 4, lane, (new >> 32) as u32)?;
        Ok(old)
    }

    fn load_wide(&mut self, place: Place, lane: usize) -> Result<u64, Fault> {
        let low = self.fetch(place, 4, lane)?;
        let high = self.fetch(place.plus(4), 4, lane)?;
        Ok(u64::from(low) | u64::from(high) << 32)
    }

    #[inline]
    fn note_atomic(&mut self, place: Place, bytes: u32, lane: usize) {
        if self.trace.is_some() && self.aligned(place, lane, bytes).is_ok() {
            self.note(place, bytes, Some(lane as u8), Kind::Atomic);
        }
    }

    /// If stores must only be recorded (`Trace::stored`), records the store and returns true; otherwise returns false.
    #[inline]
    pub(super) fn is_put_down(&mut self, place: Place, bytes: u32, lane: Option<u8>, words: &[u32]) -> bool {
        let Some(stored) = self.trace.as_deref_mut().and_then(|trace| trace.stored.as_mut()) else {
            return false;
        };
        let all = words.iter().rev().fold(0, |all, word| all << 32 | u128::from(*word));
        let mask = u128::MAX >> (128 - 8 * bytes.clamp(1, 16));
        stored.push((touch(place, bytes, lane, Kind::Write), all & mask));
        true
    }

    /// Records an access before it happens, if there is a trace.
    #[inline]
    pub(super) fn note(&mut self, place: Place, bytes: u32, lane: Option<u8>, kind: Kind) {
        if self.trace.is_some() {
            self.record(place, bytes, lane, kind);
        }
    }

    #[cold]
    fn record(&mut self, place: Place, bytes: u32, lane: Option<u8>, kind: Kind) {
        let mut old = [0; 16];
        let number = usize::from(lane.unwrap_or(0));
        // With other settings, a bad access ends the run, so recording it makes no difference.
        let looks = self.trace.as_ref().is_some_and(|trace| trace.keep || trace.lenient);
        let inside = !looks || self.peek(place, number, &mut old[..bytes as usize]);
        let Some(trace) = self.trace.as_deref_mut().filter(|_| inside) else { return };
        let touch = touch(place, bytes, lane, kind);
        trace.touches.push(touch);
        if trace.keep && touch.space != Path::Scratch {
            match kind {
                Kind::Read => {}
                Kind::Write => trace.replaced.extend_from_slice(&old[..bytes as usize]),
                Kind::Atomic => trace.updated.extend_from_slice(&old[..bytes as usize]),
            }
        }
    }

    /// Reads bytes without recording the access. Returns false if they are out of bounds.
    fn peek(&mut self, place: Place, lane: usize, to: &mut [u8]) -> bool {
        if let Place::Global(address) = place {
            return self.memory.peek(address, to);
        }
        let found = self.local(place, false, to.len() as u32, lane).map(|from| to.copy_from_slice(from));
        found.is_ok()
    }

    /// If the trace is lenient, adds the fault of a bad access to the trace and returns a default value; otherwise returns the outcome
    /// unchanged.
    pub(super) fn excuse<T: Default>(&mut self, outcome: Result<T, Fault>) -> Result<T, Fault> {
        match (outcome, self.trace.as_deref_mut()) {
            (Err(fault), Some(trace)) if trace.lenient => {
                trace.faults.push(fault);
                Ok(T::default())
            }
            (outcome, _) => outcome,
        }
    }

    fn aligned(&self, place: Place, lane: usize, alignment: u32) -> Result<(), Fault> {
        let address = match place {
            Place::Global(a) => a,
            Place::Lds(a) | Place::Scratch(a) => u64::from(a),
        };
        if address % u64::from(alignment) == 0 {
            return Ok(());
        }
        Err(Fault::Misaligned { lane: lane as u8, address, alignment })
    }
}
