//! Events.

use super::{DEFAULT_STREAMS, State, current_device};
use crate::error::{Error, Result};

/// `hipStreamNonBlocking`.
pub(crate) const NON_BLOCKING: u32 = 1;
/// The shortest time in seconds for which a stream appears busy.
const LEAST: f64 = 1e-3;

/// `hipEventDisableTiming`.
const NO_TIMING: u32 = 2;
/// All existing flags.
const FLAGS: u32 = 0x1 | NO_TIMING | INTERPROCESS | 0x2000_0000 | RELEASES;
/// `hipEventInterprocess`. An event with this flag must also have [`NO_TIMING`].
const INTERPROCESS: u32 = 4;
/// `hipEventReleaseToDevice` and `hipEventReleaseToSystem`, which exclude each other.
const RELEASES: u32 = 0xc000_0000;

/// An event.
#[derive(Debug, Default)]
pub(crate) struct Event {
    pub flags: u32,
    pub device: usize,
    /// The time at which it was last recorded, in seconds; `None` if it was never recorded.
    pub time: Option<f64>,
    /// The time until which the event appears not to have happened.
    pub busy: f64,
    /// The pending work that will record it; `None` if no pending work will.
    pub pending: Option<u64>,
    /// The graph in which it was last recorded, and the nodes for which it stands.
    pub captured: Option<(u64, Vec<u64>)>,
}

/// The error for a handle that does not exist; a null handle gives a different error than the handle of a destroyed object.
pub(crate) fn gone(handle: u64) -> Error {
    if handle == 0 { Error::InvalidHandle } else { Error::ContextIsDestroyed }
}

impl State {
    pub(crate) fn create_event(&mut self, flags: u32) -> Result<u64> {
        let device = current_device();
        self.model(device)?;
        let alone = flags & (INTERPROCESS | NO_TIMING) == INTERPROCESS;
        if flags & !FLAGS != 0 || flags & RELEASES == RELEASES || alone {
            return Err(Error::InvalidValue);
        }
        Ok(self.events.add(Event { flags, device, ..Event::default() }))
    }

    pub(crate) fn event(&self, event: u64) -> Result<&Event> {
        self.events.get(event).ok_or(gone(event))
    }

    /// Records the time of an event.
    pub(super) fn record(&mut self, event: u64, stream: u64) -> Result {
        let busy = self.busy_until(stream);
        let now = self.now() + (busy - self.idle_time()).max(0.0);
        let event = self.events.get_mut(event).ok_or(Error::InvalidHandle)?;
        (event.time, event.busy, event.captured) = (Some(now), busy, None);
        Ok(())
    }

    /// The time until which a stream appears busy. A blocking stream waits for the null stream, which waits for all blocking streams.
    fn busy_until(&self, stream: u64) -> f64 {
        let device = self.stream_device(stream).unwrap_or_default();
        let null = self.busy.get(&device).copied().unwrap_or(0.0);
        match self.streams.get(stream) {
            Some(found) if found.flags & NON_BLOCKING != 0 => found.busy,
            Some(found) => found.busy.max(null),
            None => {
                let all = self.streams.iter().map(|(_, stream)| stream).filter(|s| s.device == device);
                all.filter(|s| s.flags & NON_BLOCKING == 0).map(|s| s.busy).fold(null, f64::max)
            }
        }
    }

    /// Makes a stream appear busy for `slept` seconds from now on, the time that a kernel has slept.
    pub(super) fn occupy(&mut self, stream: u64, slept: f64) -> Result {
        if slept < LEAST {
            return Ok(());
        }
        let until = self.idle_time().max(self.busy_until(stream)) + slept;
        let device = self.stream_device(stream)?;
        match self.streams.get_mut(stream) {
            Some(found) => found.busy = until,
            None => drop(self.busy.insert(device, until)),
        }
        Ok(())
    }

    /// True if a stream has pending work, or still appears busy.
    pub(crate) fn is_busy(&self, stream: u64) -> Result<bool> {
        Ok(self.idle_time() < self.busy_until(stream) || !self.before(stream)?.is_empty())
    }

    /// True if an event appears not to have happened yet, because its stream still appears busy.
    pub(crate) fn is_ahead(&self, event: u64) -> bool {
        self.events.get(event).is_some_and(|event| event.pending.is_some() || self.idle_time() < event.busy)
    }

    /// Waits until a stream or, if `None`, the whole device is idle. All work has been executed already, so the only effect is that later
    /// queries report it as idle.
    pub(crate) fn settle(&mut self, stream: Option<u64>) {
        let now = self.idle_time();
        let (until, device) = match stream {
            Some(stream) => (self.busy_until(stream), self.stream_device(stream).unwrap_or_default()),
            None => (f64::INFINITY, current_device()),
        };
        if now < until {
            let done = |busy: &mut f64| *busy = if *busy <= until { busy.min(now) } else { *busy };
            self.busy.get_mut(&device).into_iter().for_each(done);
            self.streams.values_mut().filter(|s| s.device == device).for_each(|s| done(&mut s.busy));
            self.events.values_mut().filter(|e| e.device == device).for_each(|e| done(&mut e.busy));
        }
    }

    /// Waits for an event.
    pub(crate) fn wait_event(&self, event: u64) -> Result {
        let event = self.event(event)?;
        if event.captured.is_some() {
            return Err(Error::CapturedEvent);
        }
        self.wait(event.device)
    }

    /// The time between two events in milliseconds.
    pub(crate) fn elapsed(&self, from: u64, to: u64) -> Result<f32> {
        let time = |event: u64| {
            let event = self.event(event)?;
            let timed = event.flags & NO_TIMING == 0;
            event.time.filter(|_| timed).ok_or(Error::InvalidHandle)
        };
        Ok(((time(to)? - time(from)?) * 1e3) as f32)
    }

    /// Checks that a stream exists; an error otherwise.
    pub(crate) fn check_stream(&self, stream: u64) -> Result {
        if DEFAULT_STREAMS.contains(&stream) || self.streams.get(stream).is_some() {
            Ok(())
        } else {
            Err(gone(stream))
        }
    }
}
