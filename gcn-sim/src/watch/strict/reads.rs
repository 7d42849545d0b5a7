//! Reads of LDS, and loads into it, that are outstanding when their wave comes to a barrier.
//!
//! The waves of a workgroup have several queues to LDS, so that its operations need not happen in the order in which different waves
//! issue them (LLVM AMDGPU guide, memory model): what another wave writes after the barrier may be what such a read returns.
//! A load into LDS that is outstanding there may write after any access of another wave.

use gcn_isa::counters::WaitCnt;
use gcn_isa::hazards::counter;

use super::counters::Counters;
use super::hazard;
use super::range::LdsRange;
use crate::core::error::Hazard;
use crate::core::exec::{Kind, Path, Touch};
use crate::core::machine::Machine;

/// Reads of which it is not looked at whether they are done.
const MANY: usize = 64;

/// A read of LDS, or a load into it.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// Its operation.
    id: u32,
    /// Index of the instruction.
    pub at: usize,
    /// What it touches of LDS.
    pub touches: Vec<Touch>,
}

impl Read {
    /// It is a load into LDS.
    pub(crate) fn writes(&self) -> bool {
        self.touches.iter().any(|touch| touch.kind != Kind::Read)
    }
}

/// The reads of a wave that are not yet known to be done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads(Vec<Read>);

impl Reads {
    pub(crate) fn reset(&mut self) {
        self.0.clear();
    }

    /// Takes note of the read or load that the instruction at `at`, the youngest operation, has started.
    pub(crate) fn add(&mut self, counters: &Counters, at: usize, touches: &[Touch]) {
        let touches: Vec<Touch> = touches.iter().filter(|t| t.space == Path::Lds).copied().collect();
        if touches.is_empty() {
            return;
        }
        if self.0.len() >= MANY {
            self.0.retain(|r| counters.wait_for(r.id).is_some());
        }
        self.0.push(Read { id: counters.youngest(), at, touches });
    }

    /// Those that are outstanding now, each with the weakest wait for it.
    pub(crate) fn outstanding(&mut self, counters: &Counters) -> impl Iterator<Item = (&Read, WaitCnt)> {
        self.0.retain(|r| counters.wait_for(r.id).is_some());
        self.0.iter().filter_map(|r| Some((r, counters.wait_for(r.id)?)))
    }
}

/// A read that was outstanding when its wave came to the last barrier.
pub(crate) struct Late {
    wave: u32,
    at: usize,
    wait: WaitCnt,
    touches: Vec<Touch>,
    range: LdsRange,
    writes: bool,
}

impl Late {
    pub(crate) fn of(wave: u32, (read, wait): (&Read, WaitCnt)) -> Late {
        let (at, touches) = (read.at, read.touches.clone());
        let mut range = LdsRange::default();
        touches.iter().for_each(|t| range.add(t));
        Late { wave, at, wait, touches, range, writes: read.writes() }
    }

    /// True if it is another wave's than `wave` and of bytes that `touches` write; of a load into LDS, of any that they access.
    fn is_overtaken(&self, wave: u32, touches: &[Touch]) -> bool {
        self.wave != wave
            && touches.iter().filter(|t| t.space == Path::Lds && (self.writes || t.kind != Kind::Read)).any(
                |write| {
                    let mut range = LdsRange::default();
                    range.add(write);
                    range.overlaps(&self.range) && self.touches.iter().any(|t| overlap(t, write))
                },
            )
    }
}

/// The hazard of writing what `late` reads of other waves than `wave` may still have to read, or of accessing what their loads may
/// still have to write.
pub(crate) fn overtaken(
    late: &[Late],
    machine: &Machine,
    wave: u32,
    touches: &[Touch],
) -> Option<Box<Hazard>> {
    let read = late.iter().find(|l| l.is_overtaken(wave, touches))?;
    let (rule, what) =
        if read.writes { (&counter::BARRIER_LDS_DMA, "load") } else { (&counter::BARRIER_LDS_READ, "read") };
    let have = format!("wave {} came to the barrier with the {what} outstanding", read.wave);
    let remedy = format!("place `s_waitcnt {}` before the s_barrier between the two", read.wait);
    Some(hazard(machine, rule.id, read.at, None, (read.wait.to_string(), have, remedy)))
}

fn overlap(a: &Touch, b: &Touch) -> bool {
    let end = |t: &Touch| t.address + u64::from(t.bytes);
    a.address < end(b) && b.address < end(a)
}
