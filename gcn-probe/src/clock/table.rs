//! Compares measured parameters with the table of the timed mode.

use std::collections::BTreeMap;

use gcn_isa::Target;
use gcn_sim::timed::{self, COLUMNS, Grade, Parameter, measured_row};
use serde::{Deserialize, Serialize};

use super::result::{Curve, Experiment};
use super::unseen::unseen;

/// The comparison of a measurement with its row in `data/timing.tsv`. Of several, the one declared last takes precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// No program can show the parameter; the message gives the reason.
    NotSeen,
    /// The values differ by at most 2%, or the groups of lanes are the same.
    Equal,
    /// The table's value is an assumption, and the measured value is within the range that the row gives.
    Within,
    /// There is no value, because an experiment failed.
    NotMeasured,
    /// The values differ.
    Differs,
}

impl Fit {
    /// The outcome's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Fit::NotSeen => "not seen",
            Fit::Equal => "equal",
            Fit::Within => "within the range",
            Fit::NotMeasured => "not measured",
            Fit::Differs => "differs",
        }
    }

    fn of(value: &str, row: &Parameter) -> Fit {
        let number = |text: &str| text.parse::<f64>().ok();
        match (number(value), number(&row.value)) {
            (Some(measured), Some(said)) if (measured - said).abs() <= TOLERANCE * said => return Fit::Equal,
            _ if value == row.value => return Fit::Equal,
            _ => {}
        }
        let within = row.range.as_ref().filter(|_| row.grade == Grade::Assumed).is_some_and(|[low, high]| {
            let numbers = number(value).zip(number(low)).zip(number(high));
            numbers
                .map_or(value == low || value == high, |((value, low), high)| (low..=high).contains(&value))
        });
        if within { Fit::Within } else { Fit::Differs }
    }
}

/// The largest relative difference from the table that counts as equal.
const TOLERANCE: f64 = 0.02;

/// A row of the table with what was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterResult {
    /// The name.
    pub name: String,
    /// The unit of its value.
    pub unit: String,
    /// The measured value, if any.
    pub measured: Option<String>,
    /// The table's value.
    pub table: String,
    /// The grade of the table's value: how well it is known.
    pub grade: String,
    /// The range of an assumed value.
    pub range: Option<[String; 2]>,
    /// The result of the comparison.
    pub fit: Fit,
    /// The reason why nothing was measured.
    pub message: String,
}

/// The results of the suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// The number of parameters for each outcome.
    pub totals: BTreeMap<Fit, usize>,
    /// The result for each parameter of the target.
    pub parameters: Vec<ParameterResult>,
    /// The curves from which the parameters were read.
    pub curves: Vec<Curve>,
}

impl Clock {
    /// The results of all experiments on a target.
    pub fn new(target: Target, experiments: Vec<Experiment>) -> Clock {
        let measured: BTreeMap<&str, &str> = experiments
            .iter()
            .flat_map(|experiment| &experiment.measured)
            .map(|measured| (measured.name.as_str(), measured.value.as_str()))
            .collect();
        let failures: Vec<String> = experiments
            .iter()
            .filter(|experiment| !experiment.message.is_empty())
            .map(|experiment| format!("{}: {}", experiment.experiment, experiment.message))
            .collect();
        let result = |row: Parameter| {
            let value = measured.get(row.name.as_str()).copied();
            let (value, fit, message) = match (value, unseen(target, &row.name, &measured)) {
                // A value as well, if it is of something else: the bandwidth of a cache that does not exist, of the one before it.
                (_, Some(why)) => (None, Fit::NotSeen, why.to_owned()),
                (Some(value), None) => (Some(value), Fit::of(value, &row), String::new()),
                (None, None) => (None, Fit::NotMeasured, failures.join("; ")),
            };
            ParameterResult {
                unit: row.unit.to_owned(),
                measured: value.map(str::to_owned),
                table: row.value,
                grade: row.grade.to_string(),
                range: row.range,
                name: row.name,
                fit,
                message,
            }
        };
        let parameters: Vec<_> = timed::parameters(target).into_iter().map(result).collect();
        let mut totals = BTreeMap::new();
        parameters.iter().for_each(|parameter| *totals.entry(parameter.fit).or_default() += 1);
        let curves = experiments.into_iter().flat_map(|experiment| experiment.curves).collect();
        Clock { totals, parameters, curves }
    }

    /// The measured parameters as a table in the format of `data/timing.tsv`; `source` becomes the source of each row.
    pub fn table(&self, target: Target, source: &str) -> String {
        let rows = self.parameters.iter().filter_map(|parameter| {
            let value = parameter.measured.as_ref()?;
            let row = measured_row(&parameter.name, target.instruction_set(), value, &parameter.unit, source);
            Some(row + "\n")
        });
        std::iter::once(COLUMNS.join("\t") + "\n").chain(rows).collect()
    }
}
