//! The report's data: one JSON document, which contains no names of hosts or users.

use std::collections::BTreeMap;

use gcn_isa::Target;
use serde::{Deserialize, Serialize};

use crate::clock::table::{Clock, Fit};
use crate::device::About;
use crate::form::Forms;

/// The version of the report's schema.
pub const SCHEMA: u32 = 2;

/// The parameters of a run: two runs with the same header give the same report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of this crate.
    pub tools: String,
    /// The GPU.
    pub gpu: About,
    /// The seed of the random generator.
    pub seed: u64,
    /// True for a short run.
    pub quick: bool,
}

/// A whole report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The parameters of the run.
    pub header: Header,
    /// The day on which it was written, `2026-11-29` in UTC; empty if it is not known.
    #[serde(default)]
    pub date: String,
    /// The suite `values`, if it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub values: Option<Values>,
    /// The suite `matrix`, if it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matrix: Option<Values>,
    /// The suite `waits`, if it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waits: Option<Waits>,
    /// The suite `kernels`, if it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kernels: Option<Kernels>,
    /// The suite `clock`, if it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clock: Option<Clock>,
}

/// Results of the suite `kernels`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kernels {
    /// Kernels by status.
    pub totals: BTreeMap<Status, usize>,
    /// Each kernel.
    pub kernels: Vec<KernelResult>,
}

/// The result of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelResult {
    /// Its name.
    pub kernel: String,
    /// The overall outcome: [`Status::Equal`] if the output for every problem size equals that of the reference, within the kernel's
    /// tolerance.
    pub status: Status,
    /// The problem sizes that were run.
    pub sizes: Vec<SizeResult>,
    /// The reason why the kernel was not run, or HIP's error message.
    pub message: String,
}

/// A kernel on a problem of some size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeResult {
    /// The problem size, in the kernel's own terms.
    pub size: String,
    /// True if the result equals the reference, bit for bit or within the tolerance.
    pub agrees: bool,
    /// The number of elements of the result.
    pub elements: usize,
    /// The number of elements that differ from the reference in any bit.
    pub different: usize,
    /// The index of the first element that differs; `None` if no element differs.
    pub first: Option<usize>,
    /// The largest absolute difference; `None` if it is not finite.
    pub max_error: Option<f64>,
    /// The largest error that the kernel allows.
    pub tolerance: f64,
    /// The time of the fastest run in nanoseconds, measured by the device's events, without copies.
    pub gpu_ns: Option<u64>,
    /// The time in nanoseconds according to the timed model, at the device's highest clock; `None` if the model did not run the kernel.
    pub model_ns: Option<u64>,
}

impl SizeResult {
    /// The relative error of the model's time: positive if it is longer than the GPU's. `None` if one of the times is missing.
    ///
    /// ```
    /// use gcn_probe::report::SizeResult;
    /// let text = r#"{"size": "64", "agrees": true, "elements": 64, "different": 0, "first": null, "max_error": 0.0,
    ///     "tolerance": 0.0, "gpu_ns": 2000, "model_ns": 1500}"#;
    /// let result: SizeResult = serde_json::from_str(text).unwrap();
    /// assert_eq!(result.model_error(), Some(-0.25));
    /// ```
    pub fn model_error(&self) -> Option<f64> {
        let (gpu, model) = (self.gpu_ns.filter(|ns| *ns > 0)? as f64, self.model_ns? as f64);
        Some(model / gpu - 1.0)
    }
}

/// Results of the suite `waits`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// The number of rules for each verdict.
    pub totals: BTreeMap<Verdict, usize>,
    /// The result for each rule of the target.
    pub rules: Vec<RuleResult>,
}

/// The measurement compared with what the rules require. A rule gets the greatest verdict of its pairs in the order of declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No test program can show whether the rule holds; the message gives the reason.
    NotMeasured,
    /// The GPU needs exactly the number of wait states that the rules require.
    Equal,
    /// No program ever failed, even without any wait state between the two. This does not prove that none is needed.
    NotSeen,
    /// Fewer wait states are needed than the rules require.
    Less,
    /// A program failed with as many wait states as the strictest rule requires.
    More,
    /// The same program gave two different results although its instructions were far apart.
    Unstable,
    /// HIP reported an error, or the child process ended.
    Failed,
    /// The time limit passed.
    Hung,
}

