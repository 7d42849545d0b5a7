//! The simulator as a device.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gcn_sim::{KernelState, Machine, Memory, Options, SimError};

use super::debug::Listener;
use super::{Backend, Grid, LaunchError, LaunchStats};
use crate::kernel::BuiltKernel;

/// A simulated GPU: its memory, and what it looks for.
pub(super) struct Simulator {
    memory: Mutex<Memory>,
    options: Options,
}

impl Simulator {
    pub fn new(options: Options) -> Simulator {
        Simulator { memory: Mutex::new(Memory::new()), options }
    }

    /// A run that panicked elsewhere leaves plain bytes, which are as good as any.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the user wrote what, by code offset.
fn lines(kernel: &BuiltKernel) -> BTreeMap<u32, String> {
    let program = kernel.program();
    let offsets = gcn_emit::encode::encode_program(program).map(|code| code.offsets).unwrap_or_default();
    let located = offsets.iter().zip(&program.lines);
    located.filter_map(|(offset, line)| Some((*offset, line.loc?.to_string()))).collect()
}

/// The kernel as the simulator runs it.
pub(super) fn machine(kernel: &BuiltKernel, grid: Grid) -> Result<Machine, LaunchError> {
    let failed = |error| explain(kernel, error);
    let target = kernel.target();
    let mut state =
        KernelState::from_descriptor(&kernel.descriptor(), target).map_err(|e| failed(e.into()))?;
    state.lds_bytes += grid.dynamic_lds;
    Ok(Machine::new(target, kernel.code(), state).map_err(failed)?.with_lines(lines(kernel)))
}

fn memory_error(error: gcn_sim::MemoryError) -> LaunchError {
    LaunchError::Memory(error.into())
}

/// A trap has a place in the source.
pub(super) fn explain(kernel: &BuiltKernel, error: SimError) -> LaunchError {
    let name = kernel.name().to_owned();
    if let SimError::Trap { site, .. } = &error
        && let Some((location, message)) = kernel.debug.trap(site.offset)
    {
        let message = message.unwrap_or("`trap()` was reached").to_owned();
        return LaunchError::Trap {
            kernel: name,
            location: location.to_string(),
            message,
            workgroup: site.workgroup,
            wave: site.wave,
        };
    }
    LaunchError::Simulation { kernel: name, error: Box::new(error) }
}

impl Backend for Simulator {
    fn alloc(&self, bytes: usize) -> Result<u64, LaunchError> {
        self.memory().try_alloc(bytes).map_err(|error| LaunchError::Memory(error.into()))
    }

    fn free(&self, address: u64) -> Result<(), LaunchError> {
        self.memory().free(address).map_err(memory_error)
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), LaunchError> {
        self.memory().write(address, data).map_err(memory_error)
    }

    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, LaunchError> {
        self.memory().read(address, bytes).map_err(memory_error)
    }

    fn run(&self, kernel: &BuiltKernel, grid: Grid, kernarg: &[u8]) -> Result<LaunchStats, LaunchError> {
        let failed = |error| explain(kernel, error);
        let (listener, watched) = (Listener::default(), &kernel.debug.watched);
        let machine = listener.on(machine(kernel, grid)?, watched);
        let stats = gcn_sim::run(
            &machine,
            &mut self.memory(),
            grid.workgroups,
            kernel.signature().workgroup,
            kernarg,
            &self.options,
        );
        // What was shown before a fault is what one wants to see then.
        let printed = listener.take(watched);
        printed.iter().for_each(|p| eprintln!("{p}"));
        let stats = stats.map_err(failed)?;
        let workgroups = grid.workgroups.iter().map(|n| u64::from(*n)).product();
        Ok(LaunchStats { workgroups, wave_instructions: stats.wave_instructions, printed })
    }
}
