//! The effects of an instruction on the wait counters.

use std::ops::Range;

use gcn_isa::counters::{Events, MemoryEffect, Stream, WaitCnt, events, passed_barrier, room};
use gcn_isa::hazards::Config;
use gcn_isa::hazards::counter::OPERAND_WAR;
use gcn_isa::inst::RegUse;
use gcn_isa::reg::{Half, RegUnit};
use gcn_isa::table::{Access, Behaviours, Class};
use gcn_isa::{Inst, InstructionSet, Target};
use smallvec::SmallVec;

/// The streams of an operation, at most one for each counter.
pub(crate) type Streams = SmallVec<[Stream; 2]>;

/// A register or, on targets where 16-bit results have their own destinations, half of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub unit: RegUnit,
    pub half: Option<Half>,
}

impl Part {
    /// The whole register.
    pub(crate) fn whole(self) -> Part {
        Part { half: None, ..self }
    }

    /// The numbers of the register's halves.
    pub(crate) fn halves(self) -> Range<usize> {
        let first = self.unit.index() * 2;
        match self.half {
            None => first..first + 2,
            Some(half) => first + half as usize..first + half as usize + 1,
        }
    }
}

/// A set of registers in few bits: if two sets have none in common, neither have the registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mask(u64);

impl Mask {
    pub(crate) fn of(units: impl Iterator<Item = RegUnit>) -> Mask {
        Mask(units.fold(0, |all, unit| all | 1 << (unit.index() % 64)))
    }

    pub(crate) fn or(self, other: Mask) -> Mask {
        Mask(self.0 | other.0)
    }

    /// True if there may be a register in both sets.
    #[inline]
    pub(crate) fn may_meet(self, other: Mask) -> bool {
        self.0 & other.0 != 0
    }
}

/// The properties of an instruction that matter to the wait counters.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// The registers that the instruction reads, except those of which a load only keeps a part.
    pub reads: Vec<Part>,
    /// The registers that the instruction writes.
    pub writes: Vec<Part>,
    /// The registers that the instruction reads or writes.
    pub registers: Mask,
    /// The streams of the operation that the instruction starts; empty if it starts none.
    pub streams: Streams,
    /// The registers that the instruction may read after it has issued, and the stream of instructions that have yet to read their operands
    /// ([`Stream::of_operands`]). `None` if a counter does not count this or no rule depends on it.
    pub operands: Option<(Stream, Vec<RegUnit>)>,
    /// The barrier whose `s_barrier_wait` completes the operation.
    pub until: Option<i16>,
    /// The barrier at which the instruction waits.
    pub passes: Option<i16>,
    /// True if the results of operations on these streams arrive in the order of issue.
    pub in_order: bool,
    /// True if the operation may write LDS (stores and atomics to LDS, or flat ones).
    pub writes_lds: bool,
    /// True if the operation reads LDS and does not write it.
    pub reads_lds: bool,
    /// True if the operation moves data from memory to LDS.
    pub lds_dma: bool,
    /// True if the operation moves data from LDS to memory outside the LDS queue.
    pub copies_lds: bool,
    /// True if the operation may write, through the vector cache, memory that other waves read.
    pub stores: bool,
    /// True if the operation makes the wave wait for others (GWS).
    pub syncs: bool,
    /// True if the operation accesses memory or LDS.
    pub accesses: bool,
    /// The wait, if the instruction is a wait.
    pub wait: Option<WaitCnt>,
    /// The values to which the counters must have decreased before the instruction can issue.
    pub room: WaitCnt,
    pub barrier: bool,
    /// True if the wave arrives at a barrier.
    pub arrives: bool,
    /// True if the instruction neither starts an operation nor waits for any.
    pub is_idle: bool,
}

