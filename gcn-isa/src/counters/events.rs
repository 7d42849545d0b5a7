//! The effects of each instruction on the counters.

use bitflags::bitflags;
use smallvec::{SmallVec, smallvec};

use super::{Counter, WaitCnt};
use crate::inst::Inst;
use crate::reg::{self, Half, Reg, RegFile};
use crate::table::{Access, Behaviours, Class, MemBytes};
use crate::target::{InstructionSet, Target};

/// A stream: operations on one counter that finish in issue order if [`Stream::in_order`] is true. Operations of different streams on the
/// same counter may overtake each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// Vector memory operations, in order: on GFX9 all except FLAT, from GFX10 on those that return data, including FLAT.
    Vmem,
    /// FLAT operations on vmcnt, on GFX9. If the access is to LDS, the operation may leave this counter early.
    FlatVm,
    /// LDS operations, in order; from GFX10 on, including FLAT.
    Lds,
    /// FLAT operations on lgkmcnt, on GFX9. If the access is to memory, the operation may leave this counter early.
    FlatLgkm,
    /// Scalar memory operations, which complete in any order.
    Smem,
    /// Messages, in order.
    Message,
    /// Instructions on barriers that write SCC late, on kmcnt.
    BarrierScc,
    /// GDS and GWS operations, in order.
    Gds,
    /// GDS and GWS operations on expcnt, until they have read their VGPRs.
    GdsData,
    /// Vector memory operations that do not return data, from GFX10 on.
    Store,
    /// LDS direct loads, in order, on expcnt.
    LdsDirect,
    /// Vector memory instructions that have yet to read their operands, in order, on xcnt.
    VmemOperands,
    /// Scalar memory instructions that have yet to read their operands, in any order, on xcnt.
    SmemOperands,
    /// Asynchronous copies between memory and LDS, in order.
    AsyncCopy,
    /// Tensor operations, in order.
    Tensor,
}

impl Stream {
    /// All streams; [`Stream::index`] is the position in this list.
    pub const ALL: [Stream; 15] = [
        Stream::Vmem,
        Stream::FlatVm,
        Stream::Lds,
        Stream::FlatLgkm,
        Stream::Smem,
        Stream::Message,
        Stream::BarrierScc,
        Stream::Gds,
        Stream::GdsData,
        Stream::Store,
        Stream::LdsDirect,
        Stream::VmemOperands,
        Stream::SmemOperands,
        Stream::AsyncCopy,
        Stream::Tensor,
    ];

    /// The position in [`Stream::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The counter that the stream's operations use on an instruction set.
    pub const fn counter(self, set: InstructionSet) -> Counter {
        match self {
            Stream::Vmem | Stream::FlatVm => Counter::Vm,
            Stream::Smem | Stream::Message if Counter::Km.exists_on(set) => Counter::Km,
            Stream::BarrierScc => Counter::Km,
            Stream::Lds | Stream::FlatLgkm | Stream::Smem | Stream::Message | Stream::Gds => Counter::Lgkm,
            Stream::GdsData | Stream::LdsDirect => Counter::Exp,
            Stream::Store if Counter::Vs.exists_on(set) => Counter::Vs,
            Stream::Store => Counter::Vm,
            Stream::VmemOperands | Stream::SmemOperands => Counter::X,
            Stream::AsyncCopy => Counter::Async,
            Stream::Tensor => Counter::Tensor,
        }
    }

    /// For a stream of operands: the stream of results whose completion proves that the operands were read, and the other stream of
    /// operands, which the hardware finishes before it starts an operation of this stream (LLVM 22, measured: xcnt counts accesses of one
    /// kind at a time). `None` for other streams.
    pub const fn of_operands(self) -> Option<(Stream, Stream)> {
        match self {
            Stream::VmemOperands => Some((Stream::Vmem, Stream::SmemOperands)),
            Stream::SmemOperands => Some((Stream::Smem, Stream::VmemOperands)),
            _ => None,
        }
    }

    /// True for the streams of copies between memory and LDS that bypass registers and the LDS queue, so that LDS neither reads nor writes
    /// for them in the order in which instructions were issued (gfx12.5).
    pub const fn copies(self) -> bool {
        matches!(self, Stream::AsyncCopy | Stream::Tensor)
    }

    /// True if the stream's operations access memory or LDS.
    pub const fn accesses_memory(self) -> bool {
        matches!(self, Stream::Vmem | Stream::FlatVm | Stream::Lds | Stream::FlatLgkm | Stream::Smem)
    }

