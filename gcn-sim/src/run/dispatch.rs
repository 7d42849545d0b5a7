//! Runs the workgroups of a grid.

mod queue;

use gcn_isa::table::Class;
use std::time::Duration;

use super::launch::{self, Launch};
use super::workgroup::Counts;
use crate::core::error::SimError;
use crate::core::finding::{Finding, Stale};
use crate::core::grid::Grid;
use crate::core::machine::Machine;
use crate::core::memory::Memory;
use crate::core::options::Options;
use crate::watch::Shared;
use queue::Queue;

/// The statistics of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// The number of executed instructions, counting one for each wave.
    pub wave_instructions: u64,
    /// The number of executed instructions of each class, in descending order.
    pub by_class: Vec<(Class, u64)>,
    /// The number of waves that ran.
    pub waves: u64,
    /// The largest number of cycles that any wave slept or waited for a clock.
    pub slept: u64,
    /// In faithful mode, the accesses that came too early, in code order.
    pub stale: Vec<Stale>,
    /// The findings of the sanitizers.
    pub findings: Vec<Finding>,
    /// The number of executions of each executed instruction, by its code offset in ascending order.
    pub by_instruction: Vec<(u32, u64)>,
}

impl Stats {
    fn of(machine: &Machine, counts: &Counts, waves: u64) -> Stats {
        let mut by_class: Vec<(Class, u64)> = Vec::new();
        let mut by_instruction = Vec::with_capacity(counts.0.len());
        for (step, count) in machine.steps().iter().zip(&counts.0).filter(|(_, count)| **count > 0) {
            let class = step.inst.desc.class;
            match by_class.iter_mut().find(|(other, _)| *other == class) {
                Some((_, sum)) => *sum += count,
                None => by_class.push((class, *count)),
            }
            by_instruction.push((step.offset, *count));
        }
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

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The number of workgroups that have ended.
    pub done: u64,
    /// The total number of workgroups.
    pub total: u64,
}

/// Runs a grid of workgroups of `size` work-items; `kernarg` contains the bytes of the kernarg segment.
///
/// # Errors
/// [`SimError::Launch`] if the hardware would not accept the launch; otherwise the error that stopped a wave.
pub fn run(
    machine: &Machine,
    memory: &mut Memory,
    grid: impl Into<Grid>,
    size: [u32; 3],
    kernarg: &[u8],
    options: &Options,
) -> Result<Stats, SimError> {
    run_with(machine, memory, grid, size, kernarg, options, &Hooks::default())
}

/// Callbacks during a run, which may be called from any thread.
#[derive(Clone, Copy, Default)]
pub struct Hooks<'h> {
    /// Reports the progress after each workgroup.
    pub progress: Option<&'h (dyn Fn(Progress) + Sync)>,
    /// Serves requests of kernels to the host, for which the kernels wait. Called after each round of turns of a workgroup's waves.
    pub service: Option<&'h (dyn Fn(&Memory) + Sync)>,
    /// Called once if no workgroup has ended for the given time; the kernel may hang. The callback should tell the user about
    /// [`Options::max_instructions`] and [`crate::Sanitize::DEADLOCK`], which report where a kernel hangs.
    pub stalled: Option<&'h (dyn Fn(Duration) + Sync)>,
}

/// [`run`] with [`Hooks`].
///
/// ```
/// use gcn_sim::{Hooks, KernelState, Machine, Memory, Options, run_with};
///
/// let code = [0xbf81_0000_u32; 1].map(u32::to_le_bytes).concat(); // s_endpgm
/// let machine = Machine::new(gcn_isa::Target::GFX942, &code, KernelState::default())?;
/// let (stalled, progress) = (|long| eprintln!("no workgroup has ended for {long:?}"), |_| {});
/// let hooks = Hooks { progress: Some(&progress), stalled: Some(&stalled), ..Hooks::default() };
/// run_with(&machine, &mut Memory::new(), [8, 1, 1], [64, 1, 1], &[], &Options::default(), &hooks)?;
/// # Ok::<(), gcn_sim::SimError>(())
/// ```
///
/// # Errors
/// The errors of [`run`].
pub fn run_with(
    machine: &Machine,
    memory: &mut Memory,
    grid: impl Into<Grid>,
    size: [u32; 3],
    kernarg: &[u8],
    options: &Options,
    hooks: &Hooks<'_>,
) -> Result<Stats, SimError> {
    let launch = launch::prepare(machine, memory, grid.into(), size, kernarg, options)?;
    let workers = workers(&launch);
    memory.set_alone(workers == 1);
    let result = run_all(&launch, memory, workers, hooks);
    memory.set_alone(false);
    let waves = launch.geometry.all_waves();
    let (stale, findings) = launch.watch.as_ref().map(Shared::results).unwrap_or_default();
    launch.release(memory)?;
    let (counts, slept) = result?;
    match findings.iter().find(|finding| options.findings == 0 && !finding.kind.is_note()) {
        Some(finding) => Err(SimError::Finding(Box::new(finding.clone()))),
        None => Ok(Stats { slept, stale, findings, ..Stats::of(machine, &counts, waves) }),
    }
}

/// Runs `work` in a pool of this many host threads; `None` selects the global pool.
pub fn with_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    let pool = threads.map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build());
    match pool {
        Some(Ok(pool)) => pool.install(work),
        // If the pool cannot be created, the existing threads do the work.
        Some(Err(_)) | None => work(),
    }
}

/// The number of host threads that run the workgroups of a launch.
fn workers(launch: &Launch<'_>) -> usize {
    let one_thread =
        launch.machine.syncs_globally() || launch.watch.as_ref().is_some_and(Shared::is_sequential);
    if one_thread || !launch.options.parallel {
        return 1;
    }
    let most = usize::try_from(launch.geometry.count()).unwrap_or(usize::MAX);
    rayon::current_num_threads().min(most)
}

/// Runs all workgroups of a launch.
fn run_all(
    launch: &Launch<'_>,
    memory: &Memory,
    workers: usize,
    hooks: &Hooks<'_>,
) -> Result<(Counts, u64), SimError> {
    launch.cooperate(memory)?;
    // Some programs launch an empty kernel with up to 2^32 work-items. Each wave executes only `s_endpgm`, so the counts are known without
    // running the waves.
    let (steps, entry) = (launch.machine.steps(), launch.machine.entry());
    if steps.get(entry).is_some_and(|step| step.inst.desc.class == Class::Endpgm) {
        let mut counts = vec![0; steps.len()];
        counts[entry] = launch.geometry.all_waves();
        return Ok((Counts(counts), 0));
    }
    let total = launch.geometry.count();
    let queue = Queue::new(total, workers, *hooks);
    if workers == 1 {
        queue.work(launch, memory);
    } else {
        rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| queue.work(launch, memory))));
    }
    queue.result()
}
