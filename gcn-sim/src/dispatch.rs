//! Running a grid of workgroups.

mod queue;

use gcn_emit::occupancy::{Occupancy, Usage, occupancy_of};
use gcn_isa::hazards::Config;
use gcn_isa::table::Class;
use std::collections::HashMap;

use crate::error::{LaunchError, SimError};
use crate::faithful::Stale;
use crate::grid::{Geometry, Grid};
use crate::kernel::{Inputs, MAX_SCRATCH};
use crate::machine::Machine;
use crate::memory::{Memory, room};
use crate::sanitize::{Finding, Sanitize};
use crate::timed::Params;
use crate::value::LANES;
use crate::watch::Shared;
use crate::workgroup::Counts;
use queue::Queue;

/// How faithful a simulation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Results are there at once.
    #[default]
    Functional,
    /// As functional, but an instruction that comes too early for a counter or a wait-state rule is an error, and
    /// so is a wave that ends without a barrier at which others of its workgroup wait.
    Strict,
    /// An instruction that comes too early sees what was there before; [`Stats::stale`] counts where. With enough waits the
    /// result is that of [`Mode::Functional`].
    Faithful,
}

/// How to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Functional, strict or faithful.
    pub mode: Mode,
    /// The rules by which strict and faithful mode judge what comes too early; every one without a choice, as for `gcn check`.
    /// [`Config::at_least`] takes those of a grade.
    pub rules: Config,
    /// Most instructions that a wave may execute.
    pub max_instructions: u64,
    /// Instructions that a wave executes before it is the next wave's turn, if it does not have to wait before. With 1 the
    /// waves of a workgroup go side by side. Programs without data races cannot tell; some that have them count on waves
    /// that stay close together, as they do on hardware. While several workgroups run side by side it is at most 1024.
    /// With 512 or less, a workgroup is thought to wait for others only if its waves sleep or wait at global wave sync.
    pub turn: u64,
    /// Run workgroups on all host threads. The result is the same for kernels without data races between workgroups; of
    /// several errors, that of the first workgroup is reported.
    pub parallel: bool,
    /// Sanitizers that run beside.
    pub sanitize: Sanitize,
    /// Most findings of sanitizers that are kept in [`Stats::findings`]. With 0 the first one ends the run as
    /// [`SimError::Finding`].
    pub findings: u32,
    /// All workgroups have to be on the device at a time, as in a launch of `hipLaunchCooperativeKernel`, so that each may wait
    /// for each; [`LaunchError::Cooperative`] if they do not fit. The resource 0 of global wave sync is initialised for one wave
    /// of each workgroup, as the runtime does.
    pub cooperative: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mode: Mode::Functional,
            rules: Config::default(),
            max_instructions: 1 << 40,
            // Waves may wait for each other through memory.
            turn: 1 << 16,
            parallel: false,
            sanitize: Sanitize::empty(),
            findings: 0,
            cooperative: false,
        }
    }
}

impl Options {
    /// Strict mode, otherwise the default.
    pub fn strict() -> Options {
        Options { mode: Mode::Strict, ..Options::default() }
    }

    /// Faithful mode, otherwise the default.
    pub fn faithful() -> Options {
        Options { mode: Mode::Faithful, ..Options::default() }
    }
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// Instructions executed, one per wave.
    pub wave_instructions: u64,
    /// The same by class, in descending order of count.
    pub by_class: Vec<(Class, u64)>,
    /// Waves that ran.
    pub waves: u64,
    /// What came too early, in faithful mode, in the order of the code.
    pub stale: Vec<Stale>,
    /// What the sanitizers found.
    pub findings: Vec<Finding>,
    /// How often each instruction was executed that was, by its offset in the code, in ascending order.
    pub by_instruction: Vec<(u32, u64)>,
}