    /// True if a number of younger operations of the stream proves that an older operation has completed.
    pub const fn in_order(self) -> bool {
        use Stream as S;
        matches!(
            self,
            S::Vmem
                | S::Lds
                | S::Gds
                | S::Message
                | S::BarrierScc
                | S::LdsDirect
                | S::VmemOperands
                | S::AsyncCopy
                | S::Tensor
        )
    }
}

bitflags! {
    /// The effect of an operation on memory.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct MemoryEffect: u8 {
        /// A write of LDS through the LDS queue, as by DS instructions.
        const LDS_WRITE = 1;
        /// A read of LDS.
        const LDS_READ = 2;
        /// A write of LDS when data arrives from memory, outside the LDS queue (LDS DMA).
        const LDS_DMA = 4;
        /// A write of global memory.
        const STORE = 8;
        /// A read of global memory.
        const LOAD = 16;
        /// A wait of the wave until other waves have reached a certain point (GWS).
        const SYNC = 32;
    }
}

/// An operation that an instruction starts on one counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The stream to which the operation belongs. The stream determines the counter.
    pub stream: Stream,
    /// The amount by which the counter increases.
    pub count: u8,
    /// The registers that the operation writes when it completes. Until then, no instruction may read or write them.
    pub writes: Option<Reg>,
    /// The half of the register, if the operation writes only one half and halves count as separate registers ([`Inst::half`]).
    pub half: Option<Half>,
    /// The registers that the operation may read until it completes. Until then, no instruction may write them.
    pub holds: SmallVec<[Reg; 2]>,
    /// The operation's effect on memory. It is certain only when the operation is complete.
    pub memory: MemoryEffect,
    /// True if the operation only invalidates a cache. Such an operation is counted, but no instruction depends on its completion.
    pub invalidates: bool,
    /// The barrier whose `s_barrier_wait` proves, as a wait for the counter does, that the operation is complete ([`passed_barrier`]).
    pub until: Option<i16>,
}

impl Event {
    /// An operation that only counts: it writes and holds no registers and does not affect memory.
    pub fn counted(stream: Stream) -> Event {
        Event {
            stream,
            count: 1,
            writes: None,
            half: None,
            holds: SmallVec::new(),
            memory: MemoryEffect::empty(),
            invalidates: false,
            until: None,
        }
    }
}

/// The barrier for which `inst` waits, if it is an `s_barrier_wait`. It completes the late writes of SCC by the instructions that have
/// signalled this barrier with a constant number ([`Event::until`]), as LLVM 22 has it (measured).
pub fn passed_barrier(inst: &Inst) -> Option<i16> {
    inst.barrier().filter(|_| inst.desc.does(Behaviours::WAITS_AT_BARRIER))
}

/// The operations that an instruction starts: at most one on each counter.
pub type Events = SmallVec<[Event; 2]>;

/// The operations that `inst` starts on `target`. Waits start no operations.
///
/// Sources: CDNA3 ISA 4.4 and 10.2.2 (the counters), LLVM 22 measured (GDS, GWS, FLAT; all of GFX10 to GFX12), LLVM pull requests 178316
/// and 220694 (cache control from gfx942 on). `ds_nop` and earlier cache control are not counted: if an operation is counted that the
/// hardware does not count, waits for older operations become too weak, while the opposite error only makes them stronger.
pub fn events(target: Target, inst: &Inst) -> Events {
    let set = target.instruction_set();
    let mut events = results(set, inst);
    let operands = if set.has_async_copies() { operand_stream(inst) } else { None };
    // This operation comes before the result's operation, so that a completed result proves that this instruction's own operands have been
    // read.
    events.insert_many(0, operands.map(|stream| operands_of(inst, stream)));
    events
}

/// The stream of instructions that have yet to read their operands, if xcnt counts the instruction. It does not count vector prefetches,
/// asynchronous copies and tensor loads (LLVM 22, measured).
fn operand_stream(inst: &Inst) -> Option<Stream> {
    use Class as C;
    match inst.desc.class {
        C::VmemPrefetch | C::CacheCtl => None,
        copy if copy.is_async_copy() => None,
        _ if inst.desc.is_smem() => Some(Stream::SmemOperands),
        _ if inst.desc.is_vmem() => Some(Stream::VmemOperands),
        _ => None,
    }
}

