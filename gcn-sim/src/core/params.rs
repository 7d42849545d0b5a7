//! The parameters of the timing model, from a table that names the source of each value.
//!
//! `data/timing.tsv` contains every number that the timed mode uses. A row may name targets; a row that names the target takes precedence
//! over a row for all targets. [`Config::set`](crate::timed::Config::set) overrides any parameter.

use std::fmt;
use std::sync::LazyLock;

use gcn_emit::occupancy::Mode;
use gcn_isa::{InstructionSet, Target, TargetSet};
use serde::Serialize;

/// The quality of a value's source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Measured on hardware by somebody whom the source names.
    Measured,
    /// Stated in an ISA manual.
    Manual,
    /// Stated in a white paper, product page, profiler documentation or compiler model.
    Published,
    /// There is no public source; the row gives the reason for this value.
    Assumed,
    /// A property of the kernel and its grid, which the caller should set.
    Kernel,
    /// Set by the caller.
    Set,
}

impl Grade {
    fn parse(text: &str) -> Option<Grade> {
        Some(match text {
            "measured" => Grade::Measured,
            "manual" => Grade::Manual,
            "published" => Grade::Published,
            "assumed" => Grade::Assumed,
            "kernel" => Grade::Kernel,
            _ => return None,
        })
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Grade::Measured => "measured",
            Grade::Manual => "manual",
            Grade::Published => "published",
            Grade::Assumed => "assumed",
            Grade::Kernel => "kernel",
            Grade::Set => "set",
        })
    }
}

/// A parameter with its value on one target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Parameter {
    /// The name, as in [`Config::set`](crate::timed::Config::set).
    pub name: String,
    /// The value: a number, or groups of lanes.
    pub value: String,
    /// The unit.
    pub unit: &'static str,
    /// The quality of the source.
    pub grade: Grade,
    /// The source.
    pub source: String,
    /// For an assumed value, the range in which the true value is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[String; 2]>,
}

/// A row of the table.
struct Row<'a> {
    name: &'a str,
    /// The targets for which the row holds; `None` for a row that applies to all targets without a row that names them.
    targets: Option<TargetSet>,
    value: &'a str,
    unit: &'a str,
    grade: Grade,
    source: &'a str,
    range: Option<(&'a str, &'a str)>,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Option<Row<'a>> {
        let mut fields = line.split('\t');
        let mut next = || fields.next();
        Some(Row {
            name: next()?,
            targets: match next()? {
                "all" => None,
                set => Some(set.parse().ok()?),
            },
            value: next()?,
            unit: next()?,
            grade: Grade::parse(next()?)?,
            source: next()?,
            range: next().and_then(|range| range.split_once("..")),
        })
    }

    fn names(&self, set: InstructionSet) -> bool {
        self.targets.is_some_and(|sets| sets.has(set))
    }
}

/// The columns of a table of parameters, in order. The last column may be omitted.
pub const COLUMNS: [&str; 7] = ["name", "target", "value", "unit", "grade", "source", "range"];

/// The row of a table of parameters for a measured value. `source` may be any text.
pub fn measured_row(name: &str, set: InstructionSet, value: &str, unit: &str, source: &str) -> String {
    let source = source.split_whitespace().collect::<Vec<_>>().join(" ");
    [name, set.name(), value, unit, &Grade::Measured.to_string(), &source].join("\t")
}

static ROWS: LazyLock<Vec<Row<'static>>> = LazyLock::new(|| {
    let text = include_str!("../../data/timing.tsv");
    // Malformed rows cannot occur: the table is embedded in the program, and a test parses every row.
    rows(text).filter_map(|(_, line)| Row::parse(line)).collect()
});

/// The lines with rows of a table in the form of `data/timing.tsv`, each with its number.
fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().skip(1).map(|(i, line)| (i + 1, line));
    lines.filter(|(_, line)| !line.starts_with('#') && !line.is_empty())
}

/// The row of a parameter that applies to a target; `None` if there is none.
fn row_of(target: Target, name: &str) -> Option<&'static Row<'static>> {
    row_in(&ROWS, target, name)
}

/// As [`row_of`], in any table. In decreasing precedence: the row that names the target, the row of the target whose measurements are used
/// for it, and the row for all targets.
fn row_in<'r, 'a>(rows: &'r [Row<'a>], target: Target, name: &str) -> Option<&'r Row<'a>> {
    let set = target.instruction_set();
    let of = |set| rows.iter().find(|row| row.name == name && row.names(set));
    of(set)
        .or_else(|| of(set.measured_as()))
        .or_else(|| rows.iter().find(|row| row.name == name && row.targets.is_none()))
}

/// Name and value of each parameter that a table in the form of `data/timing.tsv` has for a target.
pub(crate) fn read(text: &str, target: Target) -> Result<Vec<(String, String)>, ParameterError> {
    let mut table = Vec::new();
    for (line, text) in rows(text) {
        let row = Row::parse(text).ok_or(ParameterError::Row { line })?;
        check(row.name, row.value)?;
        table.push(row);
    }
    let of = |row: &&'static Row<'static>| row_in(&table, target, row.name);
    let mut values: Vec<(String, String)> = Vec::new();
    for row in ROWS.iter().filter_map(|row| of(&row)) {
        if !values.iter().any(|(name, _)| name == row.name) {
            values.push((row.name.to_owned(), row.value.to_owned()));
        }
    }
    Ok(values)
}

