//! How long things take: programs whose time depends on one parameter of the timed mode at a time.
//!
//! Nothing here knows the model's numbers. What is measured are differences between two readings of the GPU's clock; the names of the
//! parameters, and in which unit each is, are all that is shared with `data/timing.tsv`.

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

/// All of them.
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

/// Does an experiment. Each program runs so many times, of which the shortest counts.
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
