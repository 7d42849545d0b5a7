//! Schedules workgroups on host threads.
//!
//! A host thread (worker) runs workgroups one after the other, so that memory use is bounded. If all its workgroups seem to wait for other
//! workgroups, or none has ended for a long time, the worker starts another one concurrently, up to the number that would fit on the
//! device: waves may wait for stores of other workgroups, in loops of any form.

use std::cell::LazyCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Hooks, Progress};
use crate::core::error::SimError;
use crate::core::memory::Memory;
use crate::run::launch::Launch;
use crate::run::patience::{self, Patience};
use crate::run::workgroup::{Counts, Round, Unit};

/// The maximum length of a wave's turn in instructions while a worker runs several workgroups concurrently.
const TURN_TOGETHER: u64 = 1024;

/// The number of wave instructions that a worker executes without the end of a workgroup before it starts another workgroup. A loop that
/// polls many words cannot be distinguished from useful work, and on hardware the next workgroup would already be running.
const ALONE: u64 = 1 << 20;

/// The workgroups of a launch, which workers take one by one in ascending order. The queue also keeps sets of registers and LDS for reuse.
/// If several workgroups fail, the error of the first one is kept: all workgroups before it have been taken already and are run to their
/// end.
pub(super) struct Queue<'p> {
    total: u64,
    workers: usize,
    next: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
    /// The largest number of cycles that any wave has slept.
    slept: AtomicU64,
    outcome: Mutex<(Counts, Option<(u64, SimError)>)>,
    hooks: Hooks<'p>,
    /// `None` if no hook needs it, because WebAssembly has no clock.
    patience: Option<Patience>,
}

/// A workgroup that is running.
struct Running {
    group: u64,
    unit: Unit,
    /// Whether the workgroup seems to wait for other workgroups; and the error to report if no other workgroup releases it.
    waits: bool,
    stuck: Option<Box<SimError>>,
}

/// The number of instructions that the waves of the running workgroups have executed.
fn executed(running: &[Running]) -> u64 {
    running.iter().flat_map(|r| &r.unit.waves).map(|wave| wave.count).sum()
}

impl<'p> Queue<'p> {
    pub(super) fn new(total: u64, workers: usize, hooks: Hooks<'p>) -> Queue<'p> {
        let zero = || AtomicU64::new(0);
        let (next, done, failed) = (zero(), zero(), AtomicU64::new(u64::MAX));
        Queue {
            total,
            workers,
            next,
            done,
            failed,
            slept: AtomicU64::new(0),
            outcome: Mutex::default(),
            hooks,
            patience: hooks.stalled.map(|_| Patience::default()),
        }
    }

    /// Takes the next workgroup; `None` if there are no more.
    fn take(&self) -> Option<u64> {
        let group = self.next.fetch_add(1, Ordering::Relaxed);
        (group < self.total && group <= self.failed.load(Ordering::Relaxed)).then_some(group)
    }

    pub(super) fn work(&self, launch: &Launch<'_>, memory: &Memory) {
        let (mut running, mut spare): (Vec<Running>, Vec<Unit>) = (Vec::new(), Vec::new());
        // The maximum number of workgroups that a worker runs concurrently. Only few programs need it.
        let room =
            LazyCell::new(|| usize::try_from(launch.room()).unwrap_or(usize::MAX).div_ceil(self.workers));
        let mut more = true;
        let mut alone = 0;
        loop {
            let all_wait = running.iter().all(|r| r.waits);
            if all_wait && self.failed.load(Ordering::Relaxed) != u64::MAX {
                // After an error, the remaining workgroups may wait forever for the one that failed.
                spare.extend(running.drain(..).map(|r| r.unit));
                break;
            }
            let next = more && (all_wait || alone >= ALONE);
            if next && (running.is_empty() || running.len() < *room) {
                alone = 0;
                match self.take() {
                    Some(group) => match self.start(launch, group, spare.pop()) {
                        Ok(started) => running.push(started),
                        Err(error) => self.fail(group, error),
                    },
                    None => more = false,
                }
            } else if running.iter().all(|r| r.stuck.is_some()) {
                // This branch is also taken if the worker has no running workgroup.
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

    /// Runs one round of turns for each running workgroup.
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

    /// The counts of executed instructions, and the largest number of cycles that any wave has slept.
    pub(super) fn result(self) -> Result<(Counts, u64), SimError> {
        let slept = self.slept.into_inner();
        let (counts, failure) = self.outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok((counts, slept)), |(_, error)| Err(error))
    }
}
