//! Events.

use super::{DEFAULT_STREAMS, State, current_device};
use crate::error::{Error, Result};

/// `hipEventDisableTiming`.
const NO_TIMING: u32 = 2;
/// All flags that there are.
const FLAGS: u32 = 0x1 | NO_TIMING | 0x4 | 0x2000_0000 | 0x4000_0000 | 0x8000_0000;

/// An event.
#[derive(Debug, Default)]
pub(crate) struct Event {
    pub flags: u32,
    pub device: usize,
    /// When it was recorded last, in seconds.
    pub time: Option<f64>,
    /// The graph in which it was last recorded, and the nodes that it represents.
    pub captured: Option<(u64, Vec<u64>)>,
}

impl State {
    pub(crate) fn create_event(&mut self, flags: u32) -> Result<u64> {
        let device = current_device();
        self.model(device)?;
        if flags & !FLAGS != 0 {
            return Err(Error::InvalidValue);
        }
        Ok(self.events.add(Event { flags, device, ..Event::default() }))
    }

    pub(crate) fn event(&self, event: u64) -> Result<&Event> {
        self.events.get(event).ok_or(Error::InvalidHandle)
    }

    /// Notes the time.
    pub(super) fn record(&mut self, event: u64) -> Result {
        let now = self.now();
        let event = self.events.get_mut(event).ok_or(Error::InvalidHandle)?;
        (event.time, event.captured) = (Some(now), None);
        Ok(())
    }

    /// Waits for an event.
    pub(crate) fn wait_event(&self, event: u64) -> Result {
        let event = self.event(event)?;
        if event.captured.is_some() {
            return Err(Error::CapturedEvent);
        }
        self.wait(event.device)
    }

    /// Milliseconds between two events.
    pub(crate) fn elapsed(&self, from: u64, to: u64) -> Result<f32> {
        let time = |event: u64| {
            let event = self.event(event)?;
            let timed = event.flags & NO_TIMING == 0;
            event.time.filter(|_| timed).ok_or(Error::InvalidHandle)
        };
        Ok(((time(to)? - time(from)?) * 1e3) as f32)
    }

    /// Checks that there is such a stream.
    pub(crate) fn check_stream(&self, stream: u64) -> Result {
        if DEFAULT_STREAMS.contains(&stream) || self.streams.get(stream).is_some() {
            Ok(())
        } else {
            Err(Error::InvalidHandle)
        }
    }
}
