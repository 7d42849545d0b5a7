//! Global wave sync (GWS): 64 counters with which waves of different workgroups wait for each other.
//!
//! The effect of each instruction follows the operation table of the RDNA3.5 ISA, 13.4.4 (the CDNA manuals describe the same instructions
//! in less detail), with one exception: when a wave counts as the last one to arrive at a barrier. In the table, `ds_gws_barrier`
//! decrements the counter first, and the wave is the last one if the result is 0. But in the same table and in ROCm's device libraries the
//! counter starts at the number of waves minus one (`__ockl_gws_init`, `__ockl_gws_barrier`: `nwm1`), so the second to last wave would pass
//! the barrier. Here a wave is the last one if it finds the counter at 0.
//!
//! The state persists between launches, as on hardware: the runtime initialises a resource in a separate dispatch.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of resources of the device.
const RESOURCES: usize = 64;

/// What a wave waits for, as one number: the next step of a wave is returned by every instruction, and a scalar stays in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Queued(u32);

impl Queued {
    const SEMAPHORE: u32 = 1 << 8;
    const FLAG: u32 = 1 << 9;

    fn of(until: Until) -> Queued {
        Queued(match until {
            Until::Barrier { resource, flag: false } => u32::from(resource),
            Until::Barrier { resource, flag: true } => u32::from(resource) | Self::FLAG,
            Until::Semaphore { resource } => u32::from(resource) | Self::SEMAPHORE,
        })
    }

    pub(crate) fn until(self) -> Until {
        let [resource, ..] = self.0.to_le_bytes();
        match self.0 & Self::SEMAPHORE {
            0 => Until::Barrier { resource, flag: self.0 & Self::FLAG != 0 },
            _ => Until::Semaphore { resource },
        }
    }
}

/// The event for which a wave waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Until {
    /// The other waves at a barrier. `flag` distinguishes even rounds of the barrier from odd rounds.
    Barrier { resource: u8, flag: bool },
    /// A positive count of a semaphore.
    Semaphore { resource: u8 },
}

#[derive(Clone, Copy, Debug, Default)]
struct Resource {
    counter: u32,
    flag: bool,
    is_barrier: bool,
    /// The number of waves that wait for the semaphore.
    waiting: u32,
}

/// The resources.
#[derive(Debug)]
pub(crate) struct Gws(Mutex<[Resource; RESOURCES]>);

impl Default for Gws {
    fn default() -> Gws {
        Gws(Mutex::new([Resource::default(); RESOURCES]))
    }
}

impl Gws {
    fn all(&self) -> MutexGuard<'_, [Resource; RESOURCES]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, resource: u8, f: impl FnOnce(&mut Resource) -> T) -> T {
        f(&mut self.all()[usize::from(resource) % RESOURCES])
    }

    /// Removes waves that were still waiting when an earlier launch ended.
    pub(crate) fn start(&self) {
        self.all().iter_mut().for_each(|r| r.waiting = 0);
    }

    /// Executes `ds_gws_init`.
    pub(crate) fn init(&self, resource: u8, counter: u32) {
        self.with(resource, |r| (r.counter, r.flag) = (counter, false));
    }

    /// Executes `ds_gws_barrier`. Returns what the wave has to wait for, or `None` if it is the last wave to arrive. `next` is the number
    /// of waves in the next round minus one.
    pub(crate) fn barrier(&self, resource: u8, next: u32) -> Option<Queued> {
        self.with(resource, |r| {
            r.is_barrier = true;
            let flag = r.flag;
            if r.counter == 0 {
                (r.flag, r.counter) = (!flag, next);
                return None;
            }
            r.counter -= 1;
            Some(Queued::of(Until::Barrier { resource, flag }))
        })
    }

    /// Executes `ds_gws_sema_p`. Returns what the wave has to wait for, or `None` if the semaphore was positive.
    pub(crate) fn acquire(&self, resource: u8) -> Option<Queued> {
        self.with(resource, |r| {
            r.is_barrier = false;
            if r.counter > 0 {
                r.counter -= 1;
                return None;
            }
            r.waiting += 1;
            Some(Queued::of(Until::Semaphore { resource }))
        })
    }

    /// Executes `ds_gws_sema_v` or `ds_gws_sema_br`.
    pub(crate) fn release(&self, resource: u8, count: u32) {
        self.with(resource, |r| (r.is_barrier, r.counter) = (false, r.counter.saturating_add(count)));
    }

    /// Executes `ds_gws_sema_release_all`.
    pub(crate) fn release_all(&self, resource: u8) {
        self.with(resource, |r| (r.is_barrier, r.counter) = (false, r.counter.saturating_add(r.waiting)));
    }

    /// True if a waiting wave may continue. For a semaphore, also decrements its count in that case.
    pub(crate) fn lets_go(&self, queued: Queued) -> bool {
        match queued.until() {
            Until::Barrier { resource, flag } => self.with(resource, |r| r.is_barrier && r.flag != flag),
            Until::Semaphore { resource } => self.with(resource, |r| {
                let free = !r.is_barrier && r.counter > 0;
                if free {
                    (r.counter, r.waiting) = (r.counter - 1, r.waiting.saturating_sub(1));
                }
                free
            }),
        }
    }
}
