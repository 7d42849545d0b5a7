//! What an instruction does to the counters.

use gcn_isa::counters::{Events, MemoryEffect, Stream, WaitCnt, events, room};
use gcn_isa::reg::RegUnit;
use gcn_isa::table::{Access, Class};
use gcn_isa::{Inst, Target};

/// Which counters an operation is outstanding on, and how it returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Vector memory: vmcnt, in order.
    Vector,
    /// LDS: lgkmcnt, in order.
    Lds,
    /// Flat: both counters, out of order.
    Flat,
    /// Scalar memory: lgkmcnt, out of order.
    Scalar,
    /// Message: lgkmcnt, out of order.
    Message,
}

impl Kind {
    pub(crate) fn on_vm(self) -> bool {
        matches!(self, Kind::Vector | Kind::Flat)
    }

    pub(crate) fn on_lgkm(self) -> bool {
        self != Kind::Vector
    }

    /// The stream in whose order it returns. Flat operations are in none; the one named here is as unordered.
    pub(crate) fn stream(self) -> Stream {
        match self {
            Kind::Vector => Stream::Vmem,
            Kind::Lds => Stream::Lds,
            Kind::Flat => Stream::FlatVm,
            Kind::Scalar => Stream::Smem,
            Kind::Message => Stream::Message,
        }
    }
}

/// An instruction as the counters see it.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// Registers read, except those that only keep part of a load's destination.
    pub reads: Vec<RegUnit>,
    /// Registers written.
    pub writes: Vec<RegUnit>,
    /// The memory operation it starts.
    pub kind: Option<Kind>,
    /// The operation may write LDS (stores and atomics to LDS or flat).
    pub writes_lds: bool,
    /// The operation reads LDS and writes none of it.
    pub reads_lds: bool,
    /// The operation moves data from memory to LDS.
    pub lds_dma: bool,
    /// The operation may write memory that other waves read, over the vector cache.
    pub stores: bool,
    /// The operation makes the wave wait for others (GWS).
    pub syncs: bool,
    /// The operation accesses memory or LDS.
    pub accesses: bool,
    /// What it waits for.
    pub wait: Option<WaitCnt>,
    /// What issuing it waits for: room on full counters.
    pub room: WaitCnt,
    pub barrier: bool,
}

impl Effect {
    pub(crate) fn of(target: Target, inst: &Inst) -> Effect {
        let desc = inst.desc;
        let is_load = is_load(desc.class);
        let tied_load = |operand: Option<u8>| {
            is_load && operand.is_some_and(|i| desc.operands[i as usize].access != Access::Read)
        };
        let reads =
            inst.reads().iter().filter(|u| !tied_load(u.operand)).flat_map(|u| u.reg.units()).collect();
        let writes = inst.writes().iter().flat_map(|u| u.reg.units()).collect();
        let events = events(target, inst);
        let memory = events.iter().fold(MemoryEffect::empty(), |all, e| all | e.memory);
        let wait = WaitCnt::of(inst);
        Effect {
            reads,
            writes,
            kind: kind(&events),
            writes_lds: memory.contains(MemoryEffect::LDS_WRITE),
            reads_lds: memory.contains(MemoryEffect::LDS_READ) && !memory.contains(MemoryEffect::LDS_WRITE),
            lds_dma: memory.contains(MemoryEffect::LDS_DMA),
            stores: memory.contains(MemoryEffect::STORE)
                && kind(&events).is_some_and(Kind::on_vm)
                && desc.class != Class::ScratchStore,
            syncs: memory.contains(MemoryEffect::SYNC),
            accesses: events.iter().any(|e| e.stream.accesses_memory()),
            wait,
            room: room(target.instruction_set(), &events),
            barrier: desc.class == Class::Barrier,
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

/// How the operations that an instruction starts return.
fn kind(events: &Events) -> Option<Kind> {
    let has = |stream| events.iter().any(|e| e.stream == stream);
    if has(Stream::FlatVm) || has(Stream::FlatLgkm) {
        return Some(Kind::Flat);
    }
    events.first().map(|event| match event.stream {
        Stream::Vmem | Stream::FlatVm | Stream::Store => Kind::Vector,
        Stream::Lds | Stream::LdsDirect => Kind::Lds,
        Stream::Smem => Kind::Scalar,
        // There is no GDS to run: it is refused when a program is loaded.
        Stream::Message | Stream::FlatLgkm | Stream::Gds | Stream::GdsData => Kind::Message,
    })
}
