//! Accesses to LDS that are outstanding when their wave comes to a barrier, and stores to memory if its waves may be on several compute
//! units.
//!
//! The waves of a workgroup have several queues to LDS, so that its operations need not happen in the order in which different waves
//! issue them (LLVM AMDGPU guide, memory model). After the barrier another wave may therefore still read what was there before an
//! outstanding write, and an outstanding read may return what another wave writes after the barrier. A load into LDS that is
//! outstanding there may write after any access of another wave.

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

/// The number of accesses from which on those that are done are dropped before another is kept.
const MANY: usize = 64;

/// What an access does, as the rules about barriers distinguish it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Does {
    Read,
    Write,
    /// A load into LDS, counted by vmcnt.
    Load,
    /// It writes memory that waves on other compute units may read.
    Store,
}

impl Does {
    /// `None` if the instruction stays away from LDS and writes nothing that matters. Where stores matter there is no LDS.
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

    /// What it accesses that matters.
    pub(crate) fn path(self) -> Path {
        match self {
            Does::Read | Does::Write | Does::Load => Path::Lds,
            Does::Store => Path::Global,
        }
    }
}

/// An access to LDS, or a store.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Its operation.
    id: u32,
    /// Index of the instruction.
    pub at: usize,
    pub does: Does,
    /// What it touches there.
    pub touches: Vec<Touch>,
}

/// The accesses of a wave that are not yet known to be done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    list: Vec<Access>,
    /// Room of dropped accesses.
    spare: Vec<Vec<Touch>>,
}

impl Accesses {
    pub(crate) fn reset(&mut self) {
        self.list.clear();
    }

    /// Takes note of the access that the instruction at `at`, the youngest operation, has started, if it is one; of stores to memory
    /// if the kernel on `machine` orders them by barriers.
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
        // Nearly always all of them, which are copied at once.
        kept.extend_from_slice(touches);
        kept.retain(is_mine);
        self.list.push(Access { id: counters.youngest(), at, does, touches: kept });
    }

    fn drop_done(&mut self, counters: &Counters) {
        let done = self.list.extract_if(.., |a| counters.wait_for(a.id, a.does.path()).is_none());
        self.spare.extend(done.map(|access| access.touches));
    }

    /// Those that are outstanding now, each with the weakest wait for it.
    pub(crate) fn outstanding(&mut self, counters: &Counters) -> impl Iterator<Item = (&Access, WaitCnt)> {
        self.drop_done(counters);
        self.list.iter().filter_map(|a| Some((a, counters.wait_for(a.id, a.does.path())?)))
    }
}

/// An access that was outstanding when its wave came to the last barrier.
pub(crate) struct Late {
    wave: u32,
    at: usize,
    does: Does,
    wait: WaitCnt,
    touches: Vec<Touch>,
    range: LdsRange,
}

impl Late {
    /// `None` if the rules leave it out. A write or load that another wave's access meets is a wrong result by the memory model,
    /// whatever grade the rule has for a program that only may have such an access; a read that is overtaken is the less likely
    /// case, and its rule decides.
    pub(crate) fn of(wave: u32, rules: Config, (access, wait): (&Access, WaitCnt)) -> Option<Late> {
        let (at, does) = (access.at, access.does);
        if does == Does::Read && !rules.counts(does.rule()) {
            return None;
        }
        let touches = access.touches.clone();
        let mut range = LdsRange::default();
        touches.iter().filter(|t| t.space == Path::Lds).for_each(|t| range.add(t));
        Some(Late { wave, at, does, wait, touches, range })
    }

    /// True if `touches` of another wave depend on whether it is done.
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

/// True if the order of two accesses matters. Atomics happen at one moment each, in any order.
fn conflict(one: Kind, other: Kind) -> bool {
    one != other || one == Kind::Write
}

/// The hazard of an access to what the `late` accesses of other waves than `wave` may still have to read or write.
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
