//! Streams.

use super::{Code, Out, call, with};
use crate::error::{Error, Result};
use crate::host::{self, Ptr};
use crate::state::{
    DEFAULT_STREAMS, Joined, NON_BLOCKING, State, Stream, current_device, gone, lock, submit, submit_task,
    thread,
};
use crate::work::{Op, Task, Until};

/// Stream priorities; a smaller number is more urgent.
pub(crate) const LEAST: i32 = 1;
pub(crate) const GREATEST: i32 = -1;

pub(crate) extern "C" fn stream_create(stream: Out<u64>) -> Code {
    stream_create_with_priority(stream, 0, 0)
}

pub(crate) extern "C" fn stream_create_with_flags(stream: Out<u64>, flags: u32) -> Code {
    stream_create_with_priority(stream, flags, 0)
}

pub(crate) extern "C" fn stream_create_with_priority(stream: Out<u64>, flags: u32, priority: i32) -> Code {
    with(|s| {
        stream.check()?;
        let device = current_device();
        s.model(device)?;
        if flags > 1 {
            return Err(Error::InvalidValue);
        }
        let priority = priority.clamp(GREATEST, LEAST);
        let handle = s.streams.add(Stream { device, flags, priority, ..Stream::default() });
        stream.set(handle)
    })
}

/// `hipExtStreamCreateWithCUMask`: the mask is ignored, because it does not affect results.
pub(crate) extern "C" fn ext_stream_create_with_cu_mask(stream: Out<u64>, size: u32, mask: Ptr) -> Code {
    if size == 0 || mask.is_null() {
        return call(|| Err(Error::InvalidValue));
    }
    stream_create(stream)
}

/// `hipExtStreamGetCUMask`: always all compute units.
pub(crate) extern "C" fn ext_stream_get_cu_mask(stream: u64, size: u32, mask: Out<u32>) -> Code {
    with(|s| {
        mask.check()?;
        let cus = s.model(s.stream_device(stream)?)?.cus as usize;
        if (size as usize) < cus.div_ceil(32) {
            return Err(Error::InvalidValue);
        }
        for n in 0..size as usize {
            let left = cus.saturating_sub(32 * n).min(32);
            mask.at(n).set((u64::from(u32::MAX) >> (32 - left)) as u32)?;
        }
        Ok(())
    })
}

pub(crate) extern "C" fn stream_destroy(stream: u64) -> Code {
    call(|| {
        let s = lock();
        if DEFAULT_STREAMS.contains(&stream) {
            return Err(Error::InvalidHandle);
        }
        let works = s.before(stream)?;
        s.drained(works).streams.remove(stream).map(|_| ()).ok_or(gone(stream))
    })
}

/// `hipStreamLegacy`, another name of the null stream.
const LEGACY: u64 = 1;

/// The capture of a stream that the caller queries. Querying the null stream is an error while a blocking stream captures, because the null
/// stream would wait for it.
fn asked(s: &State, stream: u64) -> Result<Option<Joined>> {
    let blocks = |stream: &Stream| {
        stream.flags & NON_BLOCKING == 0 && stream.capture.as_ref().is_some_and(|c| !c.invalid)
    };
    if stream <= LEGACY && s.streams.iter().any(|(_, stream)| blocks(stream)) {
        return Err(Error::StreamCaptureImplicit);
    }
    Ok(s.capture_of(stream)?.cloned())
}

fn idle(s: &mut State, stream: u64) -> Result {
    if s.capture_of(stream)?.is_some() {
        return Err(Error::StreamCaptureUnsupported);
    }
    // Waiting for a stream is refused during captures whose mode does not permit it.
    if stream > LEGACY {
        s.check_uncaptured()?;
    }
    s.wait(s.stream_device(stream)?)
}

pub(crate) extern "C" fn stream_synchronize(stream: u64) -> Code {
    call(|| {
        let mut s = lock();
        idle(&mut s, stream)?;
        let works = s.before(stream)?;
        let mut s = s.drained(works);
        s.settle(Some(stream));
        s.wait(s.stream_device(stream)?)
    })
}

