//! The result of a timed run.

use serde::Serialize;

use super::memory::CacheUse;
use super::stall::{Pipe, Stalls};
use crate::core::params::Parameter;

/// The result of a timed run. It serializes to JSON; [`TimedReport::listing`] and [`TimedReport::timeline`] show it to people.
#[derive(Clone, Debug, Serialize)]
pub struct TimedReport {
    /// The target.
    pub target: &'static str,
    /// Cycles from the start of the first wave to the end of the last.
    pub cycles: u64,
    /// Wave instructions that were issued.
    pub instructions: u64,
    /// Instructions per cycle of a CU.
    pub ipc: f64,
    /// CUs that share the grid, and those of them that were simulated.
    pub cus: u32,
    /// Of them, those that were simulated.
    pub simulated_cus: u32,
    /// Workgroups of the whole grid.
    pub workgroups: u64,
    /// Of them, those that were simulated.
    pub simulated_workgroups: u64,
    /// Waves that were simulated.
    pub waves: u64,
    /// The number of waves that run at once.
    pub occupancy: OccupancyReport,
    /// The pipelines.
    pub pipes: Vec<PipeReport>,
    /// LDS.
    pub lds: LdsReport,
    /// Caches and memory.
    pub memory: MemoryReport,
    /// Stalls of all waves.
    pub stalls: Stalls,
    /// Every instruction of the kernel, in order.
    pub by_instruction: Vec<InstructionReport>,
    /// The first waves to end, at most as many as asked for.
    pub by_wave: Vec<WaveReport>,
    /// The parameters of the model, with their sources.
    pub parameters: Vec<Parameter>,
    /// Events that did not fit into the timeline.
    pub events_dropped: u64,
    /// The recorded events.
    #[serde(skip)]
    pub(crate) recording: super::record::Recording,
}

/// The number of waves that run at once.
#[derive(Clone, Debug, Serialize)]
pub struct OccupancyReport {
    /// Waves that a SIMD holds, by registers, LDS and workgroup size.
    pub waves_per_simd: u32,
    /// Workgroups that a CU holds.
    pub workgroups_per_cu: u32,
    /// The resource that limits them.
    pub limited_by: String,
    /// Waves on a SIMD on the average of the cycles.
    pub average_waves_per_simd: f64,
}

/// The counts of a pipeline.
#[derive(Clone, Debug, Serialize)]
pub struct PipeReport {
    /// The pipeline.
    pub pipe: Pipe,
    /// Instructions issued to it.
    pub issued: u64,
    /// The share of the cycles in which it was busy, from 0 to 1.
    pub utilization: f64,
    /// The share of the issue slots in which the arbiter issued to it: `arbiter_state_issue` and not `arbiter_state_stall`.
    pub arbiter_issue: f64,
    /// The share of the issue slots in which the instruction that the arbiter selected was not accepted:
    /// `arbiter_state_stall`.
    pub arbiter_stall: f64,
}

/// The counts of the LDS.
#[derive(Clone, Debug, Serialize)]
pub struct LdsReport {
    /// Bytes that lanes read and wrote.
    pub bytes: u64,
    /// Cycles in which its banks worked.
    pub busy_cycles: u64,
    /// Of them, those that bank conflicts cost.
    pub conflict_cycles: u64,
}

/// The counts of caches and memory.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryReport {
    /// Bytes that lanes read and wrote.
    pub bytes: u64,
    /// Lines looked up in the vector L1 caches.
    pub l1: CacheUse,
    /// Lines looked up in L2.
    pub l2: CacheUse,
    /// Lines looked up in the Infinity Cache.
    pub infinity_cache: CacheUse,
    /// Lines looked up in the scalar caches.
    pub scalar: CacheUse,
    /// Lines looked up in the instruction caches.
    pub instruction: CacheUse,
    /// Bytes to and from memory, for the simulated CUs.
    pub memory_bytes: u64,
}

/// The counts of an instruction, over all waves.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionReport {
    /// Byte offset in the code.
    pub offset: u32,
    /// Assembly text.
    pub text: String,
    /// Its place in the source, if that is known.
    pub line: Option<String>,
    /// Its pipeline.
    pub pipe: Pipe,
    /// How often it was issued.
    pub issued: u64,
    /// Cycles of waves that issued it.
    pub issue_cycles: u64,
    /// Cycles of waves that could not issue it, or, for `s_nop`, `s_sleep` and `s_barrier`, that it took.
    pub stalls: Stalls,
    /// Of `ARBITER_NOT_WIN`: another wave's instruction began execution (`arbiter_state_issue`, not `_stall`).
    pub lost_to_issue: u64,
    /// Of `ARBITER_NOT_WIN`: the pipeline did not accept the other wave's instruction either (`arbiter_state_stall`).
    pub lost_to_stall: u64,
}

/// The life of a wave.
#[derive(Clone, Debug, Serialize)]
pub struct WaveReport {
    /// CU.
    pub cu: u32,
    /// SIMD of it.
    pub simd: u8,
    /// Linear index of the workgroup.
    pub workgroup: u64,
    /// Wave of the workgroup.
    pub wave: u32,
    /// Cycle in which it started.
    pub start: u64,
    /// Cycle in which it ended.
    pub end: u64,
    /// Instructions it issued.
    pub instructions: u64,
    /// Cycles in which it issued: one slot for each instruction.
    pub issue_cycles: u64,
    /// Cycles in which it did not, by reason. With `issue_cycles` they are its lifetime.
    pub stalls: Stalls,
}

impl TimedReport {
    /// The report as JSON.
    ///
    /// # Errors
    /// None is known: the report holds nothing that JSON cannot say.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    /// A pipeline's share of the report.
    pub fn pipe(&self, pipe: Pipe) -> Option<&PipeReport> {
        self.pipes.iter().find(|p| p.pipe == pipe)
    }
}