impl Verdict {
    /// The verdict's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::NotMeasured => "not measured",
            Verdict::Equal => "equal",
            Verdict::NotSeen => "not seen",
            Verdict::Less => "less",
            Verdict::More => "more",
            Verdict::Unstable => "unstable",
            Verdict::Failed => "failed",
            Verdict::Hung => "hung",
        }
    }
}

/// The result of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleResult {
    /// The rule's name.
    pub rule: String,
    /// The rule in words.
    pub title: String,
    /// The grade of evidence for the rule.
    pub grade: String,
    /// The overall verdict for all pairs.
    pub verdict: Verdict,
    /// The measured instruction pairs that the rule covers.
    pub pairs: Vec<PairResult>,
    /// The reason why there are no pairs, or HIP's error message.
    pub message: String,
}

/// Two instructions and the wait states that they need in between.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairResult {
    /// The instructions, in order.
    pub instructions: String,
    /// The number of wait states that this rule requires.
    pub asked: u8,
    /// The largest number of wait states that any rule requires between these two.
    pub needed: u8,
    /// The rule that requires them.
    pub needed_by: String,
    /// The least number of wait states such that no program with that many or more failed, under any conditions; `None` if no program
    /// failed at all.
    pub measured: Option<u8>,
    /// True if the results varied even with the two instructions far apart.
    pub unstable: bool,
    /// The results under each of the conditions.
    pub places: Vec<Place>,
    /// For rules about counters and barriers, the waits that were tried, the weakest first. The numbers in this result are then indices
    /// into this list instead of numbers of wait states.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub waits: Vec<String>,
}

impl PairResult {
    /// Describes a number of the result: a number of wait states, or one of the waits that were tried.
    pub fn in_words(&self, number: u8) -> String {
        self.waits.get(usize::from(number)).cloned().unwrap_or_else(|| number.to_string())
    }

    /// Compares the measurement with what the rules require.
    pub fn verdict(&self) -> Verdict {
        match self.measured {
            _ if self.unstable => Verdict::Unstable,
            None => Verdict::NotSeen,
            Some(states) => match states.cmp(&self.needed) {
                std::cmp::Ordering::Less => Verdict::Less,
                std::cmp::Ordering::Equal => Verdict::Equal,
                std::cmp::Ordering::Greater => Verdict::More,
            },
        }
    }
}

/// The measurement under one of the conditions ([`Surroundings`](crate::bench::Surroundings)).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The name of the conditions.
    pub surroundings: String,
    /// The number of runs after which a program counts as correct; 0 in reports that do not say.
    #[serde(default)]
    pub runs: u32,
    /// As in [`PairResult::measured`].
    pub measured: Option<u8>,
    /// The numbers of wait states with which a program failed.
    pub failing: Vec<u8>,
    /// As in [`PairResult::unstable`].
    pub unstable: bool,
}

/// Results of the suites `values` and `matrix`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Values {
    /// The number of forms for each status.
    pub totals: BTreeMap<Status, usize>,
    /// The result for each form that was to run.
    pub forms: Vec<FormResult>,
    /// Forms for which no program is generated, grouped by the rule that excludes them.
    pub left_out: BTreeMap<String, Vec<String>>,
}

/// The outcome for a form. If the form's programs have different outcomes, the form has the one that is declared last in this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All bits equal those of the simulator.
    Equal,
    /// A program could not be made, or the simulator cannot run it.
    NotRun,
    /// Bits differ, and the simulator declares that it only approximates the instruction.
    Approximate,
    /// Bits differ.
    Differs,
    /// HIP reported an error, or the child process ended before it had a result.
    Failed,
    /// The time limit passed.
    Hung,
}

