//! Compares two reports.

use std::collections::BTreeMap;
use std::fmt;

use crate::clock::table::Clock;
use crate::report::{Kernels, Report, Values, Waits};

/// A task whose results differ between two reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The form, the rule with its instructions, or the parameter.
    pub task: String,
    /// What the first report says.
    pub before: String,
    /// What the second report says.
    pub after: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.task, self.before, self.after)
    }
}

/// The differences between two reports: forms whose status or first difference changed, instruction pairs that need another number of wait
/// states, and timing parameters with another value. A task that only one of the reports has counts as a difference.
///
/// ```
/// use gcn_probe::compare::compare;
/// use gcn_probe::report::Report;
/// let header = r#"{"schema": 1, "tools": "0.1.0", "seed": 1, "quick": true,
///     "gpu": {"name": "a GPU", "target_id": "gfx942", "compute_units": 304, "clock_mhz": null}}"#;
/// let report = |forms: &str| -> Report {
///     let values = format!(r#"{{"totals": {{}}, "left_out": {{}}, "forms": [{forms}]}}"#);
///     serde_json::from_str(&format!(r#"{{"header": {header}, "values": {values}}}"#)).unwrap()
/// };
/// let form = |status: &str| {
///     format!(r#"{{"form": "v_add_f32", "cases": 1, "status": "{status}", "differing": 0, "first": null, "message": ""}}"#)
/// };
/// let [good, bad] = ["equal", "hung"].map(|status| report(&form(status)));
/// assert!(compare(&good, &good).is_empty());
/// assert_eq!(compare(&good, &bad)[0].to_string(), "v_add_f32: equal -> hung");
/// assert_eq!(compare(&report(""), &bad)[0].to_string(), "v_add_f32: absent -> hung");
/// ```
pub fn compare(before: &Report, after: &Report) -> Vec<Change> {
    let tasks = |report: &Report| -> BTreeMap<String, String> {
        let values = report.computed().flat_map(|(_, values)| of_values(values));
        let waits = report.waits.iter().flat_map(of_waits);
        let kernels = report.kernels.iter().flat_map(of_kernels);
        let clock = report.clock.iter().flat_map(of_clock);
        values.chain(waits).chain(kernels).chain(clock).collect()
    };
    let (before, after) = (tasks(before), tasks(after));
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let outcome = |tasks: &BTreeMap<String, String>, name: &String| {
        tasks.get(name).cloned().unwrap_or_else(|| "absent".to_owned())
    };
    names
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| Change {
            task: name.clone(),
            before: outcome(&before, name),
            after: outcome(&after, name),
        })
        .collect()
}

fn of_values(values: &Values) -> impl Iterator<Item = (String, String)> {
    values.forms.iter().map(|form| {
        let first = form.first.as_ref().map(|first| format!(" ({}: {})", first.place, first.gpu));
        (form.form.clone(), format!("{}{}", form.status.name(), first.unwrap_or_default()))
    })
}

fn of_waits(waits: &Waits) -> impl Iterator<Item = (String, String)> {
    waits.rules.iter().flat_map(|rule| {
        let pairs = rule.pairs.iter().map(|pair| {
            let measured = pair.measured.map_or_else(
                || "not seen".to_owned(),
                |n| match pair.waits.is_empty() {
                    true => format!("{n} wait states"),
                    false => pair.in_words(n),
                },
            );
            (format!("{} `{}`", rule.rule, pair.instructions), measured)
        });
        let none = rule.pairs.is_empty().then(|| (rule.rule.clone(), rule.verdict.name().to_owned()));
        pairs.chain(none).collect::<Vec<_>>()
    })
}

/// The results of kernels without their times, which vary from run to run.
fn of_kernels(kernels: &Kernels) -> impl Iterator<Item = (String, String)> {
    kernels
        .kernels
        .iter()
        .map(|kernel| (format!("kernel {}", kernel.kernel), kernel.status.name().to_owned()))
}

fn of_clock(clock: &Clock) -> impl Iterator<Item = (String, String)> {
    clock.parameters.iter().map(|parameter| {
        let value = parameter.measured.as_ref().map(|value| format!("{value} {}", parameter.unit));
        (parameter.name.clone(), value.unwrap_or_else(|| parameter.fit.name().to_owned()))
    })
}
