//! A launch in the simulator's timed mode, which gives a report instead of a device's statistics.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use gcn_sim::Options;
use gcn_sim::timed::{self, Config, Report};

use super::simulator::{self, Simulator};
use super::{Backend, Device, Grid, Kernel, LaunchError, LaunchStats};
use crate::kernel::BuiltKernel;

/// The report of the last run.
type Slot = Arc<Mutex<Option<Report>>>;

/// The simulator with time.
struct Timed {
    simulator: Simulator,
    config: Config,
    report: Slot,
}

/// Launches `kernel` in timed mode.
pub(super) fn run<K: Kernel>(
    kernel: &K,
    built: &BuiltKernel,
    grid: Grid,
    args: K::Args<'_>,
    config: &Config,
) -> Result<Report, LaunchError> {
    let report = Slot::default();
    let simulator = Simulator::new(Options::default());
    let timed = Timed { simulator, config: config.clone(), report: Arc::clone(&report) };
    let device = Device { target: built.target(), backend: Box::new(timed) };
    device.launch(kernel, built, grid, args)?;
    let report = report.lock().unwrap_or_else(PoisonError::into_inner).take();
    report.ok_or_else(|| LaunchError::Memory("the timed run left no report".into()))
}

/// Why each wait of a kernel is there, by its byte offset.
pub(super) fn notes(built: &BuiltKernel) -> BTreeMap<u32, String> {
    let program = built.program();
    let offsets = gcn_emit::encode::encode_program(program).map(|code| code.offsets).unwrap_or_default();
    let lines = offsets.iter().zip(&program.lines);
    lines.filter_map(|(offset, line)| Some((*offset, line.note.as_deref()?.replace('\n', " ")))).collect()
}

impl Backend for Timed {
    fn alloc(&self, bytes: usize) -> Result<u64, LaunchError> {
        self.simulator.alloc(bytes)
    }

    fn free(&self, address: u64) -> Result<(), LaunchError> {
        self.simulator.free(address)
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), LaunchError> {
        self.simulator.write(address, data)
    }

    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, LaunchError> {
        self.simulator.read(address, bytes)
    }

    fn run(&self, kernel: &BuiltKernel, grid: Grid, kernarg: &[u8]) -> Result<LaunchStats, LaunchError> {
        let machine = simulator::machine(kernel, grid)?;
        let size = kernel.signature().workgroup;
        let mut memory = self.simulator.memory();
        let report = timed::run(&machine, &mut memory, grid.workgroups, size, kernarg, &self.config);
        let report = report.map_err(|error| simulator::explain(kernel, error))?;
        let stats = LaunchStats {
            workgroups: report.workgroups,
            wave_instructions: report.instructions,
            ..LaunchStats::default()
        };
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        Ok(stats)
    }
}
