//! Tracks accesses to LDS that are outstanding when their wave arrives at a barrier, and stores to memory if the waves of a workgroup may be
//! on several compute units.
//!
//! The waves of a workgroup have several queues to LDS, so operations of different waves need not take place in the order in which they are
//! issued (LLVM AMDGPU guide, memory model). After the barrier, another wave may therefore still read the value from before an outstanding
//! write, and an outstanding read may return what another wave writes after the barrier. A load into LDS that is outstanding at the barrier
//! may write after any access of another wave.

use gcn_isa::counters::WaitCnt;
use gcn_isa::hazards::Config;
use gcn_isa::hazards::counter::{self, CounterRule};

use super::counters::Counters;
use super::effect::Effect;
use super::hazard;
use super::range::LdsRange;
use crate::core::machine::Machine;
use crate::core::site::Hazard;
use crate::core::trace::{Kind, Path, Touch};

/// The number of accesses above which completed ones are removed before another is added.
const MANY: usize = 64;

/// The kind of an access, as the rules about barriers distinguish it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Does {
    Read,
    Write,
    /// A load into LDS outside the LDS queue.
    Load,
    /// A store to memory that waves on other compute units may read.
    Store,
}

impl Does {
    /// `None` if the instruction neither accesses LDS nor makes a store that barriers order. In the mode in which barriers order stores
    /// (threadgroup split), there is no LDS.
    fn of(effect: &Effect, orders_stores: bool) -> Option<Does> {
        let kinds = [
            (effect.stores && orders_stores, Does::Store),
            (effect.lds_dma, Does::Load),
            (effect.writes_lds, Does::Write),
            (effect.reads_lds, Does::Read),
        ];
        kinds.into_iter().find_map(|(does, kind)| does.then_some(kind))
    }

    fn rule(self) -> &'static CounterRule {
        match self {
            Does::Read => &counter::BARRIER_LDS_READ,
            Does::Write => &counter::BARRIER_LDS,
            Does::Load => &counter::BARRIER_LDS_DMA,
            Does::Store => &counter::BARRIER_STORE,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Does::Read => "read",
            Does::Write => "write",
            Does::Load => "load",
            Does::Store => "store",
        }
    }

    /// The memory that an access of this kind affects.
    pub(crate) fn path(self) -> Path {
        match self {
            Does::Read | Does::Write | Does::Load => Path::Lds,
            Does::Store => Path::Global,
        }
    }
}

/// An access to LDS, or a store to memory.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The serial number of the access's operation.
    id: u32,
    /// The index of the instruction.
    pub at: usize,
    pub does: Does,
    /// The memory that the instruction accesses.
    pub touches: Vec<Touch>,
}

/// The accesses of a wave that may be outstanding.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    list: Vec<Access>,
    /// Allocations of removed accesses, for reuse.
    spare: Vec<Vec<Touch>>,
    /// The accesses that were outstanding when the wave last arrived at a barrier, each with the weakest wait that would have completed it.
    /// At a split barrier, later waits come too late: the other waves may have passed it.
    arrived: Vec<(Access, WaitCnt)>,
}

impl Accesses {
    pub(crate) fn reset(&mut self) {
        self.list.clear();
        self.arrived.clear();
    }

    /// If the instruction at `at`, which has started the youngest operation, accesses LDS, adds its access. Stores to memory are added only
    /// if barriers order them for the kernel on `machine`.
    pub(crate) fn add(
        &mut self,
        counters: &Counters,
        machine: &Machine,
        (effect, at): (&Effect, usize),
        touches: &[Touch],
    ) {
        let Some(does) = Does::of(effect, machine.state().tg_split) else { return };
        let is_mine = |t: &Touch| t.space == does.path();
        if !touches.iter().any(is_mine) {
            return;
        }
        if self.list.len() >= MANY {
            self.drop_done(counters);
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        // Usually all accesses match, so they are copied at once.
        kept.extend_from_slice(touches);
        kept.retain(is_mine);
        self.list.push(Access { id: counters.youngest(), at, does, touches: kept });
    }

    fn drop_done(&mut self, counters: &Counters) {
        let done = self.list.extract_if(.., |a| counters.wait_for(a.id, a.does.path()).is_none());
        self.spare.extend(done.map(|access| access.touches));
    }

    /// Called when the wave arrives at a barrier.
    pub(crate) fn arrive(&mut self, counters: &Counters) {
        self.drop_done(counters);
        let outstanding = |a: &Access| Some((a.clone(), counters.wait_for(a.id, a.does.path())?));
        self.arrived.clear();
        self.arrived.extend(self.list.iter().filter_map(outstanding));
    }

    /// Called when the waves meet at the barrier. Returns the accesses that were outstanding at this wave's arrival, each with the weakest
    /// wait that would have completed it.
    pub(crate) fn meet(&mut self) -> impl Iterator<Item = (Access, WaitCnt)> {
        self.arrived.drain(..)
    }
}

/// An access that was outstanding when its wave arrived at the last barrier.
pub(crate) struct Late {
    wave: u32,
    at: usize,
    does: Does,
    wait: WaitCnt,
    touches: Vec<Touch>,
    range: LdsRange,
}

impl Late {
    /// `None` if the selected rules exclude the access. If another wave's access conflicts with an outstanding write or load into LDS, the
    /// result is wrong according to the memory model, so the grade of the rule does not matter: the grade only rates programs that might
    /// contain such an access. It is less likely that another wave overtakes an outstanding read, so for a read the grade decides.
    pub(crate) fn of(wave: u32, rules: Config, (access, wait): (Access, WaitCnt)) -> Option<Late> {
        let Access { at, does, touches, .. } = access;
        if does == Does::Read && !rules.counts(does.rule()) {
            return None;
        }
        let mut range = LdsRange::default();
        touches.iter().filter(|t| t.space == Path::Lds).for_each(|t| range.add(t));
        Some(Late { wave, at, does, wait, touches, range })
    }

    /// True if the accesses `touches` of another wave depend on whether this access has completed.
    fn meets(&self, wave: u32, touches: &[Touch]) -> bool {
        self.wave != wave
            && touches.iter().filter(|t| t.space == self.does.path()).any(|other| {
                let mut range = LdsRange::default();
                range.add(other);
                (other.space != Path::Lds || range.overlaps(&self.range))
                    && self.touches.iter().any(|t| conflict(t.kind, other.kind) && overlap(t, other))
            })
    }
}

/// True if the order of two accesses matters. Atomics are indivisible and may happen in any order.
fn conflict(one: Kind, other: Kind) -> bool {
    one != other || one == Kind::Write
}

/// The hazard of an access by `wave` to data that accesses in `late`, by other waves, may still have to read or write; `None` if there are
/// none.
pub(crate) fn overtaken(
    late: &[Late],
    machine: &Machine,
    wave: u32,
    touches: &[Touch],
) -> Option<Box<Hazard>> {
    let access = late.iter().find(|l| l.meets(wave, touches))?;
    let have =
        format!("wave {} came to the barrier with the {} outstanding", access.wave, access.does.noun());
    let wait = access.wait.on(machine.target().instruction_set());
    let remedy = format!("place `{wait}` before the s_barrier between the two");
    let rule = access.does.rule();
    Some(hazard(machine, rule.id, access.at, None, (wait.counters(), have, remedy)))
}

fn overlap(a: &Touch, b: &Touch) -> bool {
    let end = |t: &Touch| t.address + u64::from(t.bytes);
    a.address < end(b) && b.address < end(a)
}
