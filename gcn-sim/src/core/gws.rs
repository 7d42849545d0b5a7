//! Global wave sync: 64 resources by which waves of different workgroups wait for each other.
//!
//! What each instruction does to a resource is the operation table of the RDNA3.5 ISA, 13.4.4 (the CDNA manuals have the same
//! instructions with fewer words), with one difference. There `ds_gws_barrier` counts itself first and is the last when the
//! counter is then 0, which lets the last but one through if the counter is the number of waves less one, as the same table and
//! ROCm's device libraries have it (`__ockl_gws_init`, `__ockl_gws_barrier`: `nwm1`). Here a wave is the last if it finds 0.
//!
//! The state outlives a launch, as on hardware: the runtime initialises a resource in a dispatch of its own.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Resources of the device.
const RESOURCES: usize = 64;

/// The event that a wave waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Queued {
    /// The others at a barrier, in its even or odd round.
    Barrier { resource: u8, flag: bool },
    /// One of what a semaphore has to give.
    Semaphore { resource: u8 },
}

#[derive(Clone, Copy, Debug, Default)]
struct Resource {
    counter: u32,
    flag: bool,
    is_barrier: bool,
    /// Waves that wait at the semaphore.
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

    /// No wave is left over from an earlier launch.
    pub(crate) fn start(&self) {
        self.all().iter_mut().for_each(|r| r.waiting = 0);
    }

    /// `ds_gws_init`.
    pub(crate) fn init(&self, resource: u8, counter: u32) {
        self.with(resource, |r| (r.counter, r.flag) = (counter, false));
    }

    /// `ds_gws_barrier`: the event that the wave waits for, unless it is the last wave to arrive. `next` is one less
    /// than the number of waves of the next round.
    pub(crate) fn barrier(&self, resource: u8, next: u32) -> Option<Queued> {
        self.with(resource, |r| {
            r.is_barrier = true;
            let flag = r.flag;
            if r.counter == 0 {
                (r.flag, r.counter) = (!flag, next);
                return None;
            }
            r.counter -= 1;
            Some(Queued::Barrier { resource, flag })
        })
    }

    /// `ds_gws_sema_p`: the event that the wave waits for, unless the semaphore is positive.
    pub(crate) fn acquire(&self, resource: u8) -> Option<Queued> {
        self.with(resource, |r| {
            r.is_barrier = false;
            if r.counter > 0 {
                r.counter -= 1;
                return None;
            }
            r.waiting += 1;
            Some(Queued::Semaphore { resource })
        })
    }

    /// `ds_gws_sema_v` and `ds_gws_sema_br`.
    pub(crate) fn release(&self, resource: u8, count: u32) {
        self.with(resource, |r| (r.is_barrier, r.counter) = (false, r.counter.saturating_add(count)));
    }

    /// `ds_gws_sema_release_all`.
    pub(crate) fn release_all(&self, resource: u8) {
        self.with(resource, |r| (r.is_barrier, r.counter) = (false, r.counter.saturating_add(r.waiting)));
    }

    /// True if a wave that waits may go on. A semaphore gives it what it waited for.
    pub(crate) fn lets_go(&self, queued: Queued) -> bool {
        match queued {
            Queued::Barrier { resource, flag } => self.with(resource, |r| r.is_barrier && r.flag != flag),
            Queued::Semaphore { resource } => self.with(resource, |r| {
                let free = !r.is_barrier && r.counter > 0;
                if free {
                    (r.counter, r.waiting) = (r.counter - 1, r.waiting.saturating_sub(1));
                }
                free
            }),
        }
    }
}