/// True if the table has parameters for a target, so that timed mode can run it.
pub fn is_timed(target: Target) -> bool {
    row_of(target, "device.cus").is_some()
}

/// The number of compute units of the device that represents a target (parameter `device.cus`).
// Reads only this parameter, because every launch calls this.
pub fn compute_units(target: Target) -> u64 {
    row_of(target, "device.cus").and_then(|row| row.value.parse().ok()).unwrap_or(1).max(1)
}

/// The number of units of the device that run whole workgroups: compute units or, on RDNA, workgroup processors of two compute units, the
/// mode for which kernels are compiled by default.
pub fn multiprocessors(target: Target) -> u64 {
    (compute_units(target) / u64::from(Mode::usual(target).compute_units())).max(1)
}

/// The largest plausible value of a parameter: the upper end of its range, or the value itself if it is known. `None` if there is no
/// numeric parameter with this name.
///
/// ```
/// use gcn_isa::Target;
/// use gcn_sim::timed::at_most;
///
/// assert_eq!(at_most(Target::GFX942, "memory.latency"), Some(800)); // measured
/// assert_eq!(at_most(Target::GFX942, "barrier.release"), Some(40)); // assumed: 8, between 4 and 40
/// ```
pub fn at_most(target: Target, name: &str) -> Option<u64> {
    let row = row_of(target, name)?;
    row.range.map_or(row.value, |(_, high)| high).parse().ok()
}

/// Every parameter of `target`, in the order of the table.
///
/// ```
/// use gcn_isa::Target;
/// let banks = |target| {
///     gcn_sim::timed::parameters(target).into_iter().find(|p| p.name == "lds.banks").unwrap().value
/// };
/// assert_eq!((banks(Target::GFX942).as_str(), banks(Target::GFX950).as_str()), ("32", "64"));
/// ```
pub fn parameters(target: Target) -> Vec<Parameter> {
    let mut seen: Vec<&str> = Vec::new();
    let mut parameters = Vec::new();
    for row in ROWS.iter() {
        if seen.contains(&row.name) {
            continue;
        }
        seen.push(row.name);
        let Some(row) = row_of(target, row.name) else { continue };
        parameters.push(Parameter {
            name: row.name.to_owned(),
            value: row.value.to_owned(),
            unit: row.unit,
            grade: row.grade,
            source: row.source.to_owned(),
            range: row.range.map(|(low, high)| [low.to_owned(), high.to_owned()]),
        });
    }
    parameters
}

/// An invalid setting of a parameter.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The setting does not have the form `name=value`.
    #[error("`{0}` sets no parameter; write `name=value`, for example `l2.latency=250`")]
    Form(String),
    /// A line of a table that is not a valid row.
    #[error(
        "line {line} is no row of parameters; write name, target, value, unit, grade and source, with tabs between them, as in gcn-sim/data/timing.tsv"
    )]
    Row {
        /// The line, from 1 on.
        line: usize,
    },
    /// There is no parameter of this name.
    #[error("there is no parameter `{0}`; docs/timing.md lists them")]
    Unknown(String),
    /// The parameter cannot have this value.
    #[error("`{value}` is not a value for {name}: {expected} is needed")]
    Value {
        /// The parameter.
        name: String,
        /// The value.
        value: String,
        /// A description of valid values.
        expected: &'static str,
    },
}

/// The parameters of one run.
pub(crate) struct Params {
    parameters: Vec<Parameter>,
}

impl Params {
    /// The values of the table for `target`, replaced by those in `overrides`, which [`check`] has accepted.
    pub(crate) fn new(target: Target, overrides: &[(String, String)]) -> Params {
        let mut params = Params { parameters: parameters(target) };
        for (name, value) in overrides {
            if let Some(parameter) = params.parameters.iter_mut().find(|p| p.name == *name) {
                parameter.value.clone_from(value);
                parameter.grade = Grade::Set;
                "the caller".clone_into(&mut parameter.source);
                parameter.range = None;
            }
        }
        params
    }

    /// A parameter that counts compute units, converted to units that run workgroups (workgroup processors on RDNA).
    pub(crate) fn units(&self, target: Target, name: &str) -> u64 {
        self.number(name).div_ceil(u64::from(Mode::usual(target).compute_units())).max(1)
    }

    /// A numeric parameter; 0 if the target does not have it.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or(0)
    }

    /// A parameter that groups lanes, as a lane mask for each group.
    pub(crate) fn groups(&self, name: &str) -> Vec<u64> {
        groups(self.text(name)).unwrap_or_default()
    }

    fn text(&self, name: &str) -> &str {
        self.parameters.iter().find(|p| p.name == name).map_or("", |p| &p.value)
    }

    pub(crate) fn into_parameters(self) -> Vec<Parameter> {
        self.parameters
    }
}

