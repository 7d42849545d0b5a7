//! Timed mode: executes a kernel as functional mode does, while a model of the compute unit determines in which cycle each instruction
//! issues.
//!
//! [`run`] simulates one or more CUs of the device, with four SIMDs each. On RDNA, a workgroup processor (two CUs with two SIMDs each)
//! takes the place of a CU. A wave issues in order. Each SIMD has a slot every fourth cycle (every cycle on RDNA), in which the arbiter
//! selects at most one wave for each category of instructions. Pipelines, LDS banks, caches and memory determine how long each instruction
//! takes, and `s_waitcnt` and other waits make waves stall. Every cycle of a wave is attributed to an issue or to a stall reason with a
//! name of ROCm's PC sampling ([`Stall`]).
//!
//! Every number in the model is a row of one table, with its source and the quality of the source ([`parameters`]), and can be overridden
//! ([`Config::set`]). `docs/timing.md` lists what the model leaves out.
//!
//! ```
//! use gcn_isa::Target;
//! use gcn_sim::timed::{self, Config};
//! use gcn_sim::{KernelState, Machine, Memory};
//!
//! // s_load_dwordx2 s[4:5], s[0:1], 0x0; v_mov_b32 v1, 42; v_lshlrev_b32 v0, 2, v0; s_waitcnt lgkmcnt(0);
//! // global_store_dword v0, v1, s[4:5]; s_endpgm
//! let text: Vec<u8> = [0xc0060100, 0, 0x7e0202aa, 0x24000082, 0xbf8cc07f, 0xdc708000, 0x00040100, 0xbf810000u32]
//!     .iter()
//!     .flat_map(|word| word.to_le_bytes())
//!     .collect();
//! let machine = Machine::new(Target::GFX942, &text, KernelState::default())?;
//! let mut memory = Memory::new();
//! let out = memory.alloc(64 * 4);
//! let report = timed::run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &out.to_le_bytes(), &Config::default())?;
//! assert_eq!(memory.read(out, 4).unwrap(), [42, 0, 0, 0]);
//! let wave = &report.by_wave[0];
//! assert_eq!(wave.issue_cycles + wave.stalls.total(), wave.end - wave.start);
//! # Ok::<(), gcn_sim::SimError>(())
//! ```

mod cache;
mod chrome;
mod config;
mod cost;
mod cu;
mod estimate;
mod lds;
mod listing;
mod memory;
mod ranges;
mod record;
mod report;
mod stall;
mod straight;
pub mod throughput;
mod units;
mod wave;

use gcn_emit::occupancy::Occupancy;
use gcn_isa::target::Subtarget;

pub use crate::core::params::{
    COLUMNS, Grade, Parameter, ParameterError, at_most, compute_units, is_timed, measured_row,
    multiprocessors, parameters,
};
pub use config::Config;
pub use estimate::{ClockEstimate, NoMeasurement, check_load};
pub use memory::CacheUse;
pub use ranges::{Interval, PipeInterval, Ranges, Sensitivity, ranges};
pub(crate) use record::{Busy, Event};
pub use report::{
    InstructionReport, LdsReport, MemoryReport, OccupancyReport, PipeReport, TimedReport, WaveReport,
};
pub use stall::{Pipe, Stall, Stalls};
pub use straight::{Issue, Straight, straight};

use crate::core::error::{LaunchError, SimError};
use crate::core::grid::Grid;
use crate::core::machine::Machine;
use crate::core::memory::Memory;
use crate::core::options::Options;
use crate::core::params::Params;
use crate::core::trace::Trace;
use crate::run::launch::{self, Launch};
use crate::run::workgroup::Unit;
use cu::{Code, Cu, SIMDS, Shared, Times};
use memory::Device;
use record::Record;

/// Runs a grid of workgroups of `size` work-items and determines its time in the model; `kernarg` contains the bytes of the kernarg
/// segment. The results in `memory` are those of [`crate::run`], unless they depend on the order of workgroups.
///
/// # Errors
/// The errors of [`crate::run`].
pub fn run(
    machine: &Machine,
    memory: &mut Memory,
    grid: impl Into<Grid>,
    size: [u32; 3],
    kernarg: &[u8],
    config: &Config,
) -> Result<TimedReport, SimError> {
    if !is_timed(machine.target()) {
        return Err(LaunchError::NotTimed { target: machine.target() }.into());
    }
    let options = Options { max_instructions: config.max_instructions, ..Options::default() };
    let launch = launch::prepare(machine, memory, grid, size, kernarg, &options)?;
    let result = simulate(&launch, memory, config);
    launch.release(memory)?;
    result
}

