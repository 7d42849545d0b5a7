//! What an experiment measured, as data.

use serde::{Deserialize, Serialize};

/// A parameter of the timed mode, as measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Its name in `data/timing.tsv`.
    pub name: String,
    /// The value, in the unit and form of that table.
    pub value: String,
}

/// Points from which a result was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What was measured.
    pub title: String,
    /// What was varied.
    pub x: String,
    /// What was read.
    pub y: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

/// The result of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Its name.
    pub experiment: String,
    /// What was measured.
    pub measured: Vec<Measured>,
    /// From what.
    pub curves: Vec<Curve>,
    /// Why there is nothing, or not all.
    pub message: String,
    /// HIP reported an error, or the process was lost: the GPU takes no more work from it.
    pub failed: bool,
}
