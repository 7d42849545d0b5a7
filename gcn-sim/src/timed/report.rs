//! The result of a timed run.

use serde::Serialize;

use super::memory::CacheUse;
use super::stall::{Pipe, Stalls};
use crate::core::params::Parameter;

/// The result of a timed run. It serializes to JSON; [`TimedReport::listing`] and [`TimedReport::timeline`] format it for people.
#[derive(Clone, Debug, Serialize)]
pub struct TimedReport {
    /// The target.
    pub target: &'static str,
    /// The number of cycles from the start of the first wave to the end of the last.
    pub cycles: u64,
    /// The number of issued wave instructions.
    pub instructions: u64,
    /// The number of instructions per cycle and CU.
    pub ipc: f64,
    /// The number of CUs over which the grid is distributed.
    pub cus: u32,
    /// The number of these CUs that were simulated.
    pub simulated_cus: u32,
    /// The number of workgroups in the grid.
    pub workgroups: u64,
    /// The number of these workgroups that were simulated.
    pub simulated_workgroups: u64,
    /// The number of simulated waves.
    pub waves: u64,
    /// The number of waves that run concurrently.
    pub occupancy: OccupancyReport,
    /// The statistics of the pipelines.
    pub pipes: Vec<PipeReport>,
    /// The statistics of LDS.
    pub lds: LdsReport,
    /// The statistics of caches and memory.
    pub memory: MemoryReport,
    /// The stalls of all waves.
    pub stalls: Stalls,
    /// The statistics of every instruction of the kernel, in code order.
    pub by_instruction: Vec<InstructionReport>,
    /// The first waves that ended, up to the requested number.
    pub by_wave: Vec<WaveReport>,
    /// The parameters of the model, with their sources.
    pub parameters: Vec<Parameter>,
    /// The number of events that were not recorded for lack of space.
    pub events_dropped: u64,
    /// The recorded events.
    #[serde(skip)]
    pub(crate) recording: super::record::Recording,
}

/// The number of waves that run concurrently.
#[derive(Clone, Debug, Serialize)]
pub struct OccupancyReport {
    /// The number of waves that fit on a SIMD, given registers, LDS and workgroup size.
    pub waves_per_simd: u32,
    /// The number of workgroups that fit on a CU.
    pub workgroups_per_cu: u32,
    /// The resource that limits these numbers.
    pub limited_by: String,
    /// The number of waves on a SIMD, averaged over all cycles.
    pub average_waves_per_simd: f64,
}

/// The statistics of a pipeline.
#[derive(Clone, Debug, Serialize)]
pub struct PipeReport {
    /// The pipeline.
    pub pipe: Pipe,
    /// The number of instructions issued to the pipeline.
    pub issued: u64,
    /// The share of cycles in which the pipeline was busy, from 0 to 1.
    pub utilization: f64,
    /// The share of issue slots in which the arbiter issued to the pipeline, and the pipeline accepted the instruction:
    /// `arbiter_state_issue` without `arbiter_state_stall`.
    pub arbiter_issue: f64,
    /// The share of issue slots in which the pipeline did not accept the selected instruction: `arbiter_state_stall`.
    pub arbiter_stall: f64,
}

/// The statistics of LDS.
#[derive(Clone, Debug, Serialize)]
pub struct LdsReport {
    /// The number of bytes that lanes read and wrote.
    pub bytes: u64,
    /// The number of cycles in which the banks worked.
    pub busy_cycles: u64,
    /// The number of these cycles that were due to bank conflicts.
    pub conflict_cycles: u64,
}

/// The statistics of caches and memory.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryReport {
    /// The number of bytes that lanes read and wrote.
    pub bytes: u64,
    /// Lookups in the vector L1 caches.
    pub l1: CacheUse,
    /// Lookups in L2.
    pub l2: CacheUse,
    /// Lookups in the Infinity Cache.
    pub infinity_cache: CacheUse,
    /// Lookups in the scalar caches.
    pub scalar: CacheUse,
    /// Lookups in the instruction caches.
    pub instruction: CacheUse,
    /// The number of bytes moved to and from memory for the simulated CUs.
    pub memory_bytes: u64,
}

/// The statistics of an instruction, over all waves.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionReport {
    /// The byte offset in the code.
    pub offset: u32,
    /// The assembly text.
    pub text: String,
    /// The source position, if known.
    pub line: Option<String>,
    /// The pipeline of the instruction.
    pub pipe: Pipe,
    /// The number of times that the instruction was issued.
    pub issued: u64,
    /// The cycles in which waves issued the instruction.
    pub issue_cycles: u64,
    /// The cycles for which waves could not issue the instruction. For `s_nop`, `s_sleep` and `s_barrier`, also the cycles that the
    /// instruction took.
    pub stalls: Stalls,
    /// The part of `ARBITER_NOT_WIN` in which another wave's instruction was accepted (`arbiter_state_issue` without
    /// `arbiter_state_stall`).
    pub lost_to_issue: u64,
    /// The part of `ARBITER_NOT_WIN` in which the pipeline did not accept the other wave's instruction either (`arbiter_state_stall`).
    pub lost_to_stall: u64,
}

/// The statistics of a wave.
#[derive(Clone, Debug, Serialize)]
pub struct WaveReport {
    /// The number of the wave's CU.
    pub cu: u32,
    /// The wave's SIMD on that CU.
    pub simd: u8,
    /// The linear index of the wave's workgroup.
    pub workgroup: u64,
    /// The wave's number in the workgroup.
    pub wave: u32,
    /// The cycle in which the wave started.
    pub start: u64,
    /// The cycle in which the wave ended.
    pub end: u64,
    /// The number of instructions that the wave issued.
    pub instructions: u64,
    /// The cycles in which the wave issued: one slot for each instruction.
    pub issue_cycles: u64,
    /// The cycles for which the wave stalled, by reason. Together with `issue_cycles` they are the wave's lifetime.
    pub stalls: Stalls,
}

impl TimedReport {
    /// The report as JSON.
    ///
    /// # Errors
    /// None are known: the report contains nothing that JSON cannot represent.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    /// The statistics of a pipeline; `None` if the report does not have it.
    pub fn pipe(&self, pipe: Pipe) -> Option<&PipeReport> {
        self.pipes.iter().find(|p| p.pipe == pipe)
    }
}
