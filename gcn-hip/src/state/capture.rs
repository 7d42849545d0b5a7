//! Streams whose work becomes a graph.

use super::{DEFAULT_STREAMS, State};
use crate::error::{Error, Result};
use crate::work::Op;

/// `hipStreamCaptureMode`.
pub(crate) type CaptureMode = u32;
/// The last of them, `hipStreamCaptureModeRelaxed`.
const LAST_MODE: CaptureMode = 2;

/// A stream's part in a capture.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    pub graph: u64,
    /// The stream that began it.
    pub origin: u64,
    /// The nodes that the stream's next one comes after.
    pub tail: Vec<u64>,
}

impl State {
    /// Begins a capture, into a graph of its own or after nodes of a given one.
    pub(crate) fn begin_capture(
        &mut self,
        stream: u64,
        mode: CaptureMode,
        into: Option<(u64, Vec<u64>)>,
    ) -> Result {
        if mode > LAST_MODE {
            return Err(Error::InvalidValue);
        }
        if DEFAULT_STREAMS.contains(&stream) {
            return Err(Error::StreamCaptureUnsupported);
        }
        if self.streams.get(stream).ok_or(Error::InvalidHandle)?.capture.is_some() {
            return Err(Error::IllegalState);
        }
        let (graph, tail) = into.unwrap_or_else(|| (self.graphs.create(), Vec::new()));
        if let Some(stream_state) = self.streams.get_mut(stream) {
            stream_state.capture = Some(Joined { graph, origin: stream, tail });
        }
        Ok(())
    }

    /// Ends a capture: its graph.
    pub(crate) fn end_capture(&mut self, stream: u64) -> Result<u64> {
        let joined = self.streams.get(stream).ok_or(Error::InvalidHandle)?.capture.clone();
        let Joined { graph, origin, tail } = joined.ok_or(Error::IllegalState)?;
        if origin != stream {
            return Err(Error::StreamCaptureUnmatched);
        }
        let mut unjoined = false;
        for other in self.streams.values_mut() {
            if let Some(theirs) = other.capture.take_if(|c| c.graph == graph) {
                // The last operation of every other stream must be one that the origin has waited for.
                let reached = |node: &u64| tail.iter().any(|mine| self.graphs.follows(*mine, *node));
                unjoined |= !theirs.tail.iter().all(reached);
            }
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

    /// Adds an operation to the graph that the stream captures into; false if it captures nothing.
    pub(super) fn capture(&mut self, stream: u64, op: &Op) -> Result<bool> {
        let Some(joined) = self.capture_of(stream)?.cloned() else { return Ok(false) };
        // A recorded event represents everything that the stream has done so far.
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

    /// Makes a stream wait for an event. Unless the event was captured, its work is done already.
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
        let origin = self.streams.iter().find_map(|(handle, s)| {
            s.capture.as_ref().filter(|c| c.graph == graph && c.origin == handle).map(|_| handle)
        });
        let origin = origin.ok_or(Error::StreamCaptureUnmatched)?;
        // The null stream is never captured.
        let waiting = self.streams.get_mut(stream).ok_or(Error::StreamCaptureImplicit)?;
        let capture = waiting.capture.get_or_insert_with(|| Joined { graph, origin, tail: Vec::new() });
        for node in nodes {
            if !capture.tail.contains(&node) {
                capture.tail.push(node);
            }
        }
        Ok(())
    }
}
