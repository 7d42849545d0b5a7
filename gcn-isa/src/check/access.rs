//! The registers and memory that an instruction accesses. They are computed once and then compared with every operation that may be
//! outstanding.

use smallvec::SmallVec;

use crate::counters::{self, Counter, Events, MemoryEffect, Stream};
use crate::indexing::Indexing;
use crate::inst::{Inst, RegUse, Via};
use crate::reg::{self, Half, Reg, RegFile};
use crate::table::{Access, Class};
use crate::target::InstructionSet;

/// Registers and memory that an instruction accesses.
pub(super) struct Accesses<'a> {
    set: InstructionSet,
    pub inst: &'a Inst,
    pub events: &'a Events,
    reads: SmallVec<[RegUse; 6]>,
    writes: SmallVec<[RegUse; 3]>,
    pub memory: MemoryEffect,
    /// The index of the operand that a load both reads and writes. The load reads this operand only when its data arrives.
    merged: Option<u8>,
}

impl<'a> Accesses<'a> {
    /// The accesses of `inst`, which is at `line`.
    pub fn of(
        set: InstructionSet,
        line: usize,
        inst: &'a Inst,
        events: &'a Events,
        indexing: &Indexing,
    ) -> Accesses<'a> {
        let tied = |o: &crate::table::OperandDesc| o.access == Access::ReadWrite;
        let merged = inst.desc.operands.iter().position(tied).filter(|_| is_load(inst)).map(|i| i as u8);
        let memory = events.iter().fold(MemoryEffect::empty(), |all, e| all | e.memory);
        let (mut reads, mut writes) = (indexing.reads(line, inst), indexing.writes(line, inst));
        let (read, written) = inst.scc();
        reads.extend(read);
        writes.extend(written);
        Accesses { set, inst, events, reads, writes, memory, merged }
    }

    /// True if this instruction's result in `reg` arrives after the results of all earlier operations of `stream`.
    fn arrives_after(&self, stream: Stream, reg: Reg) -> bool {
        let mut writing = self.events.iter().filter(|e| e.writes == Some(reg)).peekable();
        writing.peek().is_some() && writing.all(|e| counters::finishes_after(self.set, stream, e.stream))
    }

    /// How a use of a register conflicts with an outstanding result; `None` if there is no conflict.
    fn touches(&self, owed: &Owed, used: &RegUse) -> Option<Touching> {
        let half = used.operand.filter(|_| used.via == Via::Name).and_then(|i| self.inst.half(i));
        let apart = Half::are_apart(owed.half, half);
        let shares = owed.reg.shared_with(used.reg) & owed.live != 0;
        shares.then_some(if apart { Touching::OtherHalf } else { Touching::Bits })
    }

    /// A register of an outstanding result that the instruction reads, if the conflict is of the given kind. A load that preserves part of
    /// its destination reads the destination only when its data arrives.
    pub fn reads_too_early(&self, stream: Stream, owed: &Owed, touching: Touching) -> Option<RegUse> {
        let merges = |u: &RegUse| u.operand.is_some() && u.operand == self.merged;
        let too_early = |u: &&RegUse| {
            self.touches(owed, u) == Some(touching) && !(merges(u) && self.arrives_after(stream, u.reg))
        };
        least_indirect(owed.reg, self.reads.iter().filter(too_early))
    }

    /// A register of an outstanding result that the instruction writes, if the conflict is of the given kind. Without a wait, the older
    /// result could overwrite the new one.
    pub fn writes_too_early(&self, stream: Stream, owed: &Owed, touching: Touching) -> Option<RegUse> {
        let too_early =
            |u: &&RegUse| self.touches(owed, u) == Some(touching) && !self.arrives_after(stream, u.reg);
        least_indirect(owed.reg, self.writes.iter().filter(too_early))
    }

    /// A register of `held` that the instruction overwrites while an operation of `stream` still has to read `held`. A memory instruction
    /// whose stream reads operands in order is exempt: when its own result arrives, all earlier operations have read their operands. `None`
    /// if there is no such register.
    pub fn overwrites(&self, stream: Stream, held: Reg) -> Option<RegUse> {
        let in_order = stream.in_order() && stream.of_operands().is_some();
        let reads_later = in_order && self.events.iter().any(|e| e.stream == stream);
        let arrives = |w: &RegUse| reads_later && self.events.iter().any(|e| e.writes == Some(w.reg));
        least_indirect(held, self.writes.iter().filter(|w| w.reg.overlaps(held) && !arrives(w)))
    }

    /// The counters of operations outside the program that could still access the instruction's registers: vector
    /// memory and LDS operations return data to vector registers, scalar memory to scalar ones, and exports may still
    /// read vector registers. SCC does not count: no code that calls or is called waits for its late writes.
    pub fn counters(&self) -> SmallVec<[Counter; 3]> {
        let vector = |u: &RegUse| u.reg.file != RegFile::Sgpr;
        let is_used = self.reads.iter().chain(&self.writes).any(|u| u.reg != reg::SCC);
        let mut counters = SmallVec::new();
        if self.reads.iter().chain(&self.writes).any(vector) {
            counters.push(Counter::Vm);
        }
        let scalar = Stream::Smem.counter(self.set);
        if is_used && (scalar == Counter::Lgkm || self.reads.iter().chain(&self.writes).any(vector)) {
            counters.push(Counter::Lgkm);
        }
        if is_used && scalar != Counter::Lgkm {
            counters.push(scalar);
        }
        if self.writes.iter().any(vector) {
            counters.push(Counter::Exp);
        }
        counters
    }
}

/// A result that an outstanding operation has yet to write.
pub(super) struct Owed {
    /// The registers.
    pub reg: Reg,
    /// The registers whose value has not arrived. Bit i stands for the i-th register.
    pub live: u32,
    /// The half of the register that is written, if only one half is written and halves are tracked separately.
    pub half: Option<Half>,
}

/// How an instruction conflicts with an outstanding result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Touching {
    /// The instruction accesses bits that have not arrived.
    Bits,
    /// The instruction accesses only the other half of a register.
    OtherHalf,
}

/// Of the uses that overlap `written`, the most direct one: a use that the program names explicitly or, if there is none, a use through an
/// index. The latter is restricted to the registers of `written`.
fn least_indirect<'u>(written: Reg, uses: impl Iterator<Item = &'u RegUse>) -> Option<RegUse> {
    let found = *uses.min_by_key(|u| u.via)?;
    if found.via == Via::Name {
        Some(found)
    } else {
        Some(RegUse { reg: found.reg.common(written), ..found })
    }
}

/// True if the first operand of the instruction is the destination of a load. In other memory instructions, the first operand may be data
/// that the instruction sends.
fn is_load(inst: &Inst) -> bool {
    matches!(
        inst.desc.class,
        Class::VmemLoad | Class::GlobalLoad | Class::ScratchLoad | Class::FlatLoad | Class::LdsRead
    ) && inst.operands.first().and_then(|o| o.reg()).is_some_and(|r| r.file != RegFile::Sgpr)
}
