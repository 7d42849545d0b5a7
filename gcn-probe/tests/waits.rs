//! Checks the suite `waits` against the simulator in faithful mode: the measured wait states equal those of the rules, and a simulator with
//! another number is detected.

use gcn_isa::Target;
use gcn_isa::hazards::Config;
use gcn_probe::bench::Surroundings;
use gcn_probe::launch::Launch;
use gcn_probe::report::{PairResult, Verdict};
use gcn_probe::waits::measure::{self, Effort};
use gcn_probe::waits::{counter, pair};
use gcn_sim::Options;

mod llvm;

const ALONE: Effort = Effort { pairs: 1, repeats: 1, around: &[Surroundings::Alone] };
const EVERYWHERE: Effort = Effort { around: &Surroundings::ALL, ..ALONE };

/// Receives the result of each run, and returns whether another run is wanted.
type Seen<'a> = &'a mut dyn FnMut(&[u8]) -> bool;

/// A GPU that is simulated with these hazard rules.
fn with_rules(rules: Config) -> impl FnMut(&Launch, u32, Seen) -> Result<(), String> {
    move |launch, _, seen| {
        let options = Options { rules, ..Options::faithful() };
        seen(&launch.simulate(&options)?);
        Ok(())
    }
}

/// A pair of instructions with its results, for messages.
fn line(pair: &PairResult) -> String {
    let failing: Vec<_> = pair.places.iter().map(|place| (&place.surroundings, &place.failing)).collect();
    let PairResult { instructions, asked, needed, needed_by, measured, unstable, .. } = pair;
    format!(
        "{instructions}: asked {asked}, by {needed_by} {needed}, measured {measured:?} {unstable} {failing:?}"
    )
}

/// Measures each rule three times: on the simulator as it is; with only that rule enabled, when the rule's own number must be measured
/// whatever other rules require; and without that rule, which must be noticed unless another rule requires as many wait states.
fn closed_loop(target: Target, more: &[&str]) {
    let (mut wrong, mut missing) = (Vec::new(), 0);
    let (mut unmeasured, mut texts) = (Vec::new(), String::new());
    for rule in measure::tasks(target) {
        let pairs = match pair::pairs(rule, target, 1, 1) {
            Ok(pairs) => pairs,
            Err(why) => {
                unmeasured.push((rule.id, why));
                continue;
            }
        };
        for of in &pairs {
            let body = of.pair.body(target, None, Surroundings::Alone).unwrap();
            texts += &of.bench.text(&body, Surroundings::Alone, 1);
            let measured = |rules: Config, effort: Effort| {
                measure::pair(of, target, effort, &mut with_rules(rules)).unwrap()
            };
            let all = measured(Config::default(), EVERYWHERE);
            if all.verdict() != Verdict::Equal {
                wrong.push(format!("{}: {:?}: {}", rule.id, all.verdict(), line(&all)));
            }
            let alone = measured(pair::only(rule.id), ALONE);
            if alone.measured != Some(alone.asked) {
                wrong.push(format!("{} alone: {}", rule.id, line(&alone)));
            }
            if all.needed_by == rule.id {
                let without = measured(Config::default().without(rule.id).unwrap(), ALONE);
                let noticed = matches!(without.verdict(), Verdict::Less | Verdict::NotSeen);
                missing += usize::from(noticed);
                // Another rule with the same number hides the missing one.
                if !noticed && pair::others_ask(&of.pair, rule, target) != Some(all.needed) {
                    wrong.push(format!("without {}: {}", rule.id, line(&without)));
                }
            }
        }
    }
    llvm::assembles_the_same(&texts, target);
    assert!(wrong.is_empty(), "{target}: {} wrong\n{}", wrong.len(), wrong.join("\n"));
    // Enough rules were removed and noticed.
    assert!(missing >= 30, "{target}: {missing}");
    let mut expected: Vec<&str> = UNMEASURED.iter().chain(more).copied().collect();
    let mut found: Vec<&str> = unmeasured.iter().map(|(rule, _)| *rule).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected, "{target}: {unmeasured:?}");
}

/// Rules that no program can measure on any target: returns from traps, messages, replay, and rules that only LLVM's hazard recognizer has.
const UNMEASURED: [&str; 4] = ["cdna3.15", "cdna3.11", "llvm.10.overwritten", "xnack.clause"];

#[test]
fn numbers_are_those_of_the_rules_on_gfx908() {
    closed_loop(Target::GFX908, &["mi100.16.lds-direct", "llvm.gfx908.srcc-past"]);
}