/// The registers that `inst` may read until it is no longer counted on `stream`. A register that `inst` also writes is omitted: it is in
/// use until the result arrives, which is later.
fn operands_of(inst: &Inst, stream: Stream) -> Event {
    let writes_too = |i: u8| inst.desc.operands[usize::from(i)].access == Access::ReadWrite;
    let read = inst.reads().into_iter().filter(|u| !u.operand.is_some_and(writes_too)).map(|u| u.reg);
    Event { holds: read.filter(|reg| *reg != reg::NULL).collect(), ..Event::counted(stream) }
}

/// The operations that end with a result or with an access to memory.
fn results(set: InstructionSet, inst: &Inst) -> Events {
    use Class as C;
    let (loads, half) = result(inst);
    if inst.mods.gds {
        return gds(inst, loads);
    }
    let one = |stream, memory| -> Events {
        smallvec![Event { writes: loads, half, memory, ..Event::counted(stream) }]
    };
    let silent = if Counter::Vs.exists_on(set) { Stream::Store } else { Stream::Vmem };
    match inst.desc.class {
        C::VmemLoad | C::GlobalLoad | C::ScratchLoad => one(Stream::Vmem, MemoryEffect::LOAD),
        C::VmemLoadLds | C::GlobalLoadLds | C::ScratchLoadLds => {
            one(Stream::Vmem, MemoryEffect::LDS_DMA | MemoryEffect::LOAD)
        }
        C::VmemStore | C::GlobalStore | C::ScratchStore => one(silent, MemoryEffect::STORE),
        C::VmemStoreLds => one(silent, MemoryEffect::STORE | MemoryEffect::LDS_READ),
        C::VmemAtomic | C::GlobalAtomic => one(silent, MemoryEffect::STORE | MemoryEffect::LOAD),
        C::VmemAtomicRet | C::GlobalAtomicRet => one(Stream::Vmem, MemoryEffect::STORE | MemoryEffect::LOAD),
        C::CacheCtl if set.counts_cache_control() => {
            let written = inst.desc.does(Behaviours::WRITES_BACK);
            let mut events = one(if written { silent } else { Stream::Vmem }, MemoryEffect::empty());
            events[0].invalidates = !written;
            events
        }
        C::FlatLoad => flat(set, (loads, half), MemoryEffect::LOAD, MemoryEffect::LDS_READ),
        C::FlatStore => flat(set, (loads, half), MemoryEffect::STORE, MemoryEffect::LDS_WRITE),
        C::FlatAtomic | C::FlatAtomicRet => flat(
            set,
            (loads, half),
            MemoryEffect::STORE | MemoryEffect::LOAD,
            MemoryEffect::LDS_WRITE | MemoryEffect::LDS_READ,
        ),
        C::LdsRead => one(Stream::Lds, MemoryEffect::LDS_READ),
        C::LdsWrite => one(Stream::Lds, MemoryEffect::LDS_WRITE),
        C::LdsAtomic | C::LdsAtomicRet => one(Stream::Lds, MemoryEffect::LDS_WRITE | MemoryEffect::LDS_READ),
        C::LdsPermute => one(Stream::Lds, MemoryEffect::empty()),
        C::LdsDirect | C::LdsParam => one(Stream::LdsDirect, MemoryEffect::empty()),
        C::Gds | C::Gws => gds(inst, loads),
        C::SmemLoad | C::SmemTime => {
            let mut events: Events = one(Stream::Smem, MemoryEffect::LOAD);
            events[0].count = smem_count(inst);
            events
        }
        C::SmemStore => one(Stream::Smem, MemoryEffect::STORE),
        C::SmemAtomic | C::SmemAtomicRet => one(Stream::Smem, MemoryEffect::STORE | MemoryEffect::LOAD),
        C::AsyncLoad => one(Stream::AsyncCopy, MemoryEffect::LDS_DMA | MemoryEffect::LOAD),
        C::AsyncStore => one(Stream::AsyncCopy, MemoryEffect::STORE | MemoryEffect::LDS_READ),
        C::TensorLoad => one(Stream::Tensor, MemoryEffect::LDS_DMA | MemoryEffect::LOAD),
        C::TensorStore => one(Stream::Tensor, MemoryEffect::STORE | MemoryEffect::LDS_READ),
        C::AsyncArrive => one(Stream::AsyncCopy, MemoryEffect::empty()),
        C::BarrierState => one(Stream::Smem, MemoryEffect::empty()),
        C::SmemCache => one(Stream::Smem, MemoryEffect::empty()),
        C::Sendmsg => one(Stream::Message, MemoryEffect::empty()),
        C::Barrier if inst.desc.does(Behaviours::LATE_SCC) => smallvec![Event {
            writes: Some(reg::SCC),
            until: inst.barrier(),
            ..Event::counted(Stream::BarrierScc)
        }],
        _ => SmallVec::new(),
    }
}