impl Status {
    /// The status's name in reports.
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
    /// The form's mnemonic and its addressing form.
    pub form: String,
    /// The number of programs that ran.
    pub cases: u32,
    /// The overall status of all programs.
    pub status: Status,
    /// The number of programs whose results differ.
    pub differing: u32,
    /// The first difference; `None` if no result differs.
    pub first: Option<Difference>,
    /// The error message of HIP, the encoder or the simulator.
    pub message: String,
}

/// A difference between GPU and simulator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The instruction under test.
    pub instruction: String,
    /// The low byte of MODE: rounding and denormals.
    pub mode: u8,
    /// A description of the first dword that differs.
    pub place: String,
    /// The number of dwords that differ.
    pub words: usize,
    /// The simulator's dword.
    pub simulated: String,
    /// The GPU's dword.
    pub gpu: String,
}

impl Values {
    /// The results of the suite `values`, given one result for every form.
    pub fn new(target: Target, forms: Vec<FormResult>) -> Values {
        let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (form, rule) in Forms::of(target).left_out {
            left_out.entry(rule.to_owned()).or_default().push(form.name());
        }
        Values { left_out, ..Values::of_all(forms) }
    }

    /// The results of a suite that excludes no form.
    pub fn of_all(forms: Vec<FormResult>) -> Values {
        Values { totals: totals(forms.iter().map(|form| form.status)), forms, left_out: BTreeMap::new() }
    }
}

impl Kernels {
    /// The results of a run, which contains one for every kernel.
    pub fn new(kernels: Vec<KernelResult>) -> Kernels {
        Kernels { totals: totals(kernels.iter().map(|kernel| kernel.status)), kernels }
    }
}

impl Waits {
    /// The results of the suite `waits`, given one result for every rule.
    pub fn new(rules: Vec<RuleResult>) -> Waits {
        Waits { totals: totals(rules.iter().map(|rule| rule.verdict)), rules }
    }
}

fn totals<T: Ord>(outcomes: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut totals = BTreeMap::new();
    outcomes.for_each(|outcome| *totals.entry(outcome).or_default() += 1);
    totals
}

impl Report {
    /// A report without results.
    pub fn new(header: Header) -> Report {
        Report { header, date: today(), values: None, matrix: None, waits: None, kernels: None, clock: None }
    }

    /// The suites that ran among those that test what instructions compute, each with its name.
    pub fn computed(&self) -> impl Iterator<Item = (&'static str, &Values)> {
        let suites = [("values", &self.values), ("matrix", &self.matrix)];
        suites.into_iter().filter_map(|(name, suite)| Some((name, suite.as_ref()?)))
    }

    /// True if no result contradicts the simulator. The following do not contradict it: a hazard that was not seen, a rule that requires
    /// more wait states than were needed, and a timing parameter whose value in the table is assumed, if the measured value is within the
    /// range that the table states.
    pub fn agrees(&self) -> bool {
        let values =
            self.computed().flat_map(|(_, v)| v.totals.keys()).all(|status| *status < Status::Differs);
        let waits = self.waits.iter().flat_map(|w| w.totals.keys()).all(|verdict| *verdict < Verdict::More);
        let kernels =
            self.kernels.iter().flat_map(|k| k.totals.keys()).all(|status| *status < Status::Differs);
        let clock = self.clock.iter().flat_map(|clock| clock.totals.keys()).all(|fit| *fit < Fit::Differs);
        values && waits && kernels && clock
    }
}

/// The day in UTC as `2026-11-29`; empty if the clock is before 1970.
fn today() -> String {
    let seconds = std::time::UNIX_EPOCH.elapsed().map(|since| since.as_secs());
    seconds.map(|seconds| day(seconds / 86_400)).unwrap_or_default()
}

/// The date that is `since_1970` days after 1 January 1970, in the Gregorian calendar.
fn day(since_1970: u64) -> String {
    // Howard Hinnant, chrono-compatible low-level date algorithms, `civil_from_days`: years begin in March, so that the leap day is the
    // last day of a year.
    let days = since_1970 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are from `date -u -d @N +%F`.
    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_709_251_199, "2024-02-29"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(day(seconds / 86_400), date);
        }
    }
}