impl Effect {
    /// The effect of `inst`, of which some parts matter only to some rules.
    pub(crate) fn of(target: Target, inst: &Inst, rules: Config) -> Effect {
        let desc = inst.desc;
        let is_load = is_load(desc.class);
        let tied_load = |operand: Option<u8>| {
            is_load && operand.is_some_and(|i| desc.operands[i as usize].access != Access::Read)
        };
        let parts = |used: RegUse| {
            let half = used.operand.and_then(|i| inst.half(i));
            used.reg.units().map(move |unit| Part { unit, half })
        };
        let (scc_read, scc_written) = inst.scc();
        let reads = inst.reads().into_iter().filter(|u| !tied_load(u.operand)).chain(scc_read);
        let reads: Vec<Part> = reads.flat_map(parts).collect();
        let writes: Vec<Part> = inst.writes().into_iter().chain(scc_written).flat_map(parts).collect();
        let set = target.instruction_set();
        let events = events(target, inst);
        let streams = streams(&events);
        let memory = events.iter().fold(MemoryEffect::empty(), |all, e| all | e.memory);
        let wait = WaitCnt::of(inst);
        let late = events.iter().find(|e| e.stream.of_operands().is_some() && rules.counts(&OPERAND_WAR));
        let operands = late.map(|e| (e.stream, e.holds.iter().flat_map(|reg| reg.units()).collect()));
        Effect {
            // Results in different halves do not conflict.
            in_order: arrives_in_order(set, &streams) || writes.iter().any(|part| part.half.is_some()),
            registers: Mask::of(reads.iter().chain(&writes).map(|part| part.unit)),
            reads,
            writes,
            writes_lds: memory.contains(MemoryEffect::LDS_WRITE),
            reads_lds: memory.contains(MemoryEffect::LDS_READ) && !memory.contains(MemoryEffect::LDS_WRITE),
            lds_dma: memory.contains(MemoryEffect::LDS_DMA),
            copies_lds: memory.contains(MemoryEffect::LDS_READ)
                && streams.iter().any(|stream| stream.copies()),
            stores: memory.contains(MemoryEffect::STORE)
                && streams.iter().any(|stream| is_of_memory(*stream))
                && desc.class != Class::ScratchStore,
            syncs: memory.contains(MemoryEffect::SYNC),
            accesses: events.iter().any(|e| e.stream.accesses_memory()),
            wait,
            room: room(set, &events),
            barrier: desc.class == Class::Barrier,
            arrives: desc.does(Behaviours::ARRIVES_AT_BARRIER),
            until: events.iter().find_map(|event| event.until),
            passes: passed_barrier(inst),
            is_idle: streams.is_empty()
                && operands.is_none()
                && memory.is_empty()
                && wait.is_none()
                && desc.class != Class::Barrier,
            streams,
            operands,
        }
    }
}

pub(crate) fn is_load(class: Class) -> bool {
    matches!(
        class,
        Class::VmemLoad
            | Class::FlatLoad
            | Class::GlobalLoad
            | Class::ScratchLoad
            | Class::LdsRead
            | Class::SmemLoad
    )
}

/// The streams of an instruction's operation without late reads of operands ([`Effect::operands`]). Programs that use GDS are refused when
/// they are loaded.
fn streams(events: &Events) -> Streams {
    let reads_late = |stream: Stream| stream == Stream::GdsData || stream.of_operands().is_some();
    events.iter().map(|event| event.stream).filter(|stream| !reads_late(*stream)).collect()
}

/// True if the results on these streams arrive in the order in which they were requested.
fn arrives_in_order(set: InstructionSet, streams: &[Stream]) -> bool {
    streams.iter().all(|stream| match stream {
        Stream::Vmem => set.returns_loads_in_order(),
        Stream::Lds | Stream::LdsDirect => true,
        _ => false,
    })
}

/// True for a stream whose operations access LDS.
pub(crate) const fn is_of_lds(stream: Stream) -> bool {
    matches!(stream, Stream::Lds | Stream::FlatLgkm) || stream.copies()
}

/// True for a stream whose operations access memory other than scalar memory.
pub(crate) const fn is_of_memory(stream: Stream) -> bool {
    matches!(stream, Stream::Vmem | Stream::FlatVm | Stream::Store) || stream.copies()
}
