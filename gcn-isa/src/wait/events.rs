//! The obligations of an instruction's operations (`crate::counters::events`) until they are done.

use crate::counters::{Event, MemoryEffect};
use crate::inst::RegUse;
use crate::table::Access;
use crate::{Inst, Reg};

/// A *debt*: an effect that an outstanding operation has yet to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Debt {
    /// The operation writes registers.
    Write,
    /// The operation reads registers, so that they must not be overwritten.
    Read,
    /// The operation writes LDS outside the LDS queue.
    LdsDma,
    /// The operation changes LDS.
    LdsWrite,
    /// The operation reads LDS.
    LdsRead,
    /// The operation changes global memory.
    Store,
    /// The operation synchronises the wave with others.
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
    // An operation that both reads and writes LDS counts as a write.
    let read = !event.memory.contains(MemoryEffect::LDS_WRITE);
    let owed = move |debt: &Debt| read || *debt != Debt::LdsRead;
    let memory = effects.into_iter().filter(|e| event.memory.contains(e.0)).map(|e| e.1);
    let memory = memory.filter(owed).map(|debt| (debt, None));
    let writes = event.writes.into_iter().map(|r| (Debt::Write, Some(r)));
    let holds = event.holds.iter().map(|&r| (Debt::Read, Some(r)));
    writes.chain(holds).chain(memory)
}

/// True if one of `events` reads or writes LDS. An outstanding load into LDS may arrive too late for such an access, or overwrite its
/// result.
pub(super) fn touch_lds(events: &[Event]) -> bool {
    events.iter().any(|e| e.memory.intersects(MemoryEffect::LDS_READ.union(MemoryEffect::LDS_WRITE)))
}

/// True if one of `events` writes LDS. An outstanding copy from LDS may yet have to read what was there before.
pub(super) fn write_lds(events: &[Event]) -> bool {
    events.iter().any(|e| e.memory.contains(MemoryEffect::LDS_WRITE))
}

/// True if the read does not happen at issue: the instruction loads half of a register, and `read` stands for the other half, which is
/// preserved when the data arrive. An atomic that returns a value also reads the register that it writes, but at issue.
pub(super) fn is_merge(inst: &Inst, events: &[Event], read: RegUse) -> bool {
    let tied = |i: u8| inst.desc.operands[usize::from(i)].access == Access::ReadWrite;
    let changes = MemoryEffect::STORE.union(MemoryEffect::LDS_WRITE);
    read.operand.is_some_and(tied) && !events.iter().any(|e| e.memory.intersects(changes))
}
