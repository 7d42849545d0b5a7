//! Launches in the simulator's timed mode, which return a report on the run's timing.

use std::collections::BTreeMap;
use std::sync::Arc;

use gcn_isa::Target;
use gcn_sim::Options;
use gcn_sim::timed::{Config, TimedReport};

use super::simulator::{Clock, Simulator};
use super::{Device, Grid, Kernel, LaunchError, Passed};
use crate::kernel::BuiltKernel;

/// Launches in the simulator's timed mode, available for every [`Kernel`].
pub trait TimedKernel: Kernel {
    /// Runs the kernel in the simulator's timed mode, where a model determines the cycle in which each instruction
    /// issues and the reason for its delay ([`gcn_sim::timed`]). Afterwards the `&mut` slices contain the results.
    ///
    /// # Errors
    /// The same as for [`Kernel::launch`].
    fn timed<'a>(
        &self,
        target: Target,
        grid: Grid,
        args: impl Passed<Self::Args<'a>>,
        config: &Config,
    ) -> Result<TimedReport, LaunchError> {
        run(self, &*self.build_kept(target)?, grid, args.passed(), config)
    }

    /// Runs the kernel on one compute unit in timed mode and draws a timeline: pipelines and waves as rows,
    /// instructions and waits as bars. Each wait has the rules that require it.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// gcn_kernel! {
    ///     #[workgroup(64)]
    ///     pub fn double(x: &mut [f32]) {
    ///         let i = local_id().x;
    ///         x[i] = x[i] * 2.0;
    ///     }
    /// }
    /// let timeline = double.timeline(Target::GFX942, Grid::x(1), (&mut [1.0; 64],))?;
    /// let (page, picture) = (timeline.html(), timeline.svg());
    /// assert!(page.starts_with("<!doctype html>") && picture.starts_with("<svg"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The same as for [`Kernel::launch`].
    fn timeline<'a>(
        &self,
        target: Target,
        grid: Grid,
        args: impl Passed<Self::Args<'a>>,
    ) -> Result<gcn_sim::timeline::Timeline, LaunchError> {
        let built = self.build_kept(target)?;
        let config = Config { timeline: gcn_sim::timeline::EVENTS, ..Config::one_cu() };
        let report = run(self, &built, grid, args.passed(), &config)?;
        let timeline = gcn_sim::timeline::Timeline::new(report).titled(built.name());
        Ok(timeline.with_notes(notes(&built)))
    }
}

impl<K: Kernel> TimedKernel for K {}

/// Launches `kernel` in timed mode.
fn run<K: Kernel>(
    kernel: &K,
    built: &BuiltKernel,
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

/// The reason for each wait of a kernel, by its byte offset in the code.
fn notes(built: &BuiltKernel) -> BTreeMap<u32, String> {
    let lines = built.code.offsets.iter().zip(&built.program().lines);
    lines.filter_map(|(offset, line)| Some((*offset, line.note.as_deref()?.replace('\n', " ")))).collect()
}