/// True for parameters that may be zero: latencies, flags, and sizes of optional caches.
fn may_be_zero(name: &str) -> bool {
    let absent =
        ["mall.bytes", "gl1.bytes", "issue.dgemm-takes-valu", "branch.not-taken", "instruction.ahead"];
    absent.contains(&name)
        || ["latency", "dependency.", "dispatch.", "barrier.", "queue"].iter().any(|part| name.contains(part))
}

/// Checks a value that the caller sets.
pub(crate) fn check(name: &str, value: &str) -> Result<(), ParameterError> {
    let Some(row) = ROWS.iter().find(|row| row.name == name) else {
        return Err(ParameterError::Unknown(name.to_owned()));
    };
    let wrong =
        |expected| Err(ParameterError::Value { name: name.to_owned(), value: value.to_owned(), expected });
    if row.unit == "lanes" {
        return match groups(value) {
            Some(_) => Ok(()),
            None => wrong("groups of lanes such as `0-31;32-63`, each lane in one of them,"),
        };
    }
    match value.parse::<u64>() {
        Ok(0) if !may_be_zero(name) => wrong("a number above 0"),
        Ok(n) if n <= 1 << 40 => Ok(()),
        _ => wrong("a whole number up to 2^40"),
    }
}

/// Parses groups of lanes such as `0-3,20-23;4-7,16-19` to lane masks; `None` unless each of the 64 lanes is in exactly one group.
fn groups(text: &str) -> Option<Vec<u64>> {
    let mut all = 0u64;
    let mut masks = Vec::new();
    for group in text.split(';') {
        let mut mask = 0u64;
        for range in group.split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            if first > last || last > 63 {
                return None;
            }
            mask |= (u64::MAX >> (63 - (last - first))) << first;
        }
        if all & mask != 0 {
            return None;
        }
        all |= mask;
        masks.push(mask);
    }
    (all == u64::MAX).then_some(masks)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::*;

    #[test]
    fn compute_units_are_those_of_the_table() {
        for target in Target::KNOWN.into_iter().filter(|target| is_timed(*target)) {
            assert_eq!(compute_units(target), Params::new(target, &[]).number("device.cus"), "{target}");
        }
    }

    #[test]
    fn every_line_of_the_table_is_read_and_every_value_fits() {
        let text = include_str!("../../data/timing.tsv");
        let lines = text.lines().skip(1).filter(|line| !line.starts_with('#'));
        for line in lines {
            let row = Row::parse(line).unwrap_or_else(|| panic!("not a row: {line}"));
            let assumed = row.grade == Grade::Assumed;
            assert!(line.split('\t').count() == 6 + usize::from(assumed) && !row.source.is_empty(), "{line}");
            assert_eq!(row.range.is_some(), assumed, "{line}");
            if let Some((low, high)) = row.range {
                assert_eq!([check(row.name, low), check(row.name, high)], [Ok(()), Ok(())], "{line}");
                let number = |text: &str| text.parse::<u64>().ok();
                let within =
                    number(row.value).map(|value| (number(low)..=number(high)).contains(&Some(value)));
                assert!(within.unwrap_or(low == row.value), "{line}");
            }
            assert_eq!(check(row.name, row.value), Ok(()), "{line}");
        }
    }

    #[test]
    fn each_target_has_each_parameter_of_its_generation_once() {
        let names = |target| parameters(target).into_iter().map(|p| p.name).collect::<BTreeSet<_>>();
        let mut generations = HashMap::new();
        for target in Target::KNOWN.into_iter().filter(|target| is_timed(*target)) {
            let own = names(target);
            let first = generations.entry(target.generation()).or_insert_with(|| own.clone());
            assert_eq!(own, *first, "{target}");
            for row in ROWS.iter() {
                let rows =
                    ROWS.iter().filter(|r| r.name == row.name && r.names(target.instruction_set())).count();
                assert!(rows <= 1, "{} has two rows for {target}", row.name);
            }
        }
    }

    #[test]
    fn groups_are_partitions_of_the_wave() {
        assert_eq!(groups("0-31;32-63"), Some(vec![0xffff_ffff, 0xffff_ffff_0000_0000]));
        assert_eq!(groups("0-63"), Some(vec![u64::MAX]));
        for wrong in ["0-31", "0-31;31-63", "0-64", "5-3;0-63", "", "x"] {
            assert_eq!(groups(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn overrides_are_checked() {
        let set = |assignment: &str| {
            let mut config = crate::timed::Config::default();
            config
                .set(assignment)
                .map(|()| Params::new(Target::GFX942, &config.overrides).number("l2.latency"))
        };
        assert_eq!(set("l2.latency=123"), Ok(123));
        assert!(matches!(set("l2.latancy=1"), Err(ParameterError::Unknown(_))));
        assert!(matches!(set("l2.latency"), Err(ParameterError::Form(_))));
        assert!(matches!(set("lds.banks=0"), Err(ParameterError::Value { .. })));
        assert!(matches!(set("l2.latency=-1"), Err(ParameterError::Value { .. })));
        assert!(matches!(set("lds.phases.read.32=0-31"), Err(ParameterError::Value { .. })));
    }
}
