//! Which workgroups run when.
//!
//! A host thread runs workgroups one after the other, so that memory is bounded. When all its workgroups seem to wait,
//! or none has ended for long, it starts another one concurrently, up to the number that the device would hold: waves
//! may wait for stores of other workgroups, in loops of any form.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Hooks, Progress};
use crate::core::error::SimError;
use crate::core::memory::Memory;
use crate::run::launch::Launch;
use crate::run::patience::{self, Patience};
use crate::run::workgroup::{Counts, Round, Unit};

/// Most instructions of a wave's turn while workgroups run side by side.
const TURN_TOGETHER: u64 = 1024;

/// Wave instructions of a host thread without the end of a workgroup, after which it starts the next one. A loop over many words that
/// polls them cannot be told from work, and on hardware the next workgroup would run already.
const ALONE: u64 = 1 << 20;

/// Workgroups that workers take one by one, in order, each with units of registers and LDS. Of several errors that of the first
/// workgroup is kept: all before it have been taken already, and they are run to their end.
pub(super) struct Queue<'p> {
    total: u64,
    /// Most workgroups that a worker runs side by side.
    room: usize,
    next: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
    /// Most cycles that a wave has slept.
    slept: AtomicU64,
    outcome: Mutex<(Counts, Option<(u64, SimError)>)>,
    hooks: Hooks<'p>,
    /// Only for a hook that asks: WebAssembly has no clock.
    patience: Option<Patience>,
}

/// A workgroup that runs.
struct Running {
    group: u64,
    unit: Unit,
    /// Why it cannot go on, or that it seems to wait.
    waits: bool,
    stuck: Option<Box<SimError>>,
}

/// Instructions that the waves of these workgroups have executed.
fn executed(running: &[Running]) -> u64 {
    running.iter().flat_map(|r| &r.unit.waves).map(|wave| wave.count).sum()
}

impl<'p> Queue<'p> {
    pub(super) fn new(total: u64, room: usize, hooks: Hooks<'p>) -> Queue<'p> {
        let zero = || AtomicU64::new(0);
        let (next, done, failed) = (zero(), zero(), AtomicU64::new(u64::MAX));
        Queue {
            total,
            room: room.max(1),
            next,
            done,
            failed,
            slept: AtomicU64::new(0),
            outcome: Mutex::default(),
            hooks,
            patience: hooks.stalled.map(|_| Patience::default()),
        }
    }

    /// The next workgroup.
    fn take(&self) -> Option<u64> {
        let group = self.next.fetch_add(1, Ordering::Relaxed);
        (group < self.total && group <= self.failed.load(Ordering::Relaxed)).then_some(group)
    }

    pub(super) fn work(&self, launch: &Launch<'_>, memory: &Memory) {
        let (mut running, mut spare): (Vec<Running>, Vec<Unit>) = (Vec::new(), Vec::new());
        let mut more = true;
        let mut alone = 0;
        loop {
            let all_wait = running.iter().all(|r| r.waits);
            if all_wait && self.failed.load(Ordering::Relaxed) != u64::MAX {
                // They may be waiting for the wave that failed.
                spare.extend(running.drain(..).map(|r| r.unit));
                break;
            }
            if more && (all_wait || alone >= ALONE) && running.len() < self.room {
                alone = 0;
                match self.take() {
                    Some(group) => match self.start(launch, group, spare.pop()) {
                        Ok(started) => running.push(started),
                        Err(error) => self.fail(group, error),
                    },
                    None => more = false,
                }
            } else if running.iter().all(|r| r.stuck.is_some()) {
                // Also when nothing runs.
                for Running { group, stuck, unit, .. } in running.drain(..) {
                    stuck.into_iter().for_each(|error| self.fail(group, *error));
                    spare.push(unit);
                }
                if !more {
                    break;
                }
            }
            let (before, start) = (running.len(), executed(&running));
            self.round(launch, memory, &mut running, &mut spare);
            alone = if running.len() < before { 0 } else { alone + executed(&running) - start };
        }
        let counts = spare.into_iter().fold(Counts::default(), |sum, unit| sum.plus(unit.counts));
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.0 = std::mem::take(&mut outcome.0).plus(counts);
    }

    fn start(&self, launch: &Launch<'_>, group: u64, unit: Option<Unit>) -> Result<Running, SimError> {
        let mut unit = match unit {
            Some(unit) => unit,
            None => {
                launch.check_scratch(1)?;
                Unit::new(launch)
            }
        };
        unit.start(launch, launch.geometry.id(group))?;
        Ok(Running { group, unit, waits: false, stuck: None })
    }

    /// Lets each workgroup go on.
    fn round(&self, launch: &Launch<'_>, memory: &Memory, running: &mut Vec<Running>, spare: &mut Vec<Unit>) {
        let together = if running.len() > 1 { TURN_TOGETHER } else { u64::MAX };
        let turn = launch.options.turn.min(together);
        let mut at = 0;
        while let Some(r) = running.get_mut(at) {
            let result = r.unit.round(launch, memory, launch.geometry.id(r.group), turn);
            if let Some(service) = self.hooks.service {
                service(memory);
            }
            if let Some(stalled) = self.hooks.stalled
                && self.patience.as_ref().is_some_and(Patience::ends)
            {
                stalled(patience::PATIENCE);
            }
            (r.waits, r.stuck) = (false, None);
            match result {
                Ok(Round::Went) => at += 1,
                Ok(Round::Waits) => {
                    r.waits = true;
                    at += 1;
                }
                Ok(Round::Stuck(error)) => {
                    (r.waits, r.stuck) = (true, Some(error));
                    at += 1;
                }
                Ok(Round::Ended) => {
                    self.done();
                    let unit = running.remove(at).unit;
                    let slept = unit.waves.iter().map(|wave| wave.slept).max().unwrap_or(0);
                    self.slept.fetch_max(slept, Ordering::Relaxed);
                    spare.push(unit);
                }
                Err(error) => {
                    self.fail(r.group, error);
                    spare.push(running.remove(at).unit);
                }
            }
        }
    }

    fn done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(patience) = &self.patience {
            patience.renew();
        }
        if let Some(progress) = self.hooks.progress {
            progress(Progress { done, total: self.total });
        }
    }

    fn fail(&self, group: u64, error: SimError) {
        self.failed.fetch_min(group, Ordering::Relaxed);
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        if outcome.1.as_ref().is_none_or(|(other, _)| group < *other) {
            outcome.1 = Some((group, error));
        }
    }

    /// The number of executed instructions, and the most cycles that a wave has slept.
    pub(super) fn result(self) -> Result<(Counts, u64), SimError> {
        let slept = self.slept.into_inner();
        let (counts, failure) = self.outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok((counts, slept)), |(_, error)| Err(error))
    }
}