impl Stats {
    fn of(machine: &Machine, counts: &Counts, waves: u64) -> Stats {
        let mut by_class: HashMap<Class, u64> = HashMap::new();
        let mut by_instruction = Vec::new();
        for (step, count) in machine.steps().iter().zip(&counts.0).filter(|(_, count)| **count > 0) {
            *by_class.entry(step.inst.desc.class).or_default() += count;
            by_instruction.push((step.offset, *count));
        }
        let mut by_class: Vec<_> = by_class.into_iter().collect();
        by_class.sort_by_key(|(class, count)| (std::cmp::Reverse(*count), class.name()));
        Stats {
            wave_instructions: counts.0.iter().sum(),
            by_class,
            waves,
            by_instruction,
            ..Stats::default()
        }
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Workgroups that have ended.
    pub done: u64,
    /// Workgroups in all.
    pub total: u64,
}

/// Runs a grid of workgroups of `size` work-items, with the bytes of `kernarg` as arguments.
///
/// # Errors
/// [`SimError::Launch`] if the hardware would not accept the launch; otherwise whatever stops a wave.
pub fn run(
    machine: &Machine,
    memory: &mut Memory,
    grid: impl Into<Grid>,
    size: [u32; 3],
    kernarg: &[u8],
    options: &Options,
) -> Result<Stats, SimError> {
    run_with(machine, memory, grid, size, kernarg, options, None)
}

/// The same, telling after each workgroup how far it is, from whatever thread ran it.
///
/// # Errors
/// Those of [`run`].
pub fn run_with(
    machine: &Machine,
    memory: &mut Memory,
    grid: impl Into<Grid>,
    size: [u32; 3],
    kernarg: &[u8],
    options: &Options,
    progress: Option<&(dyn Fn(Progress) + Sync)>,
) -> Result<Stats, SimError> {
    let launch = prepare(machine, memory, grid, size, kernarg, options)?;
    let result = launch.run(memory, progress);
    let waves = launch.geometry.all_waves();
    let (stale, findings) = launch.watch.as_ref().map(Shared::results).unwrap_or_default();
    launch.release(memory)?;
    let counts = result?;
    match findings.iter().find(|finding| options.findings == 0 && !finding.kind.is_note()) {
        Some(finding) => Err(SimError::Finding(Box::new(finding.clone()))),
        None => Ok(Stats { stale, findings, ..Stats::of(machine, &counts, waves) }),
    }
}

/// Runs `work` on a pool of that many host threads, or on the global pool.
pub fn with_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    let pool = threads.map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build());
    match pool {
        Some(Ok(pool)) => pool.install(work),
        // Without threads of its own the work is done on those that there are.
        Some(Err(_)) | None => work(),
    }
}

/// Checks a launch and puts kernarg segment and dispatch packet into memory; [`Launch::release`] takes them out again.
pub(crate) fn prepare<'a>(
    machine: &'a Machine,
    memory: &mut Memory,
    grid: impl Into<Grid>,
    size: [u32; 3],
    kernarg: &[u8],
    options: &Options,
) -> Result<Launch<'a>, SimError> {
    let geometry = Geometry::new(grid.into(), size)?;
    check_sizes(machine)?;
    let address = memory.try_alloc(kernarg.len())?;
    memory.write(address, kernarg)?;
    let mut temporary = vec![address];
    let mut dispatch_packet = 0;
    if machine.state().user_sgprs.dispatch_ptr {
        dispatch_packet = self::dispatch_packet(machine, memory, &geometry, address)?;
        temporary.push(dispatch_packet);
    }
    let preload = machine.state().preloaded(kernarg);
    let inputs = Inputs { kernarg: address, dispatch_packet, preload };
    let watch = Shared::new(machine, options);
    Ok(Launch { machine, geometry, inputs, options: *options, watch, temporary })
}

fn check_sizes(machine: &Machine) -> Result<(), LaunchError> {
    let (asked, available) = (machine.state().lds_bytes, machine.target().lds_per_cu());
    if asked > available {
        return Err(LaunchError::Lds { asked, available });
    }
    let (asked, available) = (machine.state().private_bytes, MAX_SCRATCH);
    if asked > available {
        return Err(LaunchError::Scratch { asked, available });
    }
    Ok(())
}

