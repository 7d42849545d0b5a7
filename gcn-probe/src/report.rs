//! The report as data: one JSON without names of hosts or users.

use std::collections::BTreeMap;

use gcn_isa::Target;
use serde::{Deserialize, Serialize};

use crate::device::About;
use crate::form::{self, Forms};

/// The version of the report's schema.
pub const SCHEMA: u32 = 1;

/// What a run is: two runs with one header give one report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of these tools.
    pub tools: String,
    /// The GPU.
    pub gpu: About,
    /// What repeats the run.
    pub seed: u64,
    /// Programs of each form.
    pub variants: u32,
}

/// A whole report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What was run.
    pub header: Header,
    /// The suite `values`.
    pub values: Values,
}

/// Results of the suite `values`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Values {
    /// Forms by status.
    pub totals: BTreeMap<Status, usize>,
    /// Each form that was to run.
    pub forms: Vec<FormResult>,
    /// Forms that are not generated, by the rule that leaves them out.
    pub left_out: BTreeMap<String, Vec<String>>,
}

/// How a form fared; a later one outweighs an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All bits are those of the simulator.
    Equal,
    /// A program could not be made, or the simulator does not run it.
    NotRun,
    /// Bits differ, and the simulator says itself that it only approximates the instruction.
    Approximate,
    /// Bits differ.
    Differs,
    /// HIP reported an error, or the process ended.
    Failed,
    /// The time limit passed.
    Hung,
}

impl Status {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Equal => "equal",
            Status::NotRun => "not run",
            Status::Approximate => "approximate",
            Status::Differs => "differs",
            Status::Failed => "failed",
            Status::Hung => "hung",
        }
    }
}

/// The result of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormResult {
    /// Its printed name and its addressing form.
    pub form: String,
    /// Programs that were run.
    pub cases: u32,
    /// The outcome of all.
    pub status: Status,
    /// Programs whose results differ.
    pub differing: u32,
    /// The first difference.
    pub first: Option<Difference>,
    /// What HIP, the encoder or the simulator said.
    pub message: String,
}

/// A difference between GPU and simulator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The instruction under test.
    pub instruction: String,
    /// The low bits of MODE: rounding and denormals.
    pub mode: u8,
    /// The first place that differs.
    pub place: String,
    /// How many dwords differ.
    pub words: usize,
    /// The simulator's dword.
    pub simulated: String,
    /// The GPU's dword.
    pub gpu: String,
}

impl Report {
    /// The report of a run whose every form has a result.
    pub fn new(header: Header, target: Target, forms: Vec<FormResult>) -> Report {
        let mut totals = BTreeMap::new();
        for result in &forms {
            *totals.entry(result.status).or_default() += 1;
        }
        let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (row, rule) in Forms::of(target).left_out {
            left_out.entry(rule.to_owned()).or_default().push(form::name(row));
        }
        Report { header, values: Values { totals, forms, left_out } }
    }

    /// True if nothing contradicts the simulator.
    pub fn agrees(&self) -> bool {
        self.values.totals.keys().all(|status| *status < Status::Differs)
    }
}
