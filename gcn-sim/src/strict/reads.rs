//! Reads of LDS that are outstanding when their wave comes to a barrier.
//!
//! The waves of a workgroup have several queues to LDS, so that its operations need not happen in the order in which different waves
//! issue them (LLVM AMDGPU guide, memory model): what another wave writes after the barrier may be what such a read returns.

use gcn_isa::counters::WaitCnt;

use super::counters::Counters;
use super::hazard;
use super::range::LdsRange;
use crate::error::Hazard;
use crate::exec::{Kind, Path, Touch};
use crate::machine::Machine;

/// Reads of which it is not looked at whether they are done.
const MANY: usize = 64;

/// A read of LDS.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// Its operation.
    id: u32,
    /// Index of the instruction.
    pub at: usize,
    pub touches: Vec<Touch>,
}

/// The reads of a wave since it is known which are done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads(Vec<Read>);

impl Reads {
    pub(crate) fn reset(&mut self) {
        self.0.clear();
    }

    /// Takes note of the read that the instruction at `at`, the youngest operation, has started.
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
}

impl Late {
    pub(crate) fn of(wave: u32, (read, wait): (&Read, WaitCnt)) -> Late {
        let (at, touches) = (read.at, read.touches.clone());
        let mut range = LdsRange::default();
        touches.iter().for_each(|t| range.add(t));
        Late { wave, at, wait, touches, range }
    }

    /// True if the read is another wave's than `wave` and of bytes that `touches` write.
    fn is_overtaken(&self, wave: u32, touches: &[Touch]) -> bool {
        self.wave != wave
            && touches.iter().filter(|t| t.space == Path::Lds && t.kind != Kind::Read).any(|write| {
                let mut range = LdsRange::default();
                range.add(write);
                range.overlaps(&self.range) && self.touches.iter().any(|t| overlap(t, write))
            })
    }
}

/// The hazard of writing what `late` reads of other waves than `wave` may still have to read.
pub(crate) fn overtaken(
    late: &[Late],
    machine: &Machine,
    wave: u32,
    touches: &[Touch],
) -> Option<Box<Hazard>> {
    let read = late.iter().find(|l| l.is_overtaken(wave, touches))?;
    let have = format!("wave {} came to the barrier with the read outstanding", read.wave);
    let remedy = format!("place `s_waitcnt {}` before the s_barrier between the two", read.wait);
    Some(hazard(machine, "barrier.lds-read", read.at, None, (read.wait.to_string(), have, remedy)))
}

fn overlap(a: &Touch, b: &Touch) -> bool {
    let end = |t: &Touch| t.address + u64::from(t.bytes);
    a.address < end(b) && b.address < end(a)
}
