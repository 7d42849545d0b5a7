//! What was measured beside the table of the timed mode.

use std::collections::BTreeMap;

use gcn_isa::Target;
use gcn_sim::timed::{self, COLUMNS, Grade, Parameter, measured_row};
use serde::{Deserialize, Serialize};

use super::result::{Curve, Experiment};
use super::unseen::unseen;

/// What was measured beside the row of `data/timing.tsv`; a later one outweighs an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// No program shows it; the message says why.
    NotSeen,
    /// No more than 2% apart, or the same groups of lanes.
    Equal,
    /// Within the range of a row that is assumed.
    Within,
    /// No value: an experiment failed.
    NotMeasured,
    /// Something else.
    Differs,
}

impl Fit {
    /// The word for it in reports.
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

/// How far from the table a value may be, as a part of it.
const TOLERANCE: f64 = 0.02;

/// A row of the table with what was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterResult {
    /// The name.
    pub name: String,
    /// The unit.
    pub unit: String,
    /// The value that was measured.
    pub measured: Option<String>,
    /// The value of the table.
    pub table: String,
    /// How well that is known.
    pub grade: String,
    /// The range of one that is assumed.
    pub range: Option<[String; 2]>,
    /// The two beside each other.
    pub fit: Fit,
    /// Why nothing was measured.
    pub message: String,
}

/// Results of the suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Parameters by outcome.
    pub totals: BTreeMap<Fit, usize>,
    /// Each parameter of the target.
    pub parameters: Vec<ParameterResult>,
    /// What they were read from.
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
            let (fit, message) = match (value, unseen(target, &row.name, &measured)) {
                (Some(value), _) => (Fit::of(value, &row), String::new()),
                (None, Some(why)) => (Fit::NotSeen, why.to_owned()),
                (None, None) => (Fit::NotMeasured, failures.join("; ")),
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

    /// What was measured as a table in the form of `data/timing.tsv`, with `source` as the source of each row.
    pub fn table(&self, target: Target, source: &str) -> String {
        let rows = self.parameters.iter().filter_map(|parameter| {
            let value = parameter.measured.as_ref()?;
            let row = measured_row(&parameter.name, target.instruction_set(), value, &parameter.unit, source);
            Some(row + "\n")
        });
        std::iter::once(COLUMNS.join("\t") + "\n").chain(rows).collect()
    }
}