pub(crate) extern "C" fn stream_query(stream: u64) -> Code {
    with(|s| {
        idle(s, stream)?;
        if s.is_busy(stream)? { Err(Error::NotReady) } else { Ok(()) }
    })
}

pub(crate) extern "C" fn stream_wait_event(stream: u64, event: u64, flags: u32) -> Code {
    call(|| {
        let mut s = lock();
        s.check_stream(stream).map_err(|_| Error::InvalidHandle)?;
        // As in ROCm, flags are checked only if the event was not captured.
        if flags != 0 && s.event(event)?.captured.is_none() {
            return Err(Error::InvalidValue);
        }
        s.stream_waits(stream, event)?;
        let pending = s.event(event)?.pending.is_some();
        drop(s);
        if pending { submit(stream, Op::Wait(event)) } else { Ok(()) }
    })
}

/// Returns a property with which a stream was created; for the default streams, the default value.
fn property<T>(stream: u64, get: impl Fn(&Stream) -> T, put: impl FnOnce(T) -> Result) -> Code {
    with(|s| {
        s.check_stream(stream)?;
        let usual = Stream { device: current_device(), ..Stream::default() };
        let made = s.streams.get(stream).filter(|_| !DEFAULT_STREAMS.contains(&stream));
        put(get(made.unwrap_or(&usual)))
    })
}

pub(crate) extern "C" fn stream_get_flags(stream: u64, flags: Out<u32>) -> Code {
    // As in ROCm, the null stream has no flags.
    if stream == 0 {
        return call(|| Err(Error::InvalidValue));
    }
    property(stream, |s| s.flags, |value| flags.set(value))
}

pub(crate) extern "C" fn stream_get_priority(stream: u64, priority: Out<i32>) -> Code {
    property(stream, |s| s.priority, |value| priority.set(value))
}

pub(crate) extern "C" fn stream_get_device(stream: u64, device: Out<i32>) -> Code {
    property(stream, |s| s.device as i32, |value| device.set(value))
}

pub(crate) extern "C" fn stream_get_id(stream: u64, id: Out<u64>) -> Code {
    property(stream, |_| stream, |value| id.set(value))
}

pub(crate) extern "C" fn stream_begin_capture(stream: u64, mode: u32) -> Code {
    with(|s| s.begin_capture(stream, mode, None))
}

pub(crate) extern "C" fn stream_begin_capture_to_graph(
    stream: u64,
    graph: u64,
    after: Ptr,
    _edges: Ptr,
    count: usize,
    mode: u32,
) -> Code {
    with(|s| {
        let after = super::words(after, count)?;
        s.graphs.graphs.get(graph).ok_or(Error::InvalidValue)?;
        s.begin_capture(stream, mode, Some((graph, after)))
    })
}

pub(crate) extern "C" fn stream_end_capture(stream: u64, graph: Out<u64>) -> Code {
    with(|s| {
        graph.check()?;
        let ended = s.end_capture(stream);
        graph.set(ended.unwrap_or(0))?;
        ended.map(|_| ())
    })
}

pub(crate) extern "C" fn stream_is_capturing(stream: u64, status: Out<u32>) -> Code {
    with(|s| {
        let capture = asked(s, stream)?;
        status.set(capture.as_ref().map_or(0, Joined::status))
    })
}

pub(crate) extern "C" fn stream_get_capture_info(stream: u64, status: Out<u32>, id: Out<u64>) -> Code {
    with(|s| {
        let capture = asked(s, stream)?;
        status.set(capture.as_ref().map_or(0, Joined::status))?;
        id.set_if(capture.map_or(0, |c| c.graph));
        Ok(())
    })
}

