//! Checks the suite `clock` against the timed mode: the measured parameters equal those of the model's table, and a model with a changed
//! parameter is detected.
#![allow(missing_docs, reason = "a test")]

use std::collections::{BTreeMap, HashSet};

use gcn_isa::Target;
use gcn_probe::clock::result::Experiment;
use gcn_probe::clock::table::{Clock, Fit};
use gcn_probe::clock::{self, Task};
use gcn_probe::launch::Launch;
use gcn_sim::Options;
use gcn_sim::timed::{Config, Parameter, parameters};
use gcn_test_support::env::daily_sample;

mod llvm;

/// Receives the result of each run, and returns whether another run is wanted.
type Seen<'a> = &'a mut dyn FnMut(&[u8]) -> bool;

/// A GPU that is simulated with this timing configuration.
fn with(config: &Config) -> impl FnMut(&Launch, u32, Seen) -> Result<(), String> {
    move |launch, _, seen| {
        seen(&launch.simulate_timed(config)?);
        Ok(())
    }
}

fn measure(task: Task, target: Target, config: &Config) -> Experiment {
    clock::run(task, target, 1, &mut with(config))
}

/// Parameters that no program can measure on any target: they are properties of a kernel.
const UNSEEN: [&str; 2] = ["l2.reuse", "mall.reuse"];
/// Parameters of the table that the model does not use, so that changing them has no effect.
const UNUSED: [&str; 2] = ["cu.simds", "cu.scalar-units"];

/// Checks that every parameter outside `unseen` is measured as the table has it.
fn closed_loop(target: Target, unseen: &[&str]) {
    let config = Config::default();
    let experiments: Vec<_> =
        clock::tasks(target).into_iter().map(|task| measure(task, target, &config)).collect();
    let failures: Vec<_> = experiments.iter().filter(|e| !e.message.is_empty()).collect();
    assert!(failures.is_empty(), "{target}: {failures:#?}");
    let clock = Clock::new(target, experiments);
    let of = |fit| -> Vec<_> { clock.parameters.iter().filter(|p| p.fit == fit).collect() };
    let rest: Vec<_> =
        clock.parameters.iter().filter(|p| !matches!(p.fit, Fit::Equal | Fit::NotSeen)).collect();
    assert!(rest.is_empty(), "{target}: {rest:#?}");
    let mut expected: Vec<&str> = UNSEEN.iter().chain(unseen).copied().collect();
    expected.sort_unstable();
    let mut names: Vec<&str> = of(Fit::NotSeen).iter().map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, expected, "{target}");
    // Written as a table and read again, the parameters are the same.
    let mut again = Config::default();
    again.read(&clock.table(target, "a test"), target).unwrap();
    let measured = clock.parameters.iter().filter_map(|p| Some((p.name.clone(), p.measured.clone()?)));
    assert_eq!(again.overrides, measured.collect::<Vec<_>>());
}

/// Targets, each with the parameters that no program can measure on it in addition to [`UNSEEN`].
const TARGETS: [(Target, &[&str]); 8] = [
    (
        Target::GFX906,
        &[
            "mall.ways",
            "mall.bandwidth",
            "mall.latency",
            "valu.lanes",
            "message.latency",
            "matrix.pass",
            "issue.matrix-takes-valu",
            "issue.dgemm-takes-valu",
        ],
    ),
    (
        Target::GFX908,
        &[
            "mall.ways",
            "mall.bandwidth",
            "mall.latency",
            "valu.lanes",
            "message.latency",
            "issue.dgemm-takes-valu",
        ],
    ),
    (Target::GFX90A, &["mall.ways", "mall.bandwidth", "mall.latency", "valu.lanes", "message.latency"]),
    (Target::GFX942, &["valu.lanes", "message.latency"]),
    (Target::GFX950, &["valu.lanes", "message.latency"]),
    (Target::GFX1030, &["message.latency", "smem.store-latency"]),
    (Target::GFX1100, &["memtime.latency", "smem.store-latency"]),
    // RDNA 4 has no GL1 cache (`gl1.bytes` is 0).
    (
        Target::GFX1201,
        &["memtime.latency", "smem.store-latency", "device.cus-per-l2", "gl1.latency", "gl1.ways"],
    ),
];

/// Runs on all targets only in a full run, because the measurements take long.
#[test]
fn times_are_those_of_the_table() {
    for (target, unseen) in daily_sample(TARGETS, 3) {
        closed_loop(target, unseen);
    }
}

