//! Running a grid of workgroups.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gcn_isa::table::Class;
use rayon::prelude::*;

use crate::error::{LaunchError, SimError};
use crate::kernel::Inputs;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::strict;
use crate::value::LANES;
use crate::workgroup::{Counts, Unit};

/// How faithful a simulation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Results are there at once.
    #[default]
    Functional,
    /// As functional, but an instruction that comes too early for a counter or a wait-state rule, or waves that do not
    /// meet at a barrier, are errors.
    Strict,
}

/// How to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Functional or strict.
    pub mode: Mode,
    /// Most instructions that a wave may execute.
    pub max_instructions: u64,
    /// Run workgroups on all host threads. The result is the same for kernels without data races between workgroups; of
    /// several errors, that of the first workgroup is reported.
    pub parallel: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { mode: Mode::Functional, max_instructions: 1 << 40, parallel: false }
    }
}

impl Options {
    /// Strict mode, otherwise the default.
    pub fn strict() -> Options {
        Options { mode: Mode::Strict, ..Options::default() }
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
}

/// Runs `grid` workgroups of `size` work-items each, with the bytes of `kernarg` as arguments.
///
/// # Errors
/// [`SimError::Launch`] if the hardware would not accept the launch; otherwise whatever stops a wave.
pub fn run(
    machine: &Machine,
    memory: &mut Memory,
    grid: [u32; 3],
    size: [u32; 3],
    kernarg: &[u8],
    options: &Options,
) -> Result<Stats, SimError> {
    check_launch(machine, grid, size)?;
    let work_items = size.iter().product::<u32>();
    let waves = work_items.div_ceil(LANES as u32);
    let kernarg_address = memory.alloc(kernarg.len());
    memory.write(kernarg_address, kernarg)?;
    let mut inputs = Inputs { kernarg: kernarg_address, dispatch_packet: 0, waves };
    if machine.state().user_sgprs.dispatch_ptr {
        inputs.dispatch_packet = dispatch_packet(machine, memory, grid, size, kernarg_address)?;
    }
    let launch =
        Launch { machine, grid, size, inputs, options: *options, strict: strict_program(machine, options) };
    let result = launch.run(memory);
    memory.free(kernarg_address)?;
    if inputs.dispatch_packet != 0 {
        memory.free(inputs.dispatch_packet)?;
    }
    let counts = result?;
    let groups = grid.iter().map(|&n| u64::from(n)).product::<u64>();
    Ok(counts.stats(groups * u64::from(waves)))
}

fn check_launch(machine: &Machine, grid: [u32; 3], size: [u32; 3]) -> Result<(), LaunchError> {
    if grid.contains(&0) {
        return Err(LaunchError::EmptyGrid(grid));
    }
    let items = size.iter().try_fold(1u32, |n, &d| n.checked_mul(d)).unwrap_or(u32::MAX);
    if items == 0 || items > 1024 {
        return Err(LaunchError::WorkgroupSize(size));
    }
    let (asked, available) = (machine.state().lds_bytes, machine.target().lds_per_cu());
    if asked > available {
        return Err(LaunchError::Lds { asked, available });
    }
    Ok(())
}

fn strict_program(machine: &Machine, options: &Options) -> Option<strict::Program> {
    (options.mode == Mode::Strict).then(|| strict::Program::new(machine))
}

/// The AQL packet of the dispatch, as far as kernels read it (HSA Platform System Architecture, 2.9.6).
fn dispatch_packet(
    machine: &Machine,
    memory: &mut Memory,
    grid: [u32; 3],
    size: [u32; 3],
    kernarg: u64,
) -> Result<u64, SimError> {
    let mut packet = Vec::with_capacity(64);
    packet.extend([2u8, 0, 3, 0]);
    size.iter().for_each(|&n| packet.extend((n as u16).to_le_bytes()));
    packet.extend([0; 2]);
    grid.iter().zip(size).for_each(|(&n, s)| packet.extend((n * s).to_le_bytes()));
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
    pub grid: [u32; 3],
    pub size: [u32; 3],
    pub inputs: Inputs,
    pub options: Options,
    pub strict: Option<strict::Program>,
}

impl Launch<'_> {
    fn run(&self, memory: &Memory) -> Result<Counts, SimError> {
        let groups = self.grid.iter().map(|&n| n as usize).product::<usize>();
        if !self.options.parallel {
            let mut unit = Unit::new(self);
            for group in 0..groups {
                unit.run(self, memory, self.id(group))?;
            }
            return Ok(unit.counts);
        }
        // Workgroups after the first failed one do not matter.
        let failed = AtomicUsize::new(usize::MAX);
        let first_error = Mutex::new(None::<(usize, SimError)>);
        let total = (0..groups)
            .into_par_iter()
            .fold(
                || Unit::new(self),
                |mut unit, group| {
                    if group < failed.load(Ordering::Relaxed)
                        && let Err(error) = unit.run(self, memory, self.id(group))
                    {
                        failed.fetch_min(group, Ordering::Relaxed);
                        let mut slot = first_error.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        if slot.as_ref().is_none_or(|(other, _)| group < *other) {
                            *slot = Some((group, error));
                        }
                    }
                    unit
                },
            )
            .map(|unit| unit.counts)
            .reduce(Counts::default, Counts::plus);
        match first_error.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(total),
        }
    }

    /// Workgroup id of a linear index, x fastest.
    fn id(&self, index: usize) -> [u32; 3] {
        let [x, y, _] = self.grid.map(|n| n as usize);
        [index % x, index / x % y, index / x / y].map(|n| n as u32)
    }
}
