//! Random programs by csmith, compiled by clang for this machine and for the targets. `gcn check` must have no finding of grade `certain`,
//! and the simulator must compute the same result as this machine. The test is skipped with a message if csmith or clang 22 is not
//! installed.
//!
//! `GCN_CSMITH=0,200 cargo test --release -p gcn-sim-tests --test it csmith -- --nocapture` runs the programs with these seeds instead of
//! the usual few, each at every optimisation level for every target, or only for targets whose name contains `GCN_CSMITH_TARGET`. Programs
//! that run for too long are skipped, and counted.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use gcn_emit::code::Unit;
use gcn_emit::object::read_code_object;
use gcn_isa::check;
use gcn_isa::hazards::Grade;
use gcn_sim::Options;
use gcn_sim::launch::{Buffer, Element, Program, Spec};
use gcn_test_support::{llvm::tool, skipped};

use super::random_c::{Folder, TARGET, TARGETS, asked, compile};

const HEADER: &str = include_str!("../data/csmith.h");
const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];
/// The maximum number of instructions of a run.
const MOST: u64 = 20_000_000;

/// Programs that clang 22 compiles wrongly, each with the finding in docs/findings.md that describes the error.
const MISCOMPILED: [(u64, &str, &[&str], &str); 4] = [
    (156, "-O0", &["gfx900", "gfx906", "gfx908", "gfx90a"], "C6"),
    (40, "-O1", &["gfx1201.w64"], "R5"),
    (79, "-O2", &["gfx1201", "gfx1201.w64"], "R5"),
    (79, "-O3", &["gfx1201", "gfx1201.w64"], "R5"),
];

/// Rules that code from clang 22 violates at function calls, each with the finding in docs/findings.md that describes the error.
const BROKEN_AT_CALLS: [(&str, &str); 1] = [("rdna3.mask-write", "R3")];

/// The finding that describes why this program is miscompiled; `None` if there is none.
fn miscompiled(seed: u64, level: &str, target: &str) -> Option<&'static str> {
    let known = MISCOMPILED.iter().find(|m| m.0 == seed && m.1 == level && m.2.contains(&target));
    known.map(|m| m.3)
}

/// RDNA targets with each wave size, and clang's options for them.
const RDNA: [(&str, &[&str]); 8] = [
    ("gfx1030", &["-mcpu=gfx1030"]),
    ("gfx1030.w64", &["-mcpu=gfx1030", "-mwavefrontsize64"]),
    ("gfx1100", &["-mcpu=gfx1100"]),
    ("gfx1100.w64", &["-mcpu=gfx1100", "-mwavefrontsize64"]),
    ("gfx1151", &["-mcpu=gfx1151"]),
    ("gfx1151.w64", &["-mcpu=gfx1151", "-mwavefrontsize64"]),
    ("gfx1201", &["-mcpu=gfx1201"]),
    ("gfx1201.w64", &["-mcpu=gfx1201", "-mwavefrontsize64"]),
];

/// Every target with clang's options for it.
fn targets() -> impl Iterator<Item = (&'static str, Vec<String>)> {
    let vega = TARGETS.into_iter().map(|target| (target, vec![format!("-mcpu={target}")]));
    let rdna = RDNA.into_iter().map(|(name, told)| (name, told.iter().map(|t| (*t).to_owned()).collect()));
    vega.chain(rdna)
}

/// The outcome of a program at one level for one target.
enum Outcome {
    Right,
    TooLong,
    /// The result is wrong, and [`MISCOMPILED`] gives the reason.
    Miscompiled,
    Wrong(String),
}

/// Generates the program with this seed; false if csmith fails.
fn generated(seed: u64, to: &Path) -> bool {
    let mut csmith = Command::new("csmith");
    // csmith leaves a file in its working directory. The program's `main` has no arguments, because the simulator would have to provide
    // them.
    csmith.current_dir(to.parent().expect("a folder"));
    csmith.args(["--seed", &seed.to_string(), "--no-argc", "--output"]).arg(to);
    csmith.output().is_ok_and(|o| o.status.success())
}

/// The output of the program on this machine; `None` if it takes more than five seconds.
fn on_host(program: &Path) -> Option<u64> {
    let output = Command::new(program).output().expect("it starts");
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().parse().unwrap())
}

fn certain_finding(object: &[u8]) -> Option<String> {
    let unit = Unit::of_object(&read_code_object(object).unwrap()).unwrap();
    let reports = unit.sections.iter().map(|code| check::check(&code.program));
    let mut findings = reports.flat_map(|r| r.findings).filter(|f| f.grade == Grade::Certain);
    findings.find(|f| BROKEN_AT_CALLS.iter().all(|known| known.0 != f.rule)).map(|f| f.message())
}

