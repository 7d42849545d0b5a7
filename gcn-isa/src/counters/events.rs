//! The effects of each instruction on the counters.

use bitflags::bitflags;
use smallvec::{SmallVec, smallvec};

use super::{FIELDS, WaitCnt};
use crate::inst::Inst;
use crate::operand::Operand;
use crate::reg::{Reg, RegFile};
use crate::table::{Access, Class, MemBytes};
use crate::target::Target;

/// One of the three counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counter {
    /// `vmcnt`.
    Vm,
    /// `lgkmcnt`.
    Lgkm,
    /// `expcnt`.
    Exp,
}

impl Counter {
    /// Every counter.
    pub const ALL: [Counter; 3] = [Counter::Vm, Counter::Lgkm, Counter::Exp];

    /// The counter's name in `s_waitcnt`.
    pub const fn name(self) -> &'static str {
        match self {
            Counter::Vm => FIELDS[0].name,
            Counter::Exp => FIELDS[1].name,
            Counter::Lgkm => FIELDS[2].name,
        }
    }

    /// The largest field value that waits: one below the field's maximum, which means "do not wait".
    pub const fn cap(self) -> u8 {
        self.of(WaitCnt::NONE) - 1
    }

    /// How many operations the counter holds: as many as its field can say, so that the largest value never
    /// waits.
    ///
    /// An instruction that would take it above that does not issue before enough of them are done. The
    /// manuals do not say so; AMD's emulator and static checker of waits models it (ROCm/rocm-systems, issue
    /// 11202 and pull request 10926: 15 and 63), and LLVM 22 relies on it (measured: no wait for the data of
    /// the first of eight GDS operations, nor, after any `s_waitcnt`, for the first of 17 FLAT loads on
    /// lgkmcnt).
    pub const fn capacity(self) -> u8 {
        self.of(WaitCnt::NONE)
    }

    /// This counter's field of a wait.
    pub const fn of(self, wait: WaitCnt) -> u8 {
        match self {
            Counter::Vm => wait.vm,
            Counter::Lgkm => wait.lgkm,
            Counter::Exp => wait.exp,
        }
    }

    /// The wait for this counter alone.
    pub const fn at(self, value: u8) -> WaitCnt {
        self.set(WaitCnt::NONE, value)
    }

    /// `wait` with this counter's field at `value`.
    pub const fn set(self, mut wait: WaitCnt, value: u8) -> WaitCnt {
        match self {
            Counter::Vm => wait.vm = value,
            Counter::Lgkm => wait.lgkm = value,
            Counter::Exp => wait.exp = value,
        }
        wait
    }
}

/// A stream of operations on one counter. Operations of one stream finish in issue order (if
/// [`Stream::in_order`]); streams that share a counter overtake each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// Vector memory other than FLAT: loads, stores and atomics mixed, in order.
    Vmem,
    /// FLAT on vmcnt. It may go to LDS and leave this counter early.
    FlatVm,
    /// LDS, in order.
    Lds,
    /// FLAT on lgkmcnt. It may go to memory and leave this counter early.
    FlatLgkm,
    /// Scalar memory, in no order.
    Smem,
    /// Messages.
    Message,
    /// GDS and GWS, in order.
    Gds,
    /// GDS and GWS instructions that have not read their VGPRs yet, on expcnt.
    GdsData,
}

impl Stream {
    /// Every stream; [`Stream::index`] is the position.
    pub const ALL: [Stream; 8] = [
        Stream::Vmem,
        Stream::FlatVm,
        Stream::Lds,
        Stream::FlatLgkm,
        Stream::Smem,
        Stream::Message,
        Stream::Gds,
        Stream::GdsData,
    ];

    /// Position in [`Stream::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The counter it moves.
    pub const fn counter(self) -> Counter {
        match self {
            Stream::Vmem | Stream::FlatVm => Counter::Vm,
            Stream::Lds | Stream::FlatLgkm | Stream::Smem | Stream::Message | Stream::Gds => Counter::Lgkm,
            Stream::GdsData => Counter::Exp,
        }
    }

    /// True if its operations access memory or LDS.
    pub const fn accesses_memory(self) -> bool {
        matches!(self, Stream::Vmem | Stream::FlatVm | Stream::Lds | Stream::FlatLgkm | Stream::Smem)
    }

    /// True if a count of younger operations of the stream says that an older one is done.
    pub const fn in_order(self) -> bool {
        matches!(self, Stream::Vmem | Stream::Lds | Stream::Gds)
    }
}

bitflags! {
    /// The effect of an operation on memory.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct MemoryEffect: u8 {
        /// Writes LDS through the LDS queue, as DS instructions do.
        const LDS_WRITE = 1;
        /// Reads LDS.
        const LDS_READ = 2;
        /// Writes LDS when data arrives from memory, outside the LDS queue (LDS DMA).
        const LDS_DMA = 4;
        /// Writes global memory.
        const STORE = 8;
        /// Reads global memory.
        const LOAD = 16;
        /// Lets the wave go on only when others have come so far (GWS).
        const SYNC = 32;
    }
}

/// An operation that an instruction starts on one counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The stream it joins, and with it the counter.
    pub stream: Stream,
    /// How much the counter goes up.
    pub count: u8,
    /// Registers that it writes when it is done: neither to be read nor to be written before that.
    pub writes: Option<Reg>,
    /// Registers that it reads until it is done: not to be written before that.
    pub holds: SmallVec<[Reg; 2]>,
    /// Its effect on memory, once it is complete.
    pub memory: MemoryEffect,
}

/// The operations that an instruction starts: at most one for each counter.
pub type Events = SmallVec<[Event; 2]>;

