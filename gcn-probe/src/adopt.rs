//! Turns a report's results into facts for a checkout of gcn-dsl: observations about rules, which determine the rules' grades, and measured
//! timing parameters.

pub mod timing;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use gcn_isa::hazards::{Grade, Observation, Seen, counts, facts, observation_table, read_observations};
use gcn_isa::target::Target;

use crate::report::{Report, RuleResult, Verdict};

/// The checkout's table of observations about rules.
pub const OBSERVED: &str = "gcn-isa/data/observed.tsv";

/// What a report changed in a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adopted {
    /// The number of rows added to the table of observations.
    pub rows: usize,
    /// Rules whose grades change.
    pub grades: Vec<Regraded>,
    /// Timing parameters whose value or source changes.
    pub timing: Vec<timing::Changed>,
}

/// A rule whose grade changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regraded {
    /// The name of the rule.
    pub rule: String,
    /// The grade before.
    pub before: Grade,
    /// The grade that follows from the evidence including the GPU's observations.
    pub after: Grade,
}

impl fmt::Display for Regraded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.rule, self.before, self.after)
    }
}

/// Writes what the report observed into the tables of a checkout of gcn-dsl. Rows of the same GPU and driver are replaced; rows of other
/// GPUs and drivers are kept. A report from the simulator is refused unless `simulated` is true.
///
/// # Errors
/// A message: the report is from the simulator, it contains nothing to adopt, or a table is missing or cannot be read or written.
pub fn adopt(report: &Report, checkout: &Path, simulated: bool) -> Result<Adopted, String> {
    let gpu = &report.header.gpu;
    if gpu.simulated && !simulated {
        return Err("the report was made by the simulator, which follows the rules that it would prove; `--simulated` adopts it \
                    nevertheless, for example to see what would change"
            .to_owned());
    }
    let source = Source::of(report)?;
    let found = observed(report, &source);
    let measured = measured(report);
    if found.is_empty() && measured.is_empty() {
        return Err(
            "the report has no rule and no time that was measured: run `gcn probe waits clock`".to_owned()
        );
    }
    // Read both tables before changing either, so that an unreadable table leaves the checkout unchanged.
    let observed = Table::read(checkout, OBSERVED)?;
    let parameters = Table::read(checkout, timing::TIMING)?;
    let before = read_observations(&observed.text).map_err(|error| observed.error(&error))?;
    let after = merged(before.clone(), found);
    let set = source.target.instruction_set();
    let (rows_of_times, changed) =
        timing::with_measured(&parameters.text, set, &measured, &source.to_string());
    observed.write(&observation_table(&after))?;
    parameters.write(&rows_of_times)?;
    let rows = after.iter().filter(|row| !before.contains(row)).count();
    Ok(Adopted { rows, grades: regraded(&before, &after), timing: changed })
}

/// A table in a checkout.
struct Table {
    path: PathBuf,
    text: String,
}

impl Table {
    fn read(checkout: &Path, name: &str) -> Result<Table, String> {
        let path = checkout.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Table { path, text }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(format!(
                "{} is no checkout of gcn-dsl, since it has no {name}; `--checkout DIR` names one",
                checkout.display()
            )),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    fn error(&self, error: &dyn fmt::Display) -> String {
        format!("{}: {error}", self.path.display())
    }

    fn write(&self, text: &str) -> Result<(), String> {
        if text == self.text {
            return Ok(());
        }
        fs::write(&self.path, text).map_err(|error| self.error(&error))
    }
}

/// The origin of a report's facts: the GPU, the driver and the date.
struct Source {
    target: Target,
    gpu: String,
    driver: String,
    date: String,
}

impl Source {
    fn of(report: &Report) -> Result<Source, String> {
        let gpu = &report.header.gpu;
        let target = gpu.target_id.split(':').next().unwrap_or_default();
        let target: Target = target.parse().map_err(|error| format!("the report's target: {error}"))?;
        let module = gpu.driver.module.as_ref().map(|module| format!(", amdgpu {module}"));
        let driver = format!("HIP {}{}", gpu.driver.hip, module.unwrap_or_default());
        Ok(Source { target, gpu: gpu.name.clone(), driver, date: report.date.clone() })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gcn probe: {}, {}, {}", self.gpu, self.driver, self.date)
    }
}

/// The report's measured parameters: name and value.
fn measured(report: &Report) -> Vec<(String, String)> {
    let parameters = report.clock.iter().flat_map(|clock| &clock.parameters);
    parameters.filter_map(|parameter| Some((parameter.name.clone(), parameter.measured.clone()?))).collect()
}

/// The report's observations about rules that it could measure.
fn observed(report: &Report, source: &Source) -> Vec<Observation> {
    let row = |rule: &RuleResult| {
        let seen = match rule.verdict {
            Verdict::Equal | Verdict::Less | Verdict::More => Seen::Fails,
            Verdict::NotSeen => Seen::Never,
            Verdict::NotMeasured | Verdict::Unstable | Verdict::Failed | Verdict::Hung => return None,
        };
        // A rule's verdict is that of its worst pair only, so a less severe pair may still have failed; look at every pair.
        let fails = rule.pairs.iter().any(|pair| pair.measured.is_some());
        facts(&rule.rule)?;
        Some(Observation {
            rule: rule.rule.clone(),
            target: source.target.name().to_owned(),
            seen: if fails { Seen::Fails } else { seen },
            states: states(rule),
            gpu: source.gpu.clone(),
            driver: source.driver.clone(),
            date: source.date.clone(),
        })
    };
    report.waits.iter().flat_map(|waits| &waits.rules).filter_map(row).collect()
}

/// For each number of wait states that the rule requires, the least number that never failed; if several programs measured it, the largest
/// of their results.
fn states(rule: &RuleResult) -> String {
    let mut least: BTreeMap<u8, Option<u8>> = BTreeMap::new();
    for pair in rule.pairs.iter().filter(|pair| !pair.unstable && pair.waits.is_empty()) {
        let known = least.entry(pair.needed).or_default();
        *known = (*known).max(pair.measured);
    }
    let cells = least.into_iter().map(|(asked, least)| {
        format!("{asked}:{}", least.map_or_else(|| "-".to_owned(), |least| least.to_string()))
    });
    cells.collect::<Vec<_>>().join(",")
}

/// The old and new rows, sorted. If a rule, GPU and driver occur in both lists, the new row is kept.
fn merged(before: Vec<Observation>, found: Vec<Observation>) -> Vec<Observation> {
    let key = |row: &Observation| [&row.rule, &row.target, &row.gpu, &row.driver].map(String::clone);
    let all = before.into_iter().chain(found).map(|row| (key(&row), row));
    all.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// The rules whose grades differ between two tables.
fn regraded(before: &[Observation], after: &[Observation]) -> Vec<Regraded> {
    let mut names: Vec<&String> = before.iter().chain(after).map(|row| &row.rule).collect();
    names.sort_unstable();
    names.dedup();
    let change = |name: &String| {
        let of = |rows: &[Observation]| -> Vec<Observation> {
            rows.iter().filter(|row| row.rule == *name).cloned().collect()
        };
        // Leaves out the observations that this program was built with, since the table may differ from them.
        let evidence = facts(name)?.evidence;
        let grade = |rows: &[Observation]| evidence.with_observations(&of(rows)).grade(counts(name));
        let (before, after) = (grade(before), grade(after));
        (before != after).then(|| Regraded { rule: name.clone(), before, after })
    };
    names.into_iter().filter_map(change).collect()
}