fn simulate(launch: &Launch<'_>, memory: &Memory, config: &Config) -> Result<TimedReport, SimError> {
    let machine = launch.machine;
    let params = Params::new(machine.target(), &config.overrides);
    let groups = launch.geometry.count();
    let cus = u64::from(config.cus.unwrap_or(0).max(1));
    let cus = if config.cus.is_some() { cus } else { params.units(machine.target(), "device.cus") };
    let of_l2 = params.units(machine.target(), "device.cus-per-l2");
    let device = Device::new((cus, of_l2), u64::from(config.simulated_cus.max(1)), groups);
    let simulated = device.simulated.len() as u64;
    let occupancy = launch.occupancy();
    // A kernel that is too large for a CU is simulated nevertheless, as in functional mode.
    let resident = launch.resident();
    launch.check_scratch(simulated.saturating_mul(resident).min(groups))?;
    let code = Code {
        launch,
        memory,
        costs: cost::costs(machine, &params),
        times: Times::new(&params, machine.mode(), machine.target()),
        max_instructions: config.max_instructions,
    };
    let mut shared = Shared {
        memory: memory::Memory::new(&params, &device),
        record: Record::new(machine.len(), config.timeline),
        trace: Trace::default(),
        finished: Vec::new(),
        most_finished: config.wave_reports,
        wave_cycles: 0,
        waves: 0,
        end: 0,
    };
    let on = Subtarget { target: machine.target(), wave: machine.state().wave_size };
    let cu = |index: &u64| Cu::new(&params, on, *index as u32, resident as usize, (*index, cus, groups));
    let mut units: Vec<Cu> = device.simulated.iter().map(cu).collect();
    for unit in &mut units {
        shared.memory.select(device.l2_of(unit.index().into()));
        unit.fill(&code, &mut shared)?;
    }
    while let Some((unit, (now, simd))) = earliest(&mut units) {
        shared.memory.select(device.l2_of(unit.index().into()));
        unit.slot(&code, &mut shared, simd, now)?;
    }
    if config.complete {
        complete(launch, memory, &device)?;
    }
    Ok(summarize(&code, shared, &units, &occupancy, &device, params))
}

/// The CU with the earliest next slot; `None` if all have finished.
fn earliest(units: &mut [Cu]) -> Option<(&mut Cu, (u64, usize))> {
    let next = units.iter_mut().map(|unit| (unit.next(), unit)).min_by_key(|(next, _)| *next);
    next.filter(|((now, _), _)| *now != u64::MAX).map(|(next, unit)| (unit, next))
}

/// Runs the workgroups of the CUs that are not simulated.
fn complete(launch: &Launch<'_>, memory: &Memory, device: &Device) -> Result<(), SimError> {
    let mut unit: Option<Unit> = None;
    let left = |index: &u64| !device.simulated.contains(&(index % device.cus));
    for index in (0..launch.geometry.count()).filter(left) {
        unit.get_or_insert_with(|| Unit::new(launch)).run(launch, memory, launch.geometry.id(index))?;
    }
    Ok(())
}