/// The AQL packet of the dispatch, as far as kernels read it (HSA Platform System Architecture, 2.9.6).
fn dispatch_packet(
    machine: &Machine,
    memory: &mut Memory,
    geometry: &Geometry,
    kernarg: u64,
) -> Result<u64, SimError> {
    let mut packet = Vec::with_capacity(64);
    packet.extend([2u8, 0, 3, 0]);
    geometry.size.iter().for_each(|&n| packet.extend((n as u16).to_le_bytes()));
    packet.extend([0; 2]);
    geometry.items.iter().for_each(|n| packet.extend(n.to_le_bytes()));
    packet.extend(machine.state().private_bytes.to_le_bytes());
    packet.extend(machine.state().lds_bytes.to_le_bytes());
    packet.extend([0; 8]);
    packet.extend(kernarg.to_le_bytes());
    packet.resize(64, 0);
    let address = memory.alloc(packet.len());
    memory.write(address, &packet)?;
    Ok(address)
}

/// Everything that the workgroups of a launch share.
pub(crate) struct Launch<'a> {
    pub machine: &'a Machine,
    pub geometry: Geometry,
    pub inputs: Inputs,
    pub options: Options,
    /// What runs beside the instructions.
    pub watch: Option<Shared>,
    /// Allocations of this launch.
    temporary: Vec<u64>,
}

impl Launch<'_> {
    /// How many of its workgroups the device holds at a time.
    fn room(&self) -> u64 {
        let cus = Params::new(self.machine.target(), &[]).number("device.cus").max(1);
        cus * u64::from(self.occupancy().workgroups_per_cu.max(1))
    }

    /// Checks that this machine has room for the scratch memory of this many more workgroups.
    pub(crate) fn check_scratch(&self, workgroups: u64) -> Result<(), SimError> {
        let of_wave = LANES as u64 * u64::from(self.machine.state().private_bytes);
        let bytes = workgroups.saturating_mul(of_wave * u64::from(self.geometry.waves()));
        Ok(room::check(bytes)?)
    }

    /// Waves and workgroups on a compute unit.
    pub(crate) fn occupancy(&self) -> Occupancy {
        let (target, state) = (self.machine.target(), self.machine.state());
        let vgprs =
            if target.has_unified_agprs() { state.vgprs + state.agprs } else { state.vgprs.max(state.agprs) };
        let usage = Usage {
            vgprs,
            sgprs: state.sgprs + gcn_isa::reg::NAMED_SGPRS,
            lds_bytes: state.lds_bytes,
            waves_per_workgroup: self.geometry.waves(),
        };
        occupancy_of(target, usage)
    }

    /// Checks that a cooperative launch is one, and initialises what its workgroups meet at, as the runtime does.
    fn cooperate(&self, memory: &Memory) -> Result<(), LaunchError> {
        memory.gws().start();
        if !self.options.cooperative {
            return Ok(());
        }
        let (asked, most) = (self.geometry.count(), self.room());
        if asked > most {
            return Err(LaunchError::Cooperative { asked, most, target: self.machine.target() });
        }
        memory.gws().init(0, u32::try_from(asked - 1).unwrap_or(u32::MAX));
        Ok(())
    }

    /// Gives the launch's own allocations back.
    pub(crate) fn release(self, memory: &mut Memory) -> Result<(), SimError> {
        for address in self.temporary {
            memory.free(address)?;
        }
        Ok(())
    }

    fn run(&self, memory: &Memory, progress: Option<&(dyn Fn(Progress) + Sync)>) -> Result<Counts, SimError> {
        self.cooperate(memory)?;
        let total = self.geometry.count();
        let most = usize::try_from(total).unwrap_or(usize::MAX);
        let one_thread =
            self.machine.syncs_globally() || self.watch.as_ref().is_some_and(Shared::is_sequential);
        let parallel = self.options.parallel && !one_thread;
        let workers = if parallel { rayon::current_num_threads().min(most) } else { 1 };
        let room = usize::try_from(self.room()).unwrap_or(usize::MAX).div_ceil(workers);
        let queue = Queue::new(total, room, progress);
        if workers == 1 {
            queue.work(self, memory);
        } else {
            rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| queue.work(self, memory))));
        }
        queue.result()
    }
}
