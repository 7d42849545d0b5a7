//! Writes the events of a timed run in Chrome's trace-event format, which Perfetto and `chrome://tracing` open.

use serde_json::{Value, json};

use super::record::Event;
use super::report::TimedReport;

/// The number of thread IDs reserved for the waves of a SIMD.
const LANES: u64 = 256;

impl TimedReport {
    /// The events as JSON in Chrome's trace-event format: a process for each CU, a thread for each wave slot of a SIMD, and a slice for
    /// each interval of a wave's time. A microsecond represents a cycle. The list is empty unless
    /// [`Config::timeline`](super::Config::timeline) is greater than 0.
    pub fn timeline(&self) -> String {
        let mut events: Vec<Value> = self.names();
        events.extend(self.recording.events.iter().map(|event| self.slice(event)));
        json!({ "traceEvents": events, "displayTimeUnit": "ns" }).to_string()
    }

    /// Events that name the processes and threads.
    fn names(&self) -> Vec<Value> {
        let mut threads: Vec<(u32, u8, u8)> =
            self.recording.events.iter().map(|e| (e.cu, e.simd, e.lane)).collect();
        threads.sort_unstable();
        threads.dedup();
        let mut names = Vec::new();
        let mut last = None;
        for (cu, simd, lane) in threads {
            if last != Some(cu) {
                names.push(name("process_name", cu, 0, &format!("CU {cu}")));
                last = Some(cu);
            }
            names.push(name("thread_name", cu, thread(simd, lane), &format!("SIMD {simd}, wave {lane}")));
        }
        names
    }

    fn slice(&self, event: &Event) -> Value {
        let inst = self.by_instruction.get(event.at as usize);
        let text = inst.map_or("(end of the code)", |i| i.text.as_str());
        let (name, category) = match event.stall {
            Some(stall) => (stall.name(), "stall"),
            None => (text, inst.map_or("", |i| i.pipe.name())),
        };
        json!({
            "name": name,
            "cat": category,
            "ph": "X",
            "ts": event.start,
            "dur": event.cycles,
            "pid": event.cu,
            "tid": thread(event.simd, event.lane),
            "args": {
                "instruction": text,
                "offset": inst.map_or(0, |i| i.offset),
                "workgroup": event.workgroup,
                "wave": event.wave,
            },
        })
    }
}

fn thread(simd: u8, lane: u8) -> u64 {
    u64::from(simd) * LANES + u64::from(lane)
}

fn name(kind: &str, process: u32, thread: u64, name: &str) -> Value {
    json!({ "name": kind, "ph": "M", "pid": process, "tid": thread, "args": { "name": name } })
}