/// The operations that `inst` starts on `target`. Waits start none.
///
/// Sources: CDNA3 ISA 4.4 and 10.2.2 (the counters), LLVM 22 measured (GDS, GWS, FLAT), LLVM pull requests
/// 178316 and 220694 (cache control from gfx942 on). `ds_nop` and earlier cache control are not counted:
/// counting an operation that the hardware does not count would make waits for older ones too weak, the
/// reverse only makes them stronger.
pub fn events(target: Target, inst: &Inst) -> Events {
    use Class as C;
    let loads = result(inst);
    if inst.mods.gds {
        return gds(inst, loads);
    }
    let one =
        |stream, memory| smallvec![Event { stream, count: 1, writes: loads, holds: SmallVec::new(), memory }];
    match inst.desc.class {
        C::VmemLoad | C::GlobalLoad | C::ScratchLoad => one(Stream::Vmem, MemoryEffect::LOAD),
        C::VmemLoadLds | C::GlobalLoadLds | C::ScratchLoadLds => {
            one(Stream::Vmem, MemoryEffect::LDS_DMA | MemoryEffect::LOAD)
        }
        C::VmemStore | C::GlobalStore | C::ScratchStore => one(Stream::Vmem, MemoryEffect::STORE),
        C::VmemStoreLds => one(Stream::Vmem, MemoryEffect::STORE | MemoryEffect::LDS_READ),
        C::VmemAtomic | C::VmemAtomicRet | C::GlobalAtomic | C::GlobalAtomicRet => {
            one(Stream::Vmem, MemoryEffect::STORE | MemoryEffect::LOAD)
        }
        C::CacheCtl if target.is_gfx940_family() => one(Stream::Vmem, MemoryEffect::empty()),
        C::FlatLoad => flat(loads, MemoryEffect::LOAD, MemoryEffect::LDS_READ),
        C::FlatStore => flat(loads, MemoryEffect::STORE, MemoryEffect::LDS_WRITE),
        C::FlatAtomic | C::FlatAtomicRet => flat(
            loads,
            MemoryEffect::STORE | MemoryEffect::LOAD,
            MemoryEffect::LDS_WRITE | MemoryEffect::LDS_READ,
        ),
        C::LdsRead => one(Stream::Lds, MemoryEffect::LDS_READ),
        C::LdsWrite => one(Stream::Lds, MemoryEffect::LDS_WRITE),
        C::LdsAtomic | C::LdsAtomicRet => one(Stream::Lds, MemoryEffect::LDS_WRITE | MemoryEffect::LDS_READ),
        C::LdsPermute => one(Stream::Lds, MemoryEffect::empty()),
        C::Gds | C::Gws => gds(inst, loads),
        C::SmemLoad | C::SmemTime => {
            let mut events: Events = one(Stream::Smem, MemoryEffect::LOAD);
            events[0].count = smem_count(inst);
            events
        }
        C::SmemStore => one(Stream::Smem, MemoryEffect::STORE),
        C::SmemAtomic | C::SmemAtomicRet => one(Stream::Smem, MemoryEffect::STORE | MemoryEffect::LOAD),
        C::SmemCache => one(Stream::Smem, MemoryEffect::empty()),
        C::Sendmsg => one(Stream::Message, MemoryEffect::empty()),
        _ => SmallVec::new(),
    }
}

/// One for a dword, two for more; the time instructions count like a load of two dwords.
fn smem_count(inst: &Inst) -> u8 {
    match inst.desc.mem_bytes {
        MemBytes::Bytes(0..=4) => 1,
        _ => 2,
    }
}

/// A FLAT access counts on both sides and may come back from either.
fn flat(loads: Option<Reg>, global: MemoryEffect, lds: MemoryEffect) -> Events {
    let side = |stream, memory| Event { stream, count: 1, writes: loads, holds: SmallVec::new(), memory };
    smallvec![side(Stream::FlatVm, global), side(Stream::FlatLgkm, lds)]
}

/// GDS and GWS read their VGPRs late. LLVM keeps those of GWS until lgkmcnt, too, says that it is done.
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
        Event { stream: Stream::Gds, count: 1, writes: loads, holds, memory },
        Event { stream: Stream::GdsData, count: 1, writes: None, holds: data, memory: MemoryEffect::empty() },
    ]
}

/// The register that a memory instruction writes when its data returns.
fn result(inst: &Inst) -> Option<Reg> {
    inst.operands.iter().zip(inst.desc.operands).find_map(|(operand, desc)| match *operand {
        Operand::Reg(reg) if desc.access != Access::Read => Some(reg),
        _ => None,
    })
}

/// The wait that is part of issuing an instruction which starts `events`: its counters have room for them
/// ([`Counter::capacity`]).
///
/// ```
/// use gcn_isa::counters::{Event, MemoryEffect, Stream, WaitCnt, room};
/// let load = Event {
///     stream: Stream::Smem, count: 2, writes: None, holds: Default::default(), memory: MemoryEffect::LOAD,
/// };
/// assert_eq!(room(&[load]), WaitCnt { lgkm: 13, ..WaitCnt::NONE });
/// assert_eq!(room(&[]), WaitCnt::NONE);
/// ```
pub fn room(events: &[Event]) -> WaitCnt {
    events.iter().fold(WaitCnt::NONE, |all, event| {
        let counter = event.stream.counter();
        all.and(counter.at(counter.capacity().saturating_sub(event.count)))
    })
}

/// True if an operation of stream `second` may be issued over the result of an earlier one of stream `first`
/// without a wait: vector memory after vector memory, which returns in order. LDS returns in order as well,
/// but LLVM waits there; the stricter reading stands.
pub fn finishes_after(first: Stream, second: Stream) -> bool {
    (first, second) == (Stream::Vmem, Stream::Vmem)
}
