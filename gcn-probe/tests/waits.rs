//! Checks the suite `waits` against the simulator in faithful mode: the measured wait states equal those of the rules, and a simulator with
//! another number is detected.

use std::collections::BTreeMap;

use gcn_isa::Target;
use gcn_isa::hazards::{Config, RuleSet, remedy};
use gcn_isa::target::Subtarget;
use gcn_probe::bench::Surroundings;
use gcn_probe::launch::Launch;
use gcn_probe::report::{PairResult, Verdict};
use gcn_probe::waits::measure::{self, Effort};
use gcn_probe::waits::{counter, pair, sequence};
use gcn_sim::Options;
use gcn_test_support::env::{daily_seed, fuzz_step};

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

/// Each rule is measured three times: as the simulator is, with that rule alone, whose number must come out whatever others ask for, and
/// without it, which must be noticed unless another asks for as much. In all surroundings one of four rules: by `which` another one on each
/// of four targets, whose rules are much the same. Each day measures other pairs: any that the suite chooses must show its rule.
fn closed_loop(target: Target, which: u64, more: &[&str]) {
    let (mut wrong, mut missing) = (Vec::new(), 0);
    let (mut unmeasured, mut texts) = (Vec::new(), String::new());
    for (at, rule) in measure::tasks(target).into_iter().enumerate() {
        let chosen = (at as u64 + which + daily_seed()).is_multiple_of(fuzz_step(4) as u64);
        let around = if chosen { EVERYWHERE } else { ALONE };
        let pairs = match pair::pairs(rule, target, daily_seed(), 1) {
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
            let all = measured(Config::default(), around);
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
    closed_loop(Target::GFX908, 0, &["mi100.16.lds-direct", "llvm.gfx908.srcc-past"]);
}

#[test]
fn numbers_are_those_of_the_rules_on_gfx90a() {
    closed_loop(Target::GFX90A, 1, &["llvm.cmpx-mfma", "llvm.dgemm-fma64"]);
}

#[test]
fn numbers_are_those_of_the_rules_on_gfx942() {
    closed_loop(Target::GFX942, 2, &["llvm.cmpx-mfma", "llvm.dgemm-fma64", "llvm.20.lds-dma"]);
}

#[test]
fn numbers_are_those_of_the_rules_on_gfx950() {
    closed_loop(
        Target::GFX950,
        3,
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

/// Checks the rules about counters and barriers for which programs can be written on a target: on a simulator whose results come as late as
/// possible, the measured waits must be those that the checker requires. `expected` has the rules with their numbers of programs, and
/// `unseen` the rules whose effect the simulator does not have.
fn counters(target: Target, expected: &[(&str, usize)], unseen: &[&str]) {
    let (mut found, mut texts, mut never_failed) = (Vec::new(), String::new(), Vec::new());
    for rule in counter::tasks(target) {
        let result = measure::counter_rule(rule, target, 1, ALONE, &mut with_rules(Config::default()));
        if result.verdict == Verdict::NotMeasured {
            // The message must give a reason that is specific to the rule.
            assert!(!result.message.is_empty() && !result.message.contains("alone"), "{target} {}", rule.id);
            continue;
        }
        if result.verdict == Verdict::NotSeen {
            never_failed.push(rule.id);
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
    assert_eq!((&found[..], &never_failed[..]), (expected, unseen), "{target}");
    llvm::assembles_the_same(&texts, target);
}

#[test]
fn counters_are_those_of_the_rules() {
    let [raw, waw] = [("waitcnt.raw", 3), ("waitcnt.waw", 3)];
    let barriers = [("barrier.lds", 1), ("barrier.lds-read", 1)];
    let (flat, dma) = (("waitcnt.flat-waw", 1), ("waitcnt.lds-dma", 1));
    let (shift, vccz) = ("llvm.shift64", "llvm.vccz-half");
    let [writes, reads] = barriers;
    let all = [raw, waw, flat, dma, writes, reads, ("barrier.lds-dma", 1)];
    counters(Target::GFX908, &[raw, waw, flat, dma, ("barrier.counters", 1)], &[vccz]);
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        counters(target, &all, &[shift, vccz]);
    }
    counters(Target::GFX1030, &[raw, waw, dma, writes, reads, all[6]], &[]);
    for target in [Target::GFX1100, Target::GFX1201] {
        counters(target, &[raw, waw, writes, reads], &["waitcnt.half"]);
    }
}

/// Checks the rules whose remedy is an instruction or a field. The simulator has none of these hazards, so nothing is seen on it. On
/// hardware that executes the last instruction first unless the remedy is there, the measurement must find the remedy. `without` are the
/// rules that no program can show.
fn remedies(target: Target, without: &[&str]) {
    let (mut found, mut broken) = (Vec::new(), Vec::new());
    let mut texts: BTreeMap<u32, String> = BTreeMap::new();
    for rule in remedy::rules(target) {
        let result = measure::remedy_rule(rule, target, 1, ALONE, &mut with_rules(Config::default()));
        if result.verdict == Verdict::NotMeasured {
            assert_ne!(result.message, "", "{target} {}", rule.id);
            found.push((rule.id, result.message));
            continue;
        }
        for pair in result.pairs.iter().filter(|pair| pair.verdict() != Verdict::NotSeen) {
            broken.push(format!("{target} {}: {}", rule.id, line(pair)));
        }
        for trial in sequence::trials(rule, target, 1).unwrap() {
            let [settled, without] = [None, Some(0)].map(|wait| trial.launch(wait).unwrap());
            // Some rules require more than others for the same instructions.
            let rules = RuleSet::Certain.into();
            let ran = settled.simulate(&Options { rules, ..Options::strict() });
            if let Err(error) = ran {
                broken.push(format!("{target} {}: {}: {error}", rule.id, trial.text));
            }
            *texts.entry(settled.lanes).or_default() += &settled.text;
            let mut early = |launch: &Launch, _: u32, seen: Seen| -> Result<(), String> {
                let wrong = launch.text == without.text;
                let launch = if wrong { trial.swapped()? } else { launch.clone() };
                seen(&launch.simulate(&Options::default())?);
                Ok(())
            };
            let measured = measure::weakest(&trial, rule.id, 1, &mut early).unwrap();
            assert_eq!((measured.verdict(), measured.measured), (Verdict::Equal, Some(1)), "{}", trial.text);
        }
    }
    let names: Vec<&str> = found.iter().map(|(rule, _)| *rule).collect();
    assert_eq!((&names[..], &broken[..]), (without, &[][..]), "{target}: {found:#?}");
    for wave in target.wave_sizes() {
        let on = Subtarget::new(target, *wave).unwrap();
        texts.get(&wave.lanes()).inspect(|text| llvm::assembles_the_same(text, on));
    }
}

#[test]
fn remedies_are_measured_on_rdna_2_and_3() {
    remedies(Target::GFX1030, &["llvm.atomic-denorm-mode"]);
    remedies(
        Target::GFX1100,
        &[
            "llvm.mask-write.at-once",
            "llvm.mask-write.valu.at-once",
            "llvm.mask-write.valu-vcc.at-once",
            "llvm.lds-direct-trans",
            "mesa.dealloc-vgprs",
        ],
    );
}

#[test]
fn remedies_are_measured_on_rdna_4() {
    remedies(
        Target::GFX1201,
        &[
            "rdna.read-sgpr.leave",
            "rdna.read-vcc.leave",
            "llvm.read-sgpr.leave",
            "llvm.read-vcc.leave",
            "rdna.read-sgpr.valu-result.leave",
            "rdna.read-vcc.valu-result.leave",
            "llvm.lds-direct-trans",
            "mesa.dealloc-vgprs",
        ],
    );
}