/// The number by which a scalar memory operation increases the counter: one for a load of a dword, two for a larger load. Instructions that
/// read the time count like a load of two dwords.
fn smem_count(inst: &Inst) -> u8 {
    match inst.desc.mem_bytes {
        MemBytes::Bytes(0..=4) => 1,
        _ => 2,
    }
}

/// The operations of a FLAT access, which is counted on both counters and may return from either. From GFX10 on, LLVM assumes that FLAT
/// accesses are in order on both counters (measured).
fn flat(
    set: InstructionSet,
    (loads, half): (Option<Reg>, Option<Half>),
    global: MemoryEffect,
    lds: MemoryEffect,
) -> Events {
    let side = |stream, memory| Event { writes: loads, half, memory, ..Event::counted(stream) };
    let (memory, local) = match (Counter::Vs.exists_on(set), loads) {
        (false, _) => (Stream::FlatVm, Stream::FlatLgkm),
        (true, Some(_)) => (Stream::Vmem, Stream::Lds),
        (true, None) => (Stream::Store, Stream::Lds),
    };
    smallvec![side(memory, global), side(local, lds)]
}

/// The operations of a GDS or GWS instruction, which reads its VGPRs late. For GWS, LLVM keeps the VGPRs reserved until lgkmcnt proves
/// completion.
fn gds(inst: &Inst, loads: Option<Reg>) -> Events {
    let data: SmallVec<[Reg; 2]> = inst
        .reads()
        .iter()
        .filter(|u| u.operand.is_some() && u.reg.file != RegFile::Sgpr)
        .map(|u| u.reg)
        .collect();
    let syncs = inst.desc.class == Class::Gws;
    let holds = if syncs { data.clone() } else { SmallVec::new() };
    let memory = if syncs { MemoryEffect::SYNC } else { MemoryEffect::empty() };
    smallvec![
        Event { writes: loads, holds, memory, ..Event::counted(Stream::Gds) },
        Event { holds: data, ..Event::counted(Stream::GdsData) },
    ]
}

/// The register that a memory instruction writes when its data returns, and the half if the instruction writes only one half.
fn result(inst: &Inst) -> (Option<Reg>, Option<Half>) {
    let written =
        inst.operands.iter().zip(inst.desc.operands).enumerate().find_map(|(i, (operand, desc))| {
            operand.reg().filter(|_| desc.access != Access::Read).map(|reg| (reg, inst.half(i as u8)))
        });
    written.map_or((None, None), |(reg, half)| (Some(reg), half))
}

/// The wait that is implied by issuing an instruction that starts `events`: its counters must have room for them
/// ([`Counter::capacity`]).
///
/// ```
/// use gcn_isa::InstructionSet;
/// use gcn_isa::counters::{Counter, Event, Stream, WaitCnt, room};
/// let load = Event { count: 2, ..Event::counted(Stream::Smem) };
/// assert_eq!(room(InstructionSet::GFX900, &[load]), Counter::Lgkm.at(13));
/// assert_eq!(room(InstructionSet::GFX900, &[]), WaitCnt::NONE);
/// ```
pub fn room(set: InstructionSet, events: &[Event]) -> WaitCnt {
    events.iter().fold(WaitCnt::NONE, |all, event| {
        let counter = event.stream.counter(set);
        all.and(counter.at(counter.capacity(set).saturating_sub(event.count)))
    })
}

/// True if an operation of stream `second` may overwrite the result of an earlier operation of stream `first` without a wait. Before GFX12,
/// this is true for two vector memory operations, because they return in order. LDS operations and LDS direct loads also return in order,
/// but LLVM waits for them, so the stricter interpretation is used.
pub fn finishes_after(set: InstructionSet, first: Stream, second: Stream) -> bool {
    match (first, second) {
        (Stream::Vmem, Stream::Vmem) => set.returns_loads_in_order(),
        _ => false,
    }
}
