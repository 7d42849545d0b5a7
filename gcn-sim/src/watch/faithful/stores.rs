//! The stores of a wave that other waves may not see yet.
//!
//! During a wave's turn, memory contains the wave's own stores. At the end of the turn, the stores whose completion no wait guarantees are
//! undone, so that the other waves of the workgroup read the old values. A load into LDS is not visible even to its own wave until a wait
//! guarantees its completion.

use crate::core::machine::Cx;
use crate::core::trace::{Kind, Path, Touch};

/// A write of one lane: its location, the old bytes and the new bytes.
#[derive(Clone, Copy, Debug)]
struct Write {
    touch: Touch,
    new: [u8; 16],
    old: [u8; 16],
}

impl Write {
    /// If `next` is the second dword of an aligned pair that the lane stores, merges it into this write, so that both dwords are applied
    /// and undone together. Otherwise returns false.
    fn takes(&mut self, next: &Write) -> bool {
        let (mine, its) = (&mut self.touch, &next.touch);
        let follows = mine.address + 4 == its.address && mine.address.is_multiple_of(8);
        let alike = (mine.space, mine.lane) == (its.space, its.lane) && (mine.bytes, its.bytes) == (4, 4);
        if !follows || !alike || mine.space == Path::Lds {
            return false;
        }
        mine.bytes = 8;
        self.new[4..8].copy_from_slice(&next.new[..4]);
        self.old[4..8].copy_from_slice(&next.old[..4]);
        true
    }

    fn overlaps(&self, other: &Touch) -> bool {
        let same = (self.touch.space == Path::Lds) == (other.space == Path::Lds);
        let end = |t: &Touch| t.address + u64::from(t.bytes);
        same && self.touch.address < end(other) && other.address < end(&self.touch)
    }
}

/// A store, atomic or load into LDS.
#[derive(Debug)]
struct Store {
    id: u32,
    /// True if the wave itself sees the store.
    forwarded: bool,
    writes: Vec<Write>,
}

/// The stores of a wave that are not certain, oldest first.
#[derive(Default)]
pub(super) struct Stores(Vec<Store>);

impl Stores {
    pub(super) fn reset(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the writes in the trace, which operation `id` has just made.
    pub(super) fn push(&mut self, cx: &mut Cx<'_>, id: u32, forwarded: bool) {
        let Some(trace) = cx.trace.as_deref_mut() else { return };
        let (touches, replaced) = (std::mem::take(&mut trace.touches), std::mem::take(&mut trace.replaced));
        self.settle_atomics(&touches);
        let mut rest = &replaced[..];
        let mut writes = Vec::new();
        for touch in touches.iter().filter(|t| t.kind == Kind::Write && t.space != Path::Scratch) {
            let (mine, others) = rest.split_at(rest.len().min(usize::from(touch.bytes)));
            rest = others;
            let mut write = Write { touch: *touch, new: [0; 16], old: [0; 16] };
            write.old[..mine.len()].copy_from_slice(mine);
            peek(cx, touch, &mut write.new);
            if !writes.last_mut().is_some_and(|last: &mut Write| last.takes(&write)) {
                writes.push(write);
            }
        }
        if !writes.is_empty() {
            if !forwarded {
                writes.iter().rev().for_each(|w| poke(cx, &w.touch, &w.old));
            }
            self.0.push(Store { id, forwarded, writes });
        }
        if let Some(trace) = cx.trace.as_deref_mut() {
            (trace.touches, trace.replaced) = (touches, replaced);
        }
    }

    /// Handles an atomic: it takes effect when it is issued, so the wave's earlier stores to the same bytes are complete.
    fn settle_atomics(&mut self, touches: &[Touch]) {
        for atomic in touches.iter().filter(|t| t.kind == Kind::Atomic) {
            for store in self.0.iter_mut().filter(|s| s.forwarded) {
                store.writes.retain(|w| !w.overlaps(atomic));
            }
        }
    }

    /// Undoes the stores that are not certain.
    pub(super) fn suspend(&self, cx: &mut Cx<'_>) {
        for store in self.0.iter().rev().filter(|s| s.forwarded) {
            store.writes.iter().rev().for_each(|w| poke(cx, &w.touch, &w.old));
        }
    }

    /// Reapplies the stores that are not certain.
    pub(super) fn resume(&mut self, cx: &mut Cx<'_>) {
        for store in self.0.iter_mut().filter(|s| s.forwarded) {
            for write in &mut store.writes {
                peek(cx, &write.touch, &mut write.old);
                poke(cx, &write.touch, &write.new);
            }
        }
    }

    /// Makes stores certain: those for which `is_done` returns true, given the operation and the memory.
    pub(super) fn complete(&mut self, cx: &mut Cx<'_>, is_done: impl Fn(u32, Path) -> bool) {
        let done = |id: u32, write: &Write| is_done(id, write.touch.space);
        // The oldest stores need no access: memory already contains their bytes, and so do the old bytes of younger stores that overlap
        // them.
        let are_done = |s: &&Store| s.forwarded && s.writes.iter().all(|w| done(s.id, w));
        let oldest = self.0.iter().take_while(are_done).count();
        self.0.drain(..oldest);
        if !self.0.iter().any(|s| s.writes.iter().any(|w| done(s.id, w))) {
            return;
        }
        self.suspend(cx);
        for store in &mut self.0 {
            let id = store.id;
            store.writes.extract_if(.., |w| done(id, w)).for_each(|w| poke(cx, &w.touch, &w.new));
        }
        self.0.retain(|s| !s.writes.is_empty());
        self.resume(cx);
    }
}

/// Reads bytes of memory without recording the access.
fn peek(cx: &Cx<'_>, touch: &Touch, to: &mut [u8; 16]) {
    let to = &mut to[..usize::from(touch.bytes)];
    if touch.space == Path::Lds {
        let start = touch.address as usize;
        if let Some(from) = cx.lds.get(start..start + to.len()) {
            to.copy_from_slice(from);
        }
    } else {
        cx.memory.peek(touch.address, to);
    }
}

fn poke(cx: &mut Cx<'_>, touch: &Touch, from: &[u8; 16]) {
    let from = &from[..usize::from(touch.bytes)];
    if touch.space == Path::Lds {
        let start = touch.address as usize;
        if let Some(to) = cx.lds.get_mut(start..start + from.len()) {
            to.copy_from_slice(from);
        }
    } else {
        cx.memory.poke(touch.address, from);
    }
}
