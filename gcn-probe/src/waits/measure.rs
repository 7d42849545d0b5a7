//! Finds the least number of wait states with which a program never fails.

use gcn_isa::Target;
use gcn_isa::hazards::counter::CounterRule;
use gcn_isa::hazards::remedy::{self, RemedyRule};
use gcn_isa::hazards::{AnyRule, Rule, rules};

use super::counter::{self, Trial, Wait};
use super::pair::{self, Measurable};
use super::sequence;
use crate::bench::Surroundings;
use crate::launch::{Launch, Runner, once};
use crate::report::{PairResult, Place, RuleResult, Verdict};

/// The amount of work for each rule.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The number of pairs for each pass count of the first instruction.
    pub pairs: usize,
    /// The number of runs after which a program counts as correct.
    pub repeats: u32,
    /// The conditions under which each pair is measured.
    pub around: &'static [Surroundings],
}

/// The wait-state rules of a target.
pub fn tasks(target: Target) -> Vec<&'static Rule> {
    rules(target).collect()
}

/// A rule of any of the three kinds.
#[derive(Debug, Clone, Copy)]
pub enum Task {
    /// A rule about wait states.
    States(&'static Rule),
    /// A rule about a counter, a barrier, or a single instruction.
    Counter(&'static CounterRule),
    /// A rule about a sequence of instructions that another instruction must interrupt.
    Remedy(&'static RemedyRule),
}

impl Task {
    /// Every rule of a target.
    pub fn all(target: Target) -> Vec<Task> {
        let states = tasks(target).into_iter().map(Task::States);
        let counters = counter::tasks(target).into_iter().map(Task::Counter);
        states.chain(counters).chain(remedy::rules(target).map(Task::Remedy)).collect()
    }

    fn rule(self) -> &'static dyn AnyRule {
        match self {
            Task::States(rule) => rule,
            Task::Counter(rule) => rule,
            Task::Remedy(rule) => rule,
        }
    }

    /// The name of the rule.
    pub fn name(self) -> &'static str {
        self.rule().facts().id
    }

    /// The result for a rule about which nothing is measured.
    pub fn without_result(self, verdict: Verdict, message: String) -> RuleResult {
        RuleResult { verdict, message, ..blank(self.rule()) }
    }

    /// Measures the rule.
    pub fn measure(self, target: Target, seed: u64, effort: Effort, gpu: Runner<'_>) -> RuleResult {
        match self {
            Task::States(of) => rule(of, target, seed, effort, gpu),
            Task::Counter(of) => counter_rule(of, target, seed, effort, gpu),
            Task::Remedy(of) => remedy_rule(of, target, seed, effort, gpu),
        }
    }
}

/// The result of a rule before anything is measured.
fn blank(rule: &dyn AnyRule) -> RuleResult {
    RuleResult {
        rule: rule.facts().id.to_owned(),
        title: rule.facts().title.to_owned(),
        grade: rule.grade().name().to_owned(),
        verdict: Verdict::NotMeasured,
        pairs: Vec::new(),
        message: String::new(),
    }
}

/// Measures a rule about counters or barriers: finds the weakest wait that is sufficient.
pub fn counter_rule(
    rule: &'static CounterRule,
    target: Target,
    seed: u64,
    effort: Effort,
    gpu: Runner<'_>,
) -> RuleResult {
    of_trials(rule, counter::trials(rule, target, seed), effort, gpu)
}

/// Measures a rule whose remedy is not a distance: whether programs fail without it.
pub fn remedy_rule(
    rule: &'static RemedyRule,
    target: Target,
    seed: u64,
    effort: Effort,
    gpu: Runner<'_>,
) -> RuleResult {
    of_trials(rule, sequence::trials(rule, target, seed), effort, gpu)
}

fn of_trials(
    rule: &'static dyn AnyRule,
    trials: Result<Vec<Trial>, String>,
    effort: Effort,
    gpu: Runner<'_>,
) -> RuleResult {
    let mut result = blank(rule);
    let trials = match trials {
        Ok(trials) => trials,
        Err(why) => {
            result.message = why;
            return result;
        }
    };
    for trial in &trials {
        match weakest(trial, rule.facts().id, effort.repeats, gpu) {
            Ok(measured) => result.pairs.push(measured),
            Err(error) => {
                result.verdict = Verdict::Failed;
                result.message = format!("{}: {error}", trial.text);
                return result;
            }
        }
    }
    result.verdict = result.pairs.iter().map(PairResult::verdict).max().unwrap_or(Verdict::NotMeasured);
    result
}

/// The weakest wait with which a program never failed.
///
/// # Errors
/// Errors of the assembler or the GPU.
pub fn weakest(trial: &Trial, rule: &str, repeats: u32, gpu: Runner<'_>) -> Result<PairResult, String> {
    let place =
        least(trial.waits.len() as u8, repeats, Surroundings::Alone, &|n| trial.launch(n).map(Some), gpu)?;
    let name = |wait: &Wait| if wait.name.is_empty() { "no wait".to_owned() } else { wait.name.clone() };
    Ok(PairResult {
        instructions: trial.text.clone(),
        asked: trial.needed,
        needed: trial.needed,
        needed_by: rule.to_owned(),
        measured: place.measured,
        unstable: place.unstable,
        places: vec![place],
        waits: trial.waits.iter().map(name).collect(),
    })
}

/// Measures a rule about wait states.
pub fn rule(rule: &'static Rule, target: Target, seed: u64, effort: Effort, gpu: Runner<'_>) -> RuleResult {
    let mut result = blank(rule);
    let pairs = match pair::pairs(rule, target, seed, effort.pairs) {
        Ok(pairs) => pairs,
        Err(why) => {
            result.message = why.words().to_owned();
            return result;
        }
    };
    for of in &pairs {
        match pair(of, target, effort, gpu) {
            Ok(measured) => result.pairs.push(measured),
            Err(error) => {
                result.verdict = Verdict::Failed;
                result.message = format!("{}: {error}", of.pair.text(target));
                return result;
            }
        }
    }
    let verdicts = result.pairs.iter().map(PairResult::verdict);
    result.verdict = verdicts.max().unwrap_or(Verdict::NotMeasured);
    result
}

/// Measures a pair under all conditions.
///
/// # Errors
/// Errors of the assembler or the GPU.
pub fn pair(of: &Measurable, target: Target, effort: Effort, gpu: Runner<'_>) -> Result<PairResult, String> {
    let mut places = Vec::new();
    for around in effort.around {
        places.push(in_surroundings(of, target, *around, effort.repeats, gpu)?);
    }
    let pair = &of.pair;
    Ok(PairResult {
        instructions: pair.text(target),
        asked: pair.asked,
        needed: pair.most.1,
        needed_by: pair.most.0.to_owned(),
        measured: places.iter().filter_map(|place| place.measured).max(),
        unstable: places.iter().any(|place| place.unstable),
        places,
        waits: Vec::new(),
    })
}

fn in_surroundings(
    of: &Measurable,
    target: Target,
    around: Surroundings,
    repeats: u32,
    gpu: Runner<'_>,
) -> Result<Place, String> {
    let Measurable { pair, bench } = of;
    let program = |states| {
        let body = pair.body(target, states, around);
        body.map(|body| bench.launch(&body, around)).transpose()
    };
    // Tries two wait states more than the strictest rule requires, so that a rule whose number is too small is noticed.
    least(pair.most.1 + 3, repeats, around, &program, gpu)
}

/// Runs programs with an increasing number of wait states between the two instructions, from 0 on, and compares them with `program(None)`,
/// in which the two are far apart. A program is `None` if it cannot have this number of wait states.
fn least(
    count: u8,
    repeats: u32,
    around: Surroundings,
    program: &dyn Fn(Option<u8>) -> Result<Option<Launch>, String>,
    gpu: Runner<'_>,
) -> Result<Place, String> {
    let settled = program(None)?.ok_or("it has no program in which the instructions are far apart")?;
    let right = once(gpu, &settled)?;
    let mut unstable = false;
    gpu(&settled, repeats, &mut |after| {
        unstable |= after != right;
        !unstable
    })?;
    let mut failing = Vec::new();
    for number in 0..count {
        let Some(launch) = program(Some(number))? else { continue };
        let mut failed = false;
        gpu(&launch, repeats, &mut |after| {
            failed |= after != right;
            !failed
        })?;
        if failed {
            failing.push(number);
        }
    }
    let measured = failing.last().map(|last| last + 1);
    Ok(Place { surroundings: around.name().to_owned(), runs: repeats, measured, failing, unstable })
}
