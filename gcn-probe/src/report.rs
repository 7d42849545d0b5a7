//! The report as data: one JSON without names of hosts or users.

use std::collections::BTreeMap;

use gcn_isa::Target;
use serde::{Deserialize, Serialize};

use crate::clock::result::{Clock, Fit};
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
    /// True for the short form of a run.
    pub quick: bool,
}

/// A whole report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was run.
    pub header: Header,
    /// The suite `values`, if it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub values: Option<Values>,
    /// The suite `matrix`, if it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matrix: Option<Values>,
    /// The suite `waits`, if it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waits: Option<Waits>,
    /// The suite `clock`, if it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clock: Option<Clock>,
}

/// Results of the suite `waits`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// Rules by verdict.
    pub totals: BTreeMap<Verdict, usize>,
    /// Each rule of the target.
    pub rules: Vec<RuleResult>,
}

/// What was measured beside what rules ask for; a later one outweighs an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No program shows whether the rule is kept; the message says why.
    NotMeasured,
    /// As many wait states as rules ask for.
    Equal,
    /// No program ever failed, with no wait state between the two. That is not to say that none is needed.
    NotSeen,
    /// Fewer than rules ask for.
    Less,
    /// A program failed with as many as every rule asks for.
    More,
    /// The same program gave two results although its instructions were far apart.
    Unstable,
    /// HIP reported an error, or the process ended.
    Failed,
    /// The time limit passed.
    Hung,
}

impl Verdict {
    /// The word for it in reports.
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
    /// Its name.
    pub rule: String,
    /// The rule in words.
    pub title: String,
    /// How well it is supported.
    pub grade: String,
    /// The outcome of all pairs.
    pub verdict: Verdict,
    /// Instructions that it is about, each measured.
    pub pairs: Vec<PairResult>,
    /// Why there is none, or what HIP said.
    pub message: String,
}

/// Two instructions and how far apart they must stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairResult {
    /// The instructions, in order.
    pub instructions: String,
    /// Wait states that the rule asks for.
    pub asked: u8,
    /// The most that any rule asks for between these two.
    pub needed: u8,
    /// The rule that does.
    pub needed_by: String,
    /// The least number of wait states from which on no program ever failed, in any surroundings; `None` if none ever failed.
    pub measured: Option<u8>,
    /// The two, far apart, did not always give the same.
    pub unstable: bool,
    /// Each of the surroundings.
    pub places: Vec<Place>,
}

impl PairResult {
    /// What was measured beside what rules ask for.
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

/// What was measured in certain surroundings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The surroundings.
    pub surroundings: String,
    /// As in [`PairResult::measured`].
    pub measured: Option<u8>,
    /// Numbers of wait states with which a program failed.
    pub failing: Vec<u8>,
    /// As in [`PairResult::unstable`].
    pub unstable: bool,
}

/// Results of the suites `values` and `matrix`.
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

impl Values {
    /// The results of a run of the suite `values` that has one for every form.
    pub fn new(target: Target, forms: Vec<FormResult>) -> Values {
        let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (row, rule) in Forms::of(target).left_out {
            left_out.entry(rule.to_owned()).or_default().push(form::name(row));
        }
        Values { left_out, ..Values::of_all(forms) }
    }

    /// The same for a suite that leaves no form out.
    pub fn of_all(forms: Vec<FormResult>) -> Values {
        Values { totals: totals(forms.iter().map(|form| form.status)), forms, left_out: BTreeMap::new() }
    }
}

impl Waits {
    /// The results of a run that has one for every rule.
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
    /// The report of a run of which no suite has ended yet.
    pub fn new(header: Header) -> Report {
        Report { header, values: None, matrix: None, waits: None, clock: None }
    }

    /// The suites that ran of those whose results are what instructions compute, each with its name.
    pub fn computed(&self) -> impl Iterator<Item = (&'static str, &Values)> {
        let suites = [("values", &self.values), ("matrix", &self.matrix)];
        suites.into_iter().filter_map(|(name, suite)| Some((name, suite.as_ref()?)))
    }

    /// True if nothing contradicts the simulator. That a rule's failure was not seen, or that fewer states than it asks for were enough
    /// here, does not contradict it, nor does a time that was only assumed and is
    /// within its range.
    pub fn agrees(&self) -> bool {
        let values =
            self.computed().flat_map(|(_, v)| v.totals.keys()).all(|status| *status < Status::Differs);
        let waits = self.waits.iter().flat_map(|w| w.totals.keys()).all(|verdict| *verdict < Verdict::More);
        let clock = self.clock.iter().flat_map(|clock| clock.totals.keys()).all(|fit| *fit < Fit::Differs);
        values && waits && clock
    }
}
