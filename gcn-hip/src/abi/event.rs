//! Events.

use super::{Code, Out, call, with};
use crate::error::Error;
use crate::state::{lock, submit};
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
    with(|s| s.events.remove(event).map(|_| ()).ok_or(Error::InvalidHandle))
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
    with(|s| s.wait_event(event))
}

pub(crate) extern "C" fn event_query(event: u64) -> Code {
    with(|s| s.wait_event(event))
}

pub(crate) extern "C" fn event_elapsed_time(milliseconds: Out<f32>, start: u64, stop: u64) -> Code {
    with(|s| {
        milliseconds.check()?;
        milliseconds.set(s.elapsed(start, stop)?)
    })
}