#[test]
fn numbers_are_those_of_the_rules_on_gfx90a() {
    closed_loop(Target::GFX90A, &["llvm.cmpx-mfma", "llvm.dgemm-fma64"]);
}

#[test]
fn numbers_are_those_of_the_rules_on_gfx942() {
    closed_loop(Target::GFX942, &["llvm.cmpx-mfma", "llvm.dgemm-fma64", "llvm.20.lds-dma"]);
}

#[test]
fn numbers_are_those_of_the_rules_on_gfx950() {
    closed_loop(
        Target::GFX950,
        &["llvm.cmpx-permlane", "llvm.cmpx-mfma", "llvm.dgemm-fma64", "llvm.20.lds-dma"],
    );
}

/// Detects a simulator that needs one wait state more than the rules say, and one that needs fewer.
#[test]
fn a_number_that_is_one_off_is_noticed() {
    let rule = gcn_isa::hazards::rule("rocroller.18.mask").unwrap();
    let longer = gcn_isa::hazards::rule("llvm.18.mask").unwrap();
    let target = Target::GFX942;
    let shorter = pair::only(rule.id);
    let result = measure::rule(longer, target, 1, ALONE, &mut with_rules(shorter));
    let states = rule.states(target).map(|s| s.after(0));
    assert_eq!((result.verdict, result.pairs[0].measured), (Verdict::Less, states));
    let pairs = pair::pairs(longer, target, 1, 1).unwrap();
    let mut believed = pairs[0].clone();
    believed.pair.most.1 -= 1;
    let result = measure::pair(&believed, target, ALONE, &mut with_rules(Config::default())).unwrap();
    assert_eq!((result.verdict(), result.measured), (Verdict::More, Some(2)));
}

/// Checks the rules about counters and barriers that programs can measure on a target: on a simulator whose results arrive as late as
/// allowed, the measured waits are those that the checker requires.
fn counters(target: Target, expected: &[(&str, usize)]) {
    let (mut found, mut texts) = (Vec::new(), String::new());
    for rule in counter::tasks(target) {
        let result = measure::counter_rule(rule, target, 1, ALONE, &mut with_rules(Config::default()));
        if result.verdict == Verdict::NotMeasured {
            continue;
        }
        let pairs: Vec<String> = result.pairs.iter().map(line).collect();
        assert_eq!(
            result.verdict,
            Verdict::Equal,
            "{target} {}: {}\n{}",
            rule.id,
            result.message,
            pairs.join("\n")
        );
        found.push((rule.id, result.pairs.len()));
        for trial in counter::trials(rule, target, 1).unwrap() {
            let settled = trial.launch(None).unwrap();
            settled
                .simulate(&Options::strict())
                .unwrap_or_else(|error| panic!("{target} {}: {error}", trial.text));
            texts += &settled.text;
            // Hardware whose results are always available at once, and hardware that needs the next stronger wait.
            let mut never = |launch: &Launch, _: u32, seen: Seen| -> Result<(), String> {
                seen(&launch.simulate(&Options::default())?);
                Ok(())
            };
            let measured = measure::weakest(&trial, rule.id, 1, &mut never).unwrap();
            assert_eq!(
                (measured.verdict(), measured.measured),
                (Verdict::NotSeen, None),
                "{target} {}",
                trial.text
            );
            let mut believed = trial.clone();
            believed.needed -= 1;
            let measured =
                measure::weakest(&believed, rule.id, 1, &mut with_rules(Config::default())).unwrap();
            assert_eq!(measured.verdict(), Verdict::More, "{target} {}", trial.text);
        }
    }
    assert_eq!(found, expected, "{target}");
    llvm::assembles_the_same(&texts, target);
}

#[test]
fn counters_are_those_of_the_rules() {
    let [raw, waw] = [("waitcnt.raw", 3), ("waitcnt.waw", 3)];
    let barriers = [("barrier.lds", 1), ("barrier.lds-read", 1)];
    counters(Target::GFX908, &[raw, waw, ("waitcnt.lds-dma", 1), ("barrier.counters", 1)]);
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        counters(target, &[raw, waw, ("waitcnt.lds-dma", 1), barriers[0], barriers[1]]);
    }
    for target in [Target::GFX1030, Target::GFX1100, Target::GFX1201] {
        counters(target, &[raw, waw, barriers[0], barriers[1]]);
    }
}