fn judged(object: &[u8], expected: u64) -> Outcome {
    if let Some(finding) = certain_finding(object) {
        return Outcome::Wrong(finding);
    }
    let spec = Spec { rest_zero: true, ..Spec::new([1, 1, 1], [1, 1, 1]) };
    let spec = spec.next(Buffer::zeros(Element::U64, 1).shown());
    let program = Program::load(object, None).unwrap();
    let mut launch = program.prepare(&spec, ".".as_ref()).unwrap();
    match launch.run(&Options { max_instructions: MOST, ..Options::default() }) {
        Ok(_) => {}
        Err(e) if e.to_string().contains(&MOST.to_string()) => return Outcome::TooLong,
        Err(e) => return Outcome::Wrong(e.to_string()),
    }
    let found = u64::from_le_bytes(launch.buffer_at(0).unwrap().bytes.try_into().unwrap());
    if found == expected {
        Outcome::Right
    } else {
        Outcome::Wrong(format!("{found:#x} instead of {expected:#x}"))
    }
}

/// The levels and targets for a program: all combinations, or a few that include each level once.
fn builds(seed: u64, all: bool) -> Vec<(&'static str, &'static str, Vec<String>)> {
    let only = std::env::var("GCN_CSMITH_TARGET").unwrap_or_default();
    let family = |name: &str| RDNA.iter().any(|row| row.0 == name);
    let each = |level: usize| {
        let place = |name: &str, of: &[&str]| of.iter().position(|n| *n == name).unwrap_or(0);
        let chosen = move |name: &str| {
            let turn = |of: &[&str]| (seed as usize + level) % of.len() == place(name, of);
            all || if family(name) { turn(&RDNA.map(|row| row.0)) } else { turn(&TARGETS) }
        };
        let named = targets().filter(|(name, _)| name.contains(&only));
        named.filter(move |(name, _)| chosen(name)).map(move |(name, told)| (LEVELS[level], name, told))
    };
    (0..LEVELS.len()).flat_map(each).collect()
}

/// Runs one program. `None` if csmith fails, or the program takes too long on this machine.
fn run(seed: u64, all: bool) -> Option<Vec<(String, Outcome)>> {
    let folder = Folder::new("csmith", seed);
    let file = |name: &str| folder.file(name);
    let source = file("program.c");
    std::fs::write(file("csmith.h"), HEADER).unwrap();
    if !generated(seed, &source) {
        return None;
    }
    compile(&source, &file("host"), &["-O1"]);
    let expected = on_host(&file("host"))?;
    let build = |(level, target, told): (&str, &str, Vec<String>)| {
        let object = file(&format!("{target}{level}"));
        let told: Vec<&str> = told.iter().map(String::as_str).collect();
        compile(&source, &object, &[&TARGET[..], &told, &[level]].concat());
        let outcome =
            match (judged(&std::fs::read(&object).unwrap(), expected), miscompiled(seed, level, target)) {
                (Outcome::Wrong(_), Some(_)) => Outcome::Miscompiled,
                (Outcome::Right, Some(finding)) => {
                    Outcome::Wrong(format!("right, though finding {finding} says otherwise"))
                }
                (outcome, _) => outcome,
            };
        (format!("csmith {seed}, {target} {level}"), outcome)
    };
    Some(builds(seed, all).into_iter().map(build).collect())
}

/// The totals over `seeds`: the number of right results, the number of programs that take too long, and descriptions of wrong results.
fn tally(seeds: std::ops::Range<u64>, all: bool) -> (usize, usize, Vec<String>) {
    let next = Mutex::new(seeds);
    let result = Mutex::new((0, 0, Vec::new()));
    let work = || {
        while let Some(seed) = { next.lock().unwrap().next() } {
            let outcomes = run(seed, all);
            let mut result = result.lock().unwrap();
            result.1 += usize::from(outcomes.is_none());
            for (name, outcome) in outcomes.into_iter().flatten() {
                match outcome {
                    Outcome::Right => result.0 += 1,
                    Outcome::TooLong => result.1 += 1,
                    Outcome::Miscompiled => {}
                    Outcome::Wrong(what) => result.2.push(format!("{name}: {what}")),
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    result.into_inner().unwrap()
}

#[test]
fn programs_by_csmith_check_clean_and_compute_what_this_machine_does() {
    if tool("clang").is_none() {
        return;
    }
    let (folder, mut csmith) = (Folder::new("csmith-version", 0), Command::new("csmith"));
    if csmith.arg("--version").current_dir(folder.file("")).output().is_err() {
        skipped("`csmith` is not in PATH", "install csmith (Debian and Ubuntu: apt-get install csmith)");
        return;
    }
    let asked = asked("GCN_CSMITH");
    let all = asked.is_some();
    let (right, too_long, mut wrong) = tally(asked.unwrap_or(FEW), all);
    wrong.sort();
    println!("{right} right, {too_long} too long, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), right + wrong.len(), wrong.join("\n"));
    assert!(right > 0);
}

/// Seeds of small programs.
const FEW: std::ops::Range<u64> = 5..7;
