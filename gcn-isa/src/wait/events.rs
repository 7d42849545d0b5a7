//! What the operations of an instruction (`crate::counters::events`) owe until they are done.

use crate::counters::{Event, MemoryEffect};
use crate::inst::RegUse;
use crate::table::Access;
use crate::{Inst, Reg};

/// A *debt*: what an outstanding operation has yet to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Debt {
    /// Write registers.
    Write,
    /// Read registers, so that they must not be overwritten.
    Read,
    /// Write LDS outside the LDS queue.
    LdsDma,
    /// Change LDS.
    LdsWrite,
    /// Read LDS.
    LdsRead,
    /// Change global memory.
    Store,
    /// Synchronise the wave with others.
    Sync,
}

/// The debts of `event`, with the registers of [`Debt::Write`] and [`Debt::Read`].
pub(super) fn debts(event: &Event) -> impl Iterator<Item = (Debt, Option<Reg>)> {
    let effects = [
        (MemoryEffect::LDS_DMA, Debt::LdsDma),
        (MemoryEffect::LDS_WRITE, Debt::LdsWrite),
        (MemoryEffect::LDS_READ, Debt::LdsRead),
        (MemoryEffect::STORE, Debt::Store),
        (MemoryEffect::SYNC, Debt::Sync),
    ];
    // An operation that both reads and writes LDS is waited for as a write.
    let read = !event.memory.contains(MemoryEffect::LDS_WRITE);
    let owed = move |debt: &Debt| read || *debt != Debt::LdsRead;
    let memory = effects.into_iter().filter(|e| event.memory.contains(e.0)).map(|e| e.1);
    let memory = memory.filter(owed).map(|debt| (debt, None));
    let writes = event.writes.into_iter().map(|r| (Debt::Write, Some(r)));
    let holds = event.holds.iter().map(|&r| (Debt::Read, Some(r)));
    writes.chain(holds).chain(memory)
}

/// True if one of `events` accesses LDS in program order, so that a load into LDS that is still outstanding may arrive
/// too late for it, or overwrite it.
pub(super) fn touch_lds(events: &[Event]) -> bool {
    events.iter().any(|e| e.memory.intersects(MemoryEffect::LDS_READ.union(MemoryEffect::LDS_WRITE)))
}

/// True if `read` only represents that a load of half a register preserves the other half, which happens when its data
/// arrives. An atomic that returns a value also reads the register that it writes, but reads it at issue.
pub(super) fn is_merge(inst: &Inst, events: &[Event], read: RegUse) -> bool {
    let tied = |i: u8| inst.desc.operands[usize::from(i)].access == Access::ReadWrite;
    let changes = MemoryEffect::STORE.union(MemoryEffect::LDS_WRITE);
    read.operand.is_some_and(tied) && !events.iter().any(|e| e.memory.intersects(changes))
}
