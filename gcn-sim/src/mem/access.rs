//! Single accesses to the three memories, with bounds checks.

use crate::error::Space;
use crate::exec::{Cx, Fault};
use crate::value::LANES;

/// Where a lane's access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Global address.
    Global(u64),
    /// LDS byte address.
    Lds(u32),
    /// Byte address in the lane's scratch.
    Scratch(u32),
}

impl Place {
    /// The place `bytes` further on.
    pub(crate) fn plus(self, bytes: u32) -> Place {
        match self {
            Place::Global(a) => Place::Global(a.wrapping_add(u64::from(bytes))),
            Place::Lds(a) => Place::Lds(a.wrapping_add(bytes)),
            Place::Scratch(a) => Place::Scratch(a.wrapping_add(bytes)),
        }
    }

    fn fault(self, write: bool, lane: usize, bytes: u32) -> Fault {
        let (space, address) = match self {
            Place::Global(a) => (Space::Global, a),
            Place::Lds(a) => (Space::Lds, u64::from(a)),
            Place::Scratch(a) => (Space::Scratch, u64::from(a)),
        };
        Fault::OutOfBounds { space, write, lane: Some(lane as u8), address, bytes }
    }
}

/// Reads up to four little-endian bytes.
fn get(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

impl Cx<'_> {
    /// Loads 1, 2 or 4 bytes, zero-extended.
    #[inline]
    pub(crate) fn load(&mut self, place: Place, bytes: u32, lane: usize) -> Result<u32, Fault> {
        match place {
            Place::Global(address) => {
                let at = self.memory.find(address, u64::from(bytes), self.w.memory_hint);
                let at = at.ok_or_else(|| place.fault(false, lane, bytes))?;
                self.w.memory_hint = at;
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
        match place {
            Place::Global(address) => {
                let at = self.memory.find(address, u64::from(bytes), self.w.memory_hint);
                let at = at.ok_or_else(|| place.fault(true, lane, bytes))?;
                self.w.memory_hint = at;
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

    /// Loads up to 16 bytes of LDS as words.
    #[inline]
    pub(crate) fn load_local(&mut self, place: Place, bytes: u32, lane: usize) -> Result<[u32; 4], Fault> {
        let mut raw = [0u8; 16];
        raw[..bytes as usize].copy_from_slice(self.local(place, false, bytes, lane)?);
        let (words, _) = raw.as_chunks::<4>();
        Ok(std::array::from_fn(|i| u32::from_le_bytes(words[i])))
    }

    /// Stores the first `bytes` bytes of four words to LDS.
    #[inline]
    pub(crate) fn store_local(
        &mut self,
        place: Place,
        bytes: u32,
        lane: usize,
        words: [u32; 4],
    ) -> Result<(), Fault> {
        let mut raw = [0u8; 16];
        for (chunk, word) in raw.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *chunk = word.to_le_bytes();
        }
        self.local(place, true, bytes, lane)?.copy_from_slice(&raw[..bytes as usize]);
        Ok(())
    }

    /// Bytes of LDS, or of the lane's scratch.
    #[inline]
    fn local(&mut self, place: Place, write: bool, bytes: u32, lane: usize) -> Result<&mut [u8], Fault> {
        let (memory, start) = match place {
            Place::Lds(address) => {
                if let Some(trace) = self.lds_trace.as_deref_mut() {
                    trace.touch(address, bytes);
                }
                (&mut self.lds[..], address as usize)
            }
            Place::Scratch(address) => {
                let size = self.w.scratch.len() / LANES;
                (&mut self.w.scratch[lane * size..(lane + 1) * size], address as usize)
            }
            Place::Global(_) => (&mut [][..], 0),
        };
        memory.get_mut(start..start + bytes as usize).ok_or_else(|| place.fault(write, lane, bytes))
    }

    /// Atomically replaces a word; returns the old value.
    pub(crate) fn update32(
        &mut self,
        place: Place,
        lane: usize,
        f: impl Fn(u32) -> u32,
    ) -> Result<u32, Fault> {
        self.aligned(place, lane, 4)?;
        if let Place::Global(address) = place {
            let at = self.memory.find(address, 4, self.w.memory_hint);
            let at = at.ok_or_else(|| place.fault(true, lane, 4))?;
            let allocation = self.memory.allocation(at);
            return Ok(allocation.update(allocation.offset(address), f));
        }
        // Waves of a workgroup take turns: nothing comes between load and store.
        let old = self.load(place, 4, lane)?;
        self.store(place, 4, lane, f(old))?;
        Ok(old)
    }

    /// Atomically replaces two words; returns the old value.
    pub(crate) fn update64(
        &mut self,
        place: Place,
        lane: usize,
        f: impl Fn(u64) -> u64,
    ) -> Result<u64, Fault> {
        self.aligned(place, lane, 8)?;
        let memory = self.memory;
        memory.wide_atomic(|| {
            let old = self.load_wide(place, lane)?;
            let new = f(old);
            self.store(place, 4, lane, new as u32)?;
            self.store(place.plus(4), 4, lane, (new >> 32) as u32)?;
            Ok(old)
        })
    }

    fn load_wide(&mut self, place: Place, lane: usize) -> Result<u64, Fault> {
        let low = self.load(place, 4, lane)?;
        let high = self.load(place.plus(4), 4, lane)?;
        Ok(u64::from(low) | u64::from(high) << 32)
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
