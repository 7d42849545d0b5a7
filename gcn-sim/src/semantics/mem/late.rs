//! Delays the LDS accesses of copies between memory and LDS.
//!
//! A load to LDS reads memory when it is issued. The mode determines when the data are written to LDS. In functional mode they are written
//! at once, because each wave runs as far as it can. In faithful mode they are written when the wave waits for the load, which is the
//! latest time that a race-free program allows; for the same reason, an asynchronous store from LDS then reads LDS only when the wave waits
//! for it. In timed mode the data of loads are written in the cycle in which the load completes. Some programs rely
//! on the duration of a copy: in AMD's flash attention for gfx950, waves load over tiles that other waves have yet to read. The results of
//! such programs are right if waves stay close together (`Options::turn`), which timed mode does not guarantee.

use std::sync::Arc;

use gcn_isa::counters::{MemoryEffect, Stream, WaitCnt, events};
use gcn_isa::{Class, Target};

use super::access::Place;
use crate::core::fault::{Done, Fault};
use crate::core::late::{Copy, Other, Piece, When};
use crate::core::machine::{Cx, Exec, Step};

impl Cx<'_> {
    /// Starts a store from LDS.
    pub(super) fn begin_copy_from_lds(&mut self) {
        if self.w.late.when == When::Waited {
            self.begin_copy();
        }
    }

    /// Starts a load to LDS.
    pub(super) fn begin_copy(&mut self) {
        let late = &mut self.w.late;
        if late.when != When::Issued {
            late.copies.push_back(Copy { number: late.issued, done: u64::MAX, pieces: Vec::new() });
        }
    }

    /// Adds a dword, or a byte if `bytes` is 1, to the load that was started last.
    pub(super) fn copy_piece(
        &mut self,
        (to, bytes): (u32, u32),
        lane: usize,
        value: u32,
    ) -> Result<(), Fault> {
        if self.w.late.when == When::Issued {
            return self.store(Place::Lds(to), bytes, lane, value);
        }
        // Reports a bad address at the load, not at the later wait.
        self.check_store(Place::Lds(to), bytes, lane)?;
        if let Some(copy) = self.w.late.copies.back_mut() {
            copy.pieces.push(Piece {
                lds: to,
                bytes: bytes as u8,
                lane: lane as u8,
                other: Other::Data(value),
            });
        }
        Ok(())
    }

    /// Adds a dword, or a byte if `bytes` is 1, to the store from LDS that was started last. `to` is `None` if the lane stores nothing.
    pub(super) fn copy_from_lds(
        &mut self,
        (from, bytes): (u32, u32),
        lane: usize,
        to: Option<Place>,
    ) -> Result<(), Fault> {
        let value = self.load(Place::Lds(from), bytes, lane)?;
        let Some(to) = to else { return Ok(()) };
        match (to, self.w.late.when, self.w.late.copies.back_mut()) {
            (Place::Global(address), When::Waited, Some(copy)) => {
                let other = Other::To(address);
                copy.pieces.push(Piece { lds: from, bytes: bytes as u8, lane: lane as u8, other });
                // Reports a bad address at the store, not at the later wait.
                self.check_store(to, bytes, lane)
            }
            _ => self.store(to, bytes, lane, value),
        }
    }

    /// Executes the wave's pending copies, oldest first, until one is not `finished`.
    fn finish_copies(&mut self, finished: impl Fn(&Copy) -> bool) {
        while self.w.late.copies.front().is_some_and(&finished) {
            let Some(copy) = self.w.late.copies.pop_front() else { break };
            for Piece { lds, bytes, lane, other } in copy.pieces {
                let (bytes, lane) = (bytes.into(), lane.into());
                let (to, value) = match other {
                    Other::Data(value) => (Place::Lds(lds), Ok(value)),
                    Other::To(address) => (Place::Global(address), self.fetch(Place::Lds(lds), bytes, lane)),
                };
                // An address out of bounds was reported when the copy was issued.
                let _ = value.and_then(|value| self.put(to, bytes, lane, value));
            }
        }
    }

    /// Executes all pending copies of the wave.
    pub(super) fn finish_all_copies(&mut self) {
        self.finish_copies(|_| true);
    }

    /// Executes the wave's pending copies that complete by this cycle.
    pub(crate) fn finish_copies_until(&mut self, cycle: u64) {
        self.finish_copies(|copy| copy.done <= cycle);
    }
}

/// In a program with copies, wraps the functions of the instructions involved: memory operations are counted, and waits and the program's
/// end complete pending copies. Returns true if the program has copies; other programs remain unchanged.
pub(crate) fn count(steps: &mut [Step]) -> bool {
    let is_copy = |step: &Step| {
        let effects = events(step.arch, &step.inst);
        effects.iter().any(|event| event.memory.contains(MemoryEffect::LDS_DMA) || event.stream.copies())
    };
    if !steps.iter().any(is_copy) {
        return false;
    }
    for step in steps {
        let wrap: fn(Arc<dyn Exec>) -> Arc<dyn Exec> = match step.inst.desc.class {
            Class::Waitcnt => |inner| Arc::new(Waits(inner)),
            Class::Endpgm => |inner| Arc::new(Ends(inner)),
            _ if events(step.arch, &step.inst).iter().any(|event| event.stream == stream(step.arch)) => {
                |inner| Arc::new(Counts(inner))
            }
            _ => continue,
        };
        step.exec = wrap(step.exec.clone());
        step.directed = step.directed.take().map(wrap);
    }
    true
}

/// The stream of copies to LDS: on targets with asynchronous copies their own, otherwise that of vector memory.
fn stream(target: Target) -> Stream {
    if target.has_async_copies() { Stream::AsyncCopy } else { Stream::Vmem }
}

/// A memory operation that counts on the counter of copies.
struct Counts(Arc<dyn Exec>);

impl Exec for Counts {
    fn execute(&self, cx: &mut Cx<'_>, step: &Step) -> Done {
        self.0.execute(cx, step)?;
        cx.w.late.issued += 1;
        Ok(())
    }
}

/// Wraps a wait for counters.
struct Waits(Arc<dyn Exec>);

impl Exec for Waits {
    fn execute(&self, cx: &mut Cx<'_>, step: &Step) -> Done {
        if cx.w.late.when == When::Waited {
            let wait = WaitCnt::of(&step.inst).unwrap_or(WaitCnt::NONE);
            let counter = stream(step.arch).counter(step.arch.instruction_set());
            let done = cx.w.late.issued.saturating_sub(u64::from(counter.of(wait)));
            cx.finish_copies(|copy| copy.number < done);
        }
        self.0.execute(cx, step)
    }
}

/// Wraps `s_endpgm`.
struct Ends(Arc<dyn Exec>);

impl Exec for Ends {
    fn execute(&self, cx: &mut Cx<'_>, step: &Step) -> Done {
        cx.finish_all_copies();
        self.0.execute(cx, step)
    }
}