/// The array of nodes that the last call returned; valid until the next call.
pub(crate) extern "C" fn stream_get_capture_info_v2(
    stream: u64,
    status: Out<u32>,
    id: Out<u64>,
    graph: Out<u64>,
    nodes: Out<u64>,
    count: Out<usize>,
) -> Code {
    thread_local! {
        static SHOWN: std::cell::RefCell<Vec<u64>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    with(|s| {
        let capture = asked(s, stream)?;
        status.set(capture.as_ref().map_or(0, Joined::status))?;
        let Some(capture) = capture else { return Ok(()) };
        id.set_if(capture.graph);
        graph.set_if(capture.graph);
        count.set_if(capture.tail.len());
        // This fails only if the thread is ending.
        let _ = SHOWN.try_with(|shown| {
            let mut shown = shown.borrow_mut();
            *shown = capture.tail;
            nodes.set_if(shown.as_ptr() as u64);
        });
        Ok(())
    })
}

pub(crate) extern "C" fn stream_update_capture_dependencies(
    stream: u64,
    nodes: Ptr,
    count: usize,
    set: u32,
) -> Code {
    with(|s| {
        let nodes = super::words(nodes, count)?;
        s.check_stream(stream)?;
        let capture =
            s.streams.get_mut(stream).and_then(|s| s.capture.as_mut()).ok_or(Error::IllegalState)?;
        match set {
            0 => capture.tail.extend(nodes),
            1 => capture.tail = nodes,
            _ => return Err(Error::InvalidValue),
        }
        capture.tail.dedup();
        Ok(())
    })
}

pub(crate) extern "C" fn thread_exchange_stream_capture_mode(mode: Out<u32>) -> Code {
    call(|| {
        let place = mode.place()?;
        let new = host::bytes(place, 4)[0];
        if new > 2 {
            return Err(Error::InvalidValue);
        }
        let old = thread(|t| std::mem::replace(&mut t.capture_mode, u32::from(new)));
        mode.set(old)
    })
}

fn write_value(stream: u64, at: Ptr, bytes: &[u8]) -> Code {
    call(|| {
        let pattern = bytes.to_vec();
        let to = crate::work::Pitched::row(at);
        let op = lock().fill_op(to, pattern, crate::work::Extent::row(bytes.len()))?;
        submit(stream, op)
    })
}

pub(crate) extern "C" fn stream_write_value32(stream: u64, at: Ptr, value: u32, _flags: u32) -> Code {
    write_value(stream, at, &value.to_le_bytes())
}

pub(crate) extern "C" fn stream_write_value64(stream: u64, at: Ptr, value: u64, _flags: u32) -> Code {
    write_value(stream, at, &value.to_le_bytes())
}

pub(crate) extern "C" fn stream_wait_value32(
    stream: u64,
    at: Ptr,
    value: u32,
    flags: u32,
    mask: u32,
) -> Code {
    wait_value(stream, at, 4, value.into(), flags, mask.into())
}

pub(crate) extern "C" fn stream_wait_value64(
    stream: u64,
    at: Ptr,
    value: u64,
    flags: u32,
    mask: u64,
) -> Code {
    wait_value(stream, at, 8, value, flags, mask)
}

/// Makes a stream wait for a value in memory.
fn wait_value(stream: u64, at: Ptr, bytes: usize, value: u64, how: u32, mask: u64) -> Code {
    call(|| {
        let s = lock();
        s.check_stream(stream)?;
        s.heap.own(at, bytes)?;
        drop(s);
        if how > 3 {
            return Err(Error::InvalidValue);
        }
        submit_task(stream, Task::Until(Until { at, bytes, value, mask, how }))
    })
}

/// `hipStreamGetAttribute` and similar functions: accepted for the default streams and existing streams.
pub(crate) extern "C" fn stream_attribute(stream: u64, _attribute: u32, value: Ptr) -> Code {
    with(|s| {
        s.check_stream(stream)?;
        if value.is_null() || DEFAULT_STREAMS.contains(&stream) { Err(Error::InvalidValue) } else { Ok(()) }
    })
}
