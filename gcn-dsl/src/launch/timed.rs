//! A launch in the simulator's timed mode, which gives a report instead of a device's statistics.

use std::collections::BTreeMap;
use std::sync::Arc;

use gcn_sim::Options;
use gcn_sim::timed::{Config, TimedReport};

use super::simulator::{Clock, Simulator};
use super::{Device, Grid, Kernel, LaunchError};
use crate::kernel::BuiltKernel;

/// Launches `kernel` in timed mode.
pub(super) fn run<K: Kernel>(
    kernel: &K,
    built: &BuiltKernel<K>,
    grid: Grid,
    args: K::Args<'_>,
    config: &Config,
) -> Result<TimedReport, LaunchError> {
    // No events are recorded on this device, so its clock does not matter.
    let clock = Some(Clock::new(1, config.clone()));
    let simulator = Arc::new(Simulator::new(built.target(), clock, Options::default()));
    Device::over(Arc::clone(&simulator) as _).launch(kernel, built, grid, args)?;
    simulator.report().ok_or_else(|| LaunchError::Memory("the timed run left no report".into()))
}

/// Why each wait of a kernel is there, by its byte offset.
pub(super) fn notes(built: &BuiltKernel) -> BTreeMap<u32, String> {
    let lines = built.code.offsets.iter().zip(&built.program().lines);
    lines.filter_map(|(offset, line)| Some((*offset, line.note.as_deref()?.replace('\n', " ")))).collect()
}
