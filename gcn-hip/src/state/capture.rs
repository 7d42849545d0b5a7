//! Stream capture: work of a stream is recorded in a graph instead of being executed.

use super::{DEFAULT_STREAMS, State, gone, thread};
use crate::error::{Error, Result};
use crate::work::Op;

/// `hipStreamCaptureMode`.
pub(crate) type CaptureMode = u32;
/// `hipStreamCaptureModeGlobal`: during the capture, no thread may call a function that cannot be captured.
const GLOBAL: CaptureMode = 0;
/// `hipStreamCaptureModeRelaxed`, the last mode: all threads may call such functions.
const RELAXED: CaptureMode = 2;

/// A stream's participation in a capture.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    pub graph: u64,
    /// The stream that started the capture.
    pub origin: u64,
    /// The nodes on which the next captured node depends.
    pub tail: Vec<u64>,
    pub mode: CaptureMode,
    /// The thread that started the capture.
    pub thread: std::thread::ThreadId,
    /// True if a call has made the capture invalid.
    pub invalid: bool,
}

impl Joined {
    /// `hipStreamCaptureStatus`: active or invalidated.
    pub(crate) fn status(&self) -> u32 {
        1 + u32::from(self.invalid)
    }
}

impl State {
    /// Starts a capture: into a new graph, or into a given graph after some of its nodes.
    pub(crate) fn begin_capture(
        &mut self,
        stream: u64,
        mode: CaptureMode,
        into: Option<(u64, Vec<u64>)>,
    ) -> Result {
        if mode > RELAXED {
            return Err(Error::InvalidValue);
        }
        if DEFAULT_STREAMS.contains(&stream) && self.streams.get(stream).is_none() {
            return Err(Error::StreamCaptureUnsupported);
        }
        if self.streams.get(stream).ok_or(gone(stream))?.capture.is_some() {
            return Err(Error::IllegalState);
        }
        let (graph, tail) = into.unwrap_or_else(|| (self.graphs.create(), Vec::new()));
        if let Some(stream_state) = self.streams.get_mut(stream) {
            let thread = std::thread::current().id();
            stream_state.capture = Some(Joined { graph, origin: stream, tail, mode, thread, invalid: false });
        }
        Ok(())
    }

    /// Ends a capture and returns its graph.
    pub(crate) fn end_capture(&mut self, stream: u64) -> Result<u64> {
        if DEFAULT_STREAMS.contains(&stream) && self.streams.get(stream).is_none() {
            return Err(Error::IllegalState);
        }
        let joined = self.streams.get(stream).ok_or(gone(stream))?.capture.clone();
        let Joined { graph, origin, tail, invalid, mode, thread } = joined.ok_or(Error::IllegalState)?;
        if origin != stream {
            return Err(Error::StreamCaptureUnmatched);
        }
        if mode != RELAXED && thread != std::thread::current().id() {
            return Err(Error::StreamCaptureWrongThread);
        }
        let mut unjoined = false;
        for other in self.streams.values_mut() {
            if let Some(theirs) = other.capture.take_if(|c| c.graph == graph) {
                // The stream that started the capture must have waited for the last operation of every other stream in the capture.
                let reached = |node: &u64| tail.iter().any(|mine| self.graphs.follows(*mine, *node));
                unjoined |= !theirs.tail.iter().all(reached);
            }
        }
        if invalid {
            self.graphs.destroy(graph)?;
            return Err(Error::StreamCaptureInvalidated);
        }
        if unjoined {
            self.graphs.destroy(graph)?;
            return Err(Error::StreamCaptureUnjoined);
        }
        Ok(graph)
    }

    /// The capture of a stream.
    pub(crate) fn capture_of(&self, stream: u64) -> Result<Option<&Joined>> {
        self.check_stream(stream)?;
        Ok(self.streams.get(stream).and_then(|s| s.capture.as_ref()))
    }

    /// Rejects an operation that cannot be captured while any stream is capturing, unless the mode of the capture or of the thread allows
    /// it. A rejection makes the captures invalid.
    pub(crate) fn check_uncaptured(&mut self) -> Result {
        let (own, here) = (thread(|t| t.capture_mode), std::thread::current().id());
        let forbids =
            |c: &Joined| c.mode != RELAXED && (c.thread == here || c.mode == GLOBAL && own == GLOBAL);
        let captures = self.streams.values_mut().filter_map(|s| s.capture.as_mut());
        let mut any = false;
        for capture in captures.filter(|c| own != RELAXED && forbids(c)) {
            (capture.invalid, any) = (true, true);
        }
        if any { Err(Error::StreamCaptureUnsupported) } else { Ok(()) }
    }

    /// Rejects an operation that waits for the legacy null stream while any stream is capturing, because it would wait for captured work. A
    /// rejection makes the captures invalid.
    pub(crate) fn check_no_capture(&mut self) -> Result {
        let mut any = false;
        for capture in self.streams.values_mut().filter_map(|s| s.capture.as_mut()) {
            (capture.invalid, any) = (true, true);
        }
        if any { Err(Error::StreamCaptureImplicit) } else { Ok(()) }
    }

    /// If the stream is capturing, adds the operation to its graph and returns true; otherwise returns false.
    pub(super) fn capture(&mut self, stream: u64, op: &Op) -> Result<bool> {
        let Some(joined) = self.capture_of(stream)?.cloned() else { return Ok(false) };
        if joined.invalid {
            return Err(Error::StreamCaptureInvalidated);
        }
        // A captured event stands for all work of the stream so far.
        if let Op::Record(event) = *op {
            let event = self.events.get_mut(event).ok_or(Error::InvalidHandle)?;
            event.captured = Some((joined.graph, joined.tail));
            return Ok(true);
        }
        let node = self.graphs.add(joined.graph, joined.tail, op.clone())?;
        if let Some(capture) = self.streams.get_mut(stream).and_then(|s| s.capture.as_mut()) {
            capture.tail = vec![node];
        }
        Ok(true)
    }

    /// Makes a stream wait for an event.
    pub(crate) fn stream_waits(&mut self, stream: u64, event: u64) -> Result {
        self.check_stream(stream)?;
        let captured = self.event(event)?.captured.clone();
        let own = self.capture_of(stream)?.map(|joined| joined.graph);
        let (graph, nodes) = match (captured, own) {
            (Some((graph, _)), Some(own)) if graph != own => return Err(Error::StreamCaptureMerge),
            (Some(captured), _) => captured,
            (None, Some(_)) if self.event(event)?.time.is_some() => {
                return Err(Error::StreamCaptureIsolation);
            }
            (None, _) => return Ok(()),
        };
        let begun = self.streams.iter().find_map(|(handle, s)| {
            s.capture.as_ref().filter(|c| c.graph == graph && c.origin == handle).cloned()
        });
        let begun = begun.ok_or(Error::StreamCaptureUnmatched)?;
        // The null stream is never captured.
        let waiting = self.streams.get_mut(stream).ok_or(Error::StreamCaptureImplicit)?;
        let capture = waiting.capture.get_or_insert(Joined { tail: Vec::new(), ..begun });
        for node in nodes {
            if !capture.tail.contains(&node) {
                capture.tail.push(node);
            }
        }
        Ok(())
    }
}