/// Another value for a parameter, far enough from the table's that the difference is measurable among instructions that issue in fixed
/// slots or compete with others.
fn off(target: Target, row: &Parameter) -> String {
    let rdna = target.has_workgroup_processors();
    let slot = if rdna { 1 } else { 4 };
    let Ok(value) = row.value.parse::<u64>() else {
        // Sets of lane groups.
        let quarters = "0-15;16-31;32-47;48-63";
        return if row.value == quarters { "0-31;32-63" } else { quarters }.to_owned();
    };
    let of = match (row.name.as_str(), row.unit) {
        ("instruction.ahead", _) => value - 1,
        ("valu.lanes" | "lds.banks", _) => value * 2,
        (_, "flag") => 1 - value,
        ("lds.arrays", _) => 1,
        ("l1.line" | "instruction.line", _) if value == 128 => 64,
        (name, _) if name.ends_with(".line") => value * 2,
        (_, "CUs") if row.name == "device.cus" => value * 3 / 4,
        (_, "bytes/cycle" | "lanes/cycle" | "ways" | "CUs") => value / 2,
        ("gl1.bytes" | "mall.bytes", _) if value == 0 => 64 << 20,
        (_, "bytes") => value * 5 / 4,
        ("lds.queue" | "vmem.queue", _) => value * 2,
        _ => (value + slot).max(value * 5 / 4).next_multiple_of(slot),
    };
    of.to_string()
}

/// Changes each measurable parameter alone, and checks that the experiment that measures it finds the new value. `part` names the
/// experiments; only a full run covers all of them.
fn planted(target: Target, part: &[&str], hidden: &[&str]) {
    let plain = Config::default();
    let (mut wrong, mut planted) = (Vec::new(), 0);
    for task in clock::tasks(target).into_iter().filter(|task| part.contains(&task.name)) {
        let own: HashSet<String> =
            measure(task, target, &plain).measured.into_iter().map(|m| m.name).collect();
        let is_planted = |row: &&Parameter| {
            let name = row.name.as_str();
            own.contains(name) && !UNUSED.contains(&name) && !hidden.contains(&name)
        };
        for row in daily_sample(parameters(target).iter().filter(is_planted), 6) {
            let value = off(target, row);
            let mut config = Config::default();
            config.set(&format!("{}={value}", row.name)).unwrap();
            let experiment = measure(task, target, &config);
            let message = experiment.message.clone();
            let clock = Clock::new(target, vec![experiment]);
            let found = clock.parameters.iter().find(|p| p.name == row.name).unwrap();
            let measured = found.measured.clone().unwrap_or_default();
            let near = match (measured.parse::<f64>(), value.parse::<f64>()) {
                (Ok(measured), Ok(value)) => (measured - value).abs() <= 0.02 * value,
                _ => measured == value,
            };
            planted += 1;
            if !near || found.fit == Fit::Equal {
                wrong.push(format!("{}: {} is {value}, measured {measured} {message}", row.name, row.value));
            }
        }
    }
    assert!(wrong.is_empty() && planted > 0, "{target}: {} of {planted}\n{}", wrong.len(), wrong.join("\n"));
}

/// The experiments, divided into parts that take about the same time.
const INSTRUCTIONS: &[&str] = &["vector", "matrix", "waits", "lds", "rates", "code lines", "scalar cache"];
const LANES: &[&str] = &["lds phases", "code"];
const CACHES: &[&str] = &["caches"];
const DEVICE: &[&str] = &["device"];

#[test]
fn a_fault_in_instructions_is_found() {
    planted(Target::GFX942, INSTRUCTIONS, &[]);
}

#[test]
fn a_fault_in_phases_or_code_is_found() {
    planted(Target::GFX942, LANES, &[]);
}

#[test]
fn a_fault_in_caches_is_found() {
    planted(Target::GFX942, CACHES, &[]);
}

#[test]
fn a_fault_in_the_device_is_found() {
    planted(Target::GFX942, DEVICE, &[]);
}

#[test]
fn a_fault_in_instructions_is_found_on_rdna() {
    planted(Target::GFX1100, INSTRUCTIONS, &[]);
}

/// Programs violate no rule, and LLVM assembles them to the same code.
#[test]
fn programs_are_legal() {
    for (target, _) in daily_sample(TARGETS, 3) {
        let mut seen = BTreeMap::new();
        for task in clock::tasks(target) {
            let name = task.name;
            let mut gpu = |launch: &Launch, _: u32, show: Seen| {
                show(&launch.simulate_timed(&Config::default())?);
                let usual = launch.lanes == target.wave_size();
                if usual && launch.workgroups == 1 && launch.room < 1 << 20 && launch.text.len() < 1 << 16 {
                    seen.entry(name).or_insert_with(|| launch.clone());
                }
                Ok(())
            };
            if !CACHES.contains(&name) && !DEVICE.contains(&name) {
                clock::run(task, target, 1, &mut gpu);
            }
        }
        assert!(seen.len() >= 5, "{target}: {:?}", seen.keys());
        for (name, launch) in seen {
            llvm::assembles_the_same(&launch.text, target);
            launch.simulate(&Options::strict()).unwrap_or_else(|error| panic!("{target} {name}: {error}"));
        }
    }
}

/// A clock that counts instructions instead of cycles is rejected.
#[test]
fn without_time_nothing_is_measured() {
    let mut gpu = |launch: &Launch, _: u32, seen: Seen| {
        seen(&launch.simulate(&Options::default())?);
        Ok(())
    };
    for task in clock::tasks(Target::GFX942) {
        let experiment = clock::run(task, Target::GFX942, 1, &mut gpu);
        assert!(experiment.measured.is_empty() && experiment.message.contains("--timed"), "{experiment:?}");
    }
}
