//! The behaviour of GPUs on programs without the waits that rules require. The rows of `data/observed.tsv` state it; `gcn probe adopt`
//! writes them from reports.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::evidence::Evidence;

/// An observation of a rule on a GPU.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Observation {
    /// The name of the rule.
    pub rule: String,
    /// The target of the GPU.
    pub target: String,
    /// The outcome of programs without the wait that the rule requires.
    pub seen: Seen,
    /// For rules with numbers of wait states: each number that the rule requires, with the smallest number that never failed, as in
    /// `5:4,11:-`. `-` means that the instructions did not fail even without wait states.
    pub states: String,
    /// The name of the GPU.
    pub gpu: String,
    /// The version of its driver.
    pub driver: String,
    /// The date of the report, as in `2026-11-29`.
    pub date: String,
}

/// The outcome of programs without the wait that a rule requires.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Seen {
    /// Some programs computed wrong results.
    Fails,
    /// No program computed wrong results. This does not prove that the wait is unnecessary.
    Never,
}

impl Seen {
    const ALL: [Seen; 2] = [Seen::Fails, Seen::Never];

    /// The name of the outcome in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Seen::Fails => "fails",
            Seen::Never => "never",
        }
    }
}

/// The columns of the table.
const HEADER: &str = "rule\ttarget\tseen\tstates\tgpu\tdriver\tdate";

impl fmt::Display for Observation {
    /// Writes the observation as a row of the table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Observation { rule, target, seen, states, gpu, driver, date } = self;
        // These names come from other sources and may contain any characters.
        let [gpu, driver] = [gpu, driver].map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        write!(f, "{rule}\t{target}\t{}\t{states}\t{gpu}\t{driver}\t{date}", seen.name())
    }
}

/// The error that a line is not a valid row of the table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{line}` is no row of observed.tsv, whose columns are {columns}", columns = HEADER.replace('\t', ", "))]
pub struct NoObservation {
    line: String,
}

impl FromStr for Observation {
    type Err = NoObservation;

    fn from_str(line: &str) -> Result<Observation, NoObservation> {
        let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let row = || {
            let [rule, target, seen, states, gpu, driver, date] = <[String; 7]>::try_from(cells).ok()?;
            let seen = Seen::ALL.into_iter().find(|s| s.name() == seen)?;
            Some(Observation { rule, target, seen, states, gpu, driver, date })
        };
        row().ok_or_else(|| NoObservation { line: line.to_owned() })
    }
}

/// The rows of a table.
///
/// # Errors
/// [`NoObservation`] if a line is not a valid row of the table.
pub fn read_observations(table: &str) -> Result<Vec<Observation>, NoObservation> {
    table.lines().filter(|line| !line.is_empty() && *line != HEADER).map(str::parse).collect()
}

/// The table with these rows, in the given order.
///
/// ```
/// use gcn_isa::hazards::{Observation, Seen, observation_table, read_observations};
///
/// let seen = Observation {
///     rule: "cdna3.105".to_owned(),
///     target: "gfx942".to_owned(),
///     seen: Seen::Fails,
///     states: "5:5,11:11".to_owned(),
///     gpu: "AMD Instinct MI300X".to_owned(),
///     driver: "7.1.25424".to_owned(),
///     date: "2026-11-29".to_owned(),
/// };
/// let table = observation_table(std::slice::from_ref(&seen));
/// assert_eq!(read_observations(&table).unwrap(), [seen]);
/// ```
pub fn observation_table(rows: &[Observation]) -> String {
    let lines = rows.iter().map(|row| format!("{row}\n"));
    std::iter::once(format!("{HEADER}\n")).chain(lines).collect()
}

/// The rows by rule. The file is part of the crate, so an error in it is a bug that the first test that reads the file finds.
static TABLE: LazyLock<BTreeMap<String, Vec<Observation>>> = LazyLock::new(|| {
    let rows = read_observations(include_str!("../../data/observed.tsv"));
    by_rule(rows.unwrap_or_else(|error| panic!("{error}")))
});

fn by_rule(rows: Vec<Observation>) -> BTreeMap<String, Vec<Observation>> {
    let mut rules: BTreeMap<String, Vec<Observation>> = BTreeMap::new();
    rows.into_iter().for_each(|row| rules.entry(row.rule.clone()).or_default().push(row));
    rules
}

/// The observations of the rule with the name `id`.
pub fn observations(id: &str) -> &'static [Observation] {
    TABLE.get(id).map_or(&[], Vec::as_slice)
}

impl Evidence {
    /// This evidence, with the failures that were observed on hardware.
    #[must_use]
    pub fn with_observations(self, seen: &[Observation]) -> Evidence {
        Evidence { fails: self.fails || seen.iter().any(|row| row.seen == Seen::Fails), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hazards::evidence::{Counts, Grade};

    fn row(seen: Seen) -> Observation {
        let text = |text: &str| text.to_owned();
        Observation {
            rule: text("a"),
            target: text("gfx942"),
            seen,
            states: text("2:1"),
            gpu: text("a\tGPU\n"),
            driver: text("7"),
            date: text("2026-11-29"),
        }
    }

    #[test]
    fn a_failure_is_evidence_and_its_absence_is_none() {
        let grade = |rows: &[Observation]| Evidence::LLVM.with_observations(rows).grade(Counts::default());
        assert_eq!(grade(&[]), Grade::Cautious);
        assert_eq!(grade(&[row(Seen::Never)]), Grade::Cautious);
        assert_eq!(grade(&[row(Seen::Never), row(Seen::Fails)]), Grade::Documented);
    }

    #[test]
    fn names_of_others_do_not_break_the_table() {
        let table = observation_table(&[row(Seen::Fails)]);
        let read = read_observations(&table).unwrap();
        assert_eq!(read, [Observation { gpu: "a GPU".to_owned(), ..row(Seen::Fails) }]);
        let error = read_observations("rule\ttarget").unwrap_err().to_string();
        assert!(error.contains("columns are rule, target, seen"), "{error}");
    }

    #[test]
    fn every_observed_rule_exists() {
        for id in TABLE.keys() {
            assert!(crate::hazards::facts(id).is_some(), "observed.tsv has `{id}`, which is not a rule");
        }
    }
}
