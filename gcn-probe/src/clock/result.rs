//! The result of an experiment as data.

use serde::{Deserialize, Serialize};

/// A parameter of the timed mode, as measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Its name in `data/timing.tsv`.
    pub name: String,
    /// The value, in the unit and form of that table.
    pub value: String,
}

/// Points of a curve from which a result was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The title of the curve.
    pub title: String,
    /// The quantity that was varied.
    pub x: String,
    /// The quantity that was measured.
    pub y: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

/// The result of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Its name.
    pub experiment: String,
    /// The measured parameters.
    pub measured: Vec<Measured>,
    /// The curves from which the parameters were read.
    pub curves: Vec<Curve>,
    /// The reason why parameters are missing; empty if none are.
    pub message: String,
    /// True if HIP reported an error or the process was lost; this process can submit no further work to the GPU.
    pub failed: bool,
}
