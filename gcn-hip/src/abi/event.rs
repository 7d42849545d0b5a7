//! Events.

use super::{Code, Out, call, with};
use crate::error::Error;
use crate::state::{gone, lock, submit};
use crate::work::Op;

pub(crate) extern "C" fn event_create(event: Out<u64>) -> Code {
    event_create_with_flags(event, 0)
}

pub(crate) extern "C" fn event_create_with_flags(event: Out<u64>, flags: u32) -> Code {
    with(|s| {
        event.check()?;
        let handle = s.create_event(flags)?;
        event.set(handle)
    })
}

pub(crate) extern "C" fn event_destroy(event: u64) -> Code {
    with(|s| s.events.remove(event).map(|_| ()).ok_or(gone(event)))
}

pub(crate) extern "C" fn event_record(event: u64, stream: u64) -> Code {
    call(|| {
        lock().event(event)?;
        submit(stream, Op::Record(event))
    })
}

pub(crate) extern "C" fn event_record_with_flags(event: u64, stream: u64, flags: u32) -> Code {
    if flags > 1 {
        return call(|| Err(Error::InvalidValue));
    }
    event_record(event, stream)
}

pub(crate) extern "C" fn event_synchronize(event: u64) -> Code {
    call(|| {
        let s = lock();
        let works = s.recording(event)?;
        let mut s = s.drained(works);
        s.events.get_mut(event).into_iter().for_each(|event| event.busy = 0.0);
        s.wait_event(event)
    })
}

pub(crate) extern "C" fn event_query(event: u64) -> Code {
    with(|s| {
        s.wait_event(event)?;
        if s.is_ahead(event) { Err(Error::NotReady) } else { Ok(()) }
    })
}

pub(crate) extern "C" fn event_elapsed_time(milliseconds: Out<f32>, start: u64, stop: u64) -> Code {
    with(|s| {
        milliseconds.check()?;
        let elapsed = s.elapsed(start, stop)?;
        if s.is_ahead(start) || s.is_ahead(stop) {
            return Err(Error::NotReady);
        }
        milliseconds.set(elapsed)
    })
}
