//! Finds the least number of wait states with which a program never fails.

use gcn_isa::Target;
use gcn_isa::hazards::{AnyRule as _, Rule, rules};

use super::pair::{self, Measurable};
use crate::bench::Surroundings;
use crate::launch::{Runner, once};
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

/// Measures the pairs of a rule.
pub fn rule(rule: &'static Rule, target: Target, seed: u64, effort: Effort, gpu: Runner<'_>) -> RuleResult {
    let mut result = RuleResult {
        rule: rule.id.to_owned(),
        title: rule.title.to_owned(),
        grade: rule.grade().name().to_owned(),
        verdict: Verdict::NotMeasured,
        pairs: Vec::new(),
        message: String::new(),
    };
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
    let body = |states| pair.body(target, states, around);
    let settled = bench.launch(&body(None).unwrap_or_default(), around)?;
    let right = once(gpu, &settled)?;
    let mut unstable = false;
    gpu(&settled, repeats, &mut |after| {
        unstable |= after != right;
        !unstable
    })?;
    let mut failing = Vec::new();
    // Two wait states more than the strictest rule requires, to detect a rule whose number is too low.
    for states in 0..=pair.most.1 + 2 {
        let Some(body) = body(Some(states)) else { continue };
        let launch = bench.launch(&body, around)?;
        let mut failed = false;
        gpu(&launch, repeats, &mut |after| {
            failed |= after != right;
            !failed
        })?;
        if failed {
            failing.push(states);
        }
    }
    let measured = failing.last().map(|last| last + 1);
    Ok(Place { surroundings: around.name().to_owned(), measured, failing, unstable })
}
