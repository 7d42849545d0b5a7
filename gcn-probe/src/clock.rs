//! The suite `clock` measures the parameters of the timed mode: each program's time depends on one parameter at a time.
//!
//! The experiments know none of the model's numbers; they measure only differences between two readings of the GPU's clock. They share with
//! `data/timing.tsv` only the names and units of the parameters.

mod code;
mod found;
mod frame;
mod lds;
mod rates;
pub mod result;
pub mod table;
mod units;
mod unseen;
mod walk;

use gcn_isa::Target;

use crate::launch::Runner;
use found::Bench;
use result::Experiment;

/// An experiment.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// Its name.
    pub name: &'static str,
    run: fn(&mut Bench<'_>) -> Result<(), String>,
}

/// All experiments.
const TASKS: [Task; 11] = [
    Task { name: "vector", run: units::vector },
    Task { name: "matrix", run: units::matrix },
    Task { name: "waits", run: units::waits },
    Task { name: "lds", run: lds::ports },
    Task { name: "lds phases", run: lds::phases },
    Task { name: "caches", run: walk::vector },
    Task { name: "scalar cache", run: walk::scalar },
    Task { name: "code", run: code::cache },
    Task { name: "code lines", run: code::lines },
    Task { name: "rates", run: rates::unit },
    Task { name: "device", run: rates::device },
];

/// The experiments of a target.
pub fn tasks(_target: Target) -> Vec<Task> {
    TASKS.to_vec()
}

/// Runs an experiment. Each program runs `times` times, and the shortest time counts.
pub fn run(task: Task, target: Target, times: u32, gpu: Runner<'_>) -> Experiment {
    let mut bench = Bench::new(target, times, gpu);
    let message = bench.has_time().and_then(|()| (task.run)(&mut bench)).err();
    Experiment {
        experiment: task.name.to_owned(),
        measured: bench.found,
        curves: bench.curves,
        failed: false,
        message: message.unwrap_or_default(),
    }
}
