//! Statistics that are collected while waves run.

use super::stall::{Pipe, Stall, Stalls};
use super::wave::Outcome;

/// The statistics of one instruction, over all waves.
#[derive(Clone, Debug, Default)]
pub(super) struct InstUse {
    pub issued: u64,
    pub stalls: Stalls,
    /// The number of cycles in which another wave won the arbitration and its instruction was accepted.
    pub lost_to_issue: u64,
    /// The number of cycles in which another wave won the arbitration but its instruction was not accepted either.
    pub lost_to_stall: u64,
}

/// The statistics of one pipeline, over all SIMDs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PipeUse {
    pub issued: u64,
    /// The number of cycles in which the pipeline was busy.
    pub busy: u64,
    /// The number of slots in which the arbiter selected a wave whose instruction was not accepted.
    pub stalled: u64,
}

/// An interval of a wave's time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub cu: u32,
    pub simd: u8,
    pub lane: u8,
    pub workgroup: u64,
    pub wave: u32,
    pub at: u32,
    pub start: u64,
    pub cycles: u64,
    /// The reason for the stall; `None` if the instruction issues.
    pub stall: Option<Stall>,
    /// For a stall, the instruction for whose operation the wave waits, if the model knows it.
    pub by: Option<u32>,
    /// For an issue, the cycle in which the memory operation completes.
    pub done: Option<u64>,
}

/// An interval in which a pipeline works on an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Busy {
    pub cu: u32,
    /// The SIMD; `None` for units that the four SIMDs share.
    pub simd: Option<u8>,
    pub pipe: Pipe,
    pub workgroup: u64,
    pub wave: u32,
    pub at: u32,
    pub start: u64,
    pub cycles: u64,
}

/// The cycle in which the waves of a workgroup pass a barrier, because the last of them arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub cu: u32,
    pub workgroup: u64,
    pub cycle: u64,
}

/// The recorded events, up to a maximum number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    pub events: Vec<Event>,
    pub busy: Vec<Busy>,
    pub barriers: Vec<Barrier>,
}

/// All statistics.
pub(super) struct Record {
    pub insts: Vec<InstUse>,
    pub pipes: [PipeUse; Pipe::COUNT],
    pub recording: Recording,
    pub most_events: usize,
    pub events_dropped: u64,
}

impl Record {
    pub(super) fn new(instructions: usize, most_events: usize) -> Record {
        Record {
            insts: vec![InstUse::default(); instructions],
            pipes: [PipeUse::default(); Pipe::COUNT],
            recording: Recording::default(),
            most_events,
            events_dropped: 0,
        }
    }

    /// True until the maximum number of events is reached; then pipelines and barriers are no longer recorded.
    pub(super) fn records(&self) -> bool {
        self.recording.events.len() < self.most_events
    }

    pub(super) fn event(&mut self, event: Event) {
        if self.records() {
            self.recording.events.push(event);
        } else {
            self.events_dropped += 1;
        }
    }

    /// Counts the cycles for which an instruction of `pipe` was ready but did not issue.
    pub(super) fn arbitration(
        &mut self,
        at: usize,
        pipe: Pipe,
        outcome: Outcome,
        cycles: u64,
        slots: u64,
    ) -> Stall {
        let (stall, to_issue, to_stall) = match outcome {
            Outcome::NotWin { stalled: false } => (Stall::ArbiterNotWin, cycles, 0),
            Outcome::NotWin { stalled: true } => (Stall::ArbiterNotWin, 0, cycles),
            Outcome::ExStall => {
                self.pipes[pipe as usize].stalled += slots;
                (Stall::ArbiterWinExStall, 0, 0)
            }
            Outcome::Operand => {
                self.pipes[pipe as usize].stalled += slots;
                (Stall::AluDependency, 0, 0)
            }
        };
        if let Some(inst) = self.insts.get_mut(at) {
            inst.lost_to_issue += to_issue;
            inst.lost_to_stall += to_stall;
        }
        stall
    }
}