fn summarize(
    code: &Code<'_>,
    shared: Shared,
    units: &[Cu],
    occupancy: &Occupancy,
    device: &Device,
    params: Params,
) -> TimedReport {
    let machine = code.launch.machine;
    let interval = code.times.interval;
    let vectors = || units.iter().flat_map(|cu| &cu.vectors);
    let cycles = shared.end;
    let record = shared.record;
    let instructions = record.insts.iter().map(|i| i.issued).sum::<u64>();
    let cu_cycles = (cycles * device.simulated.len() as u64).max(1) as f64;
    let mut stalls = Stalls::default();
    record.insts.iter().for_each(|i| stalls.plus(&i.stalls));
    let cache = |of: fn(&Cu) -> CacheUse| units.iter().map(of).fold(CacheUse::default(), CacheUse::plus);
    let sum = |of: fn(&Cu) -> u64| units.iter().map(of).sum::<u64>();
    let by_instruction = machine.steps().iter().zip(&code.costs).zip(&record.insts);
    TimedReport {
        target: machine.target().name(),
        cycles,
        instructions,
        ipc: instructions as f64 / cu_cycles,
        cus: device.cus as u32,
        simulated_cus: device.simulated.len() as u32,
        workgroups: device.groups,
        simulated_workgroups: device.simulated_workgroups(),
        waves: shared.waves,
        occupancy: OccupancyReport {
            waves_per_simd: occupancy.waves_per_simd,
            workgroups_per_cu: occupancy.workgroups_per_cu,
            limited_by: occupancy.limited_by.to_string(),
            average_waves_per_simd: shared.wave_cycles as f64 / (cu_cycles * SIMDS as f64),
        },
        pipes: pipes(&record, units, cu_cycles, &params),
        lds: LdsReport {
            bytes: sum(|cu| cu.lds.bytes),
            busy_cycles: sum(|cu| cu.lds.busy),
            conflict_cycles: sum(|cu| cu.lds.conflicts),
        },
        memory: MemoryReport {
            bytes: vectors().map(|vector| vector.bytes).sum(),
            l1: vectors().map(|vector| CacheUse::of(&vector.l1)).fold(CacheUse::default(), CacheUse::plus),
            l2: shared.memory.l2(),
            infinity_cache: shared.memory.mall(),
            scalar: cache(|cu| CacheUse::of(&cu.scalar.cache)),
            instruction: cache(|cu| CacheUse::of(&cu.instructions)),
            memory_bytes: shared.memory.bytes(),
        },
        stalls,
        by_instruction: by_instruction
            .map(|((step, cost), used)| InstructionReport {
                offset: step.offset,
                text: machine.text(&step.inst),
                line: machine.line(step.offset).map(ToString::to_string),
                pipe: cost.pipe,
                issued: used.issued,
                issue_cycles: used.issued * interval,
                stalls: used.stalls,
                lost_to_issue: used.lost_to_issue,
                lost_to_stall: used.lost_to_stall,
            })
            .collect(),
        by_wave: shared.finished.iter().map(wave_report).collect(),
        parameters: params.into_parameters(),
        events_dropped: record.events_dropped,
        recording: record.recording,
    }
}

fn pipes(record: &Record, units: &[Cu], cu_cycles: f64, params: &Params) -> Vec<PipeReport> {
    let interval = params.number("issue.interval").max(1);
    let scalar = params.number("cu.scalar-units").max(1) as f64;
    let (vectors, arrays) = units.first().map_or((1, 1), |cu| (cu.vectors.len(), cu.lds.arrays));
    let report = |pipe: Pipe| {
        let used = record.pipes[pipe as usize];
        let (busy, copies) = match pipe {
            Pipe::Valu | Pipe::Matrix => (used.busy, SIMDS as f64),
            Pipe::Lds => (units.iter().map(|cu| cu.lds.busy).sum(), arrays as f64),
            Pipe::Tex | Pipe::Flat => {
                (units.iter().flat_map(|cu| &cu.vectors).map(|vector| vector.busy).sum(), vectors as f64)
            }
            Pipe::Scalar | Pipe::Misc => (used.busy, scalar),
            Pipe::Internal => (0, 1.0),
        };
        let slots = cu_cycles * SIMDS as f64 / interval as f64;
        PipeReport {
            pipe,
            issued: used.issued,
            utilization: busy as f64 / (cu_cycles * copies),
            arbiter_issue: used.issued as f64 / slots,
            arbiter_stall: used.stalled as f64 / slots,
        }
    };
    Pipe::ALL.into_iter().map(report).collect()
}

fn wave_report(finished: &cu::Finished) -> WaveReport {
    let wave = &finished.wave;
    WaveReport {
        cu: finished.cu,
        simd: wave.simd as u8,
        workgroup: finished.workgroup,
        wave: wave.number as u32,
        start: wave.started,
        end: finished.end,
        instructions: wave.executed,
        issue_cycles: wave.issued,
        stalls: wave.stalls,
    }
}
