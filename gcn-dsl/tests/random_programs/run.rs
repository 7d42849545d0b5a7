//! Runs one program on all targets.

use gcn_dsl::prelude::{Kernel, Target};
use gcn_dsl::scalar::Elem;
use gcn_dsl::{BuildCause, BuildOptions, BuiltKernel};
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_sim::Memory;
use gcn_test_support::env::{fuzz_count, fuzz_seed, is_set, setting};

use super::ast::{NUMBERS, POINTED, Program, SHARED, bit};
use super::bits::Unspecified;
use super::data::{Data, Results};
use super::trace::{self, Generated, Given};
use super::{generate, interpret, print, reduce, typing};

pub const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

/// One target for each instruction set of RDNA that has instructions of its own.
const RDNA: [Target; 6] =
    [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201, Target::GFX1250];

/// A target and a wave size.
pub type Place = (Target, WaveSize);

/// The targets of GFX9.
pub fn gfx9() -> Vec<Place> {
    TARGETS.map(|target| (target, WaveSize::W64)).to_vec()
}

/// The targets of RDNA, each with every wave size that it has.
pub fn rdna() -> Vec<Place> {
    let places = RDNA.into_iter().flat_map(|target| WaveSize::ALL.map(|wave| (target, wave)));
    places.filter(|(target, wave)| Subtarget::new(*target, *wave).is_some()).collect()
}

/// Those of the places that `GCN_FUZZ_TARGET` selects: a target, or a target and the lanes of its waves, as in
/// `gfx1100/32`. By default all.
fn asked(places: Vec<Place>) -> Vec<Place> {
    let asked = setting("GCN_FUZZ_TARGET", String::new());
    let is_asked = |(target, wave): &Place| {
        asked.is_empty() || asked == target.name() || asked == format!("{target}/{}", wave.lanes())
    };
    places.into_iter().filter(is_asked).collect()
}

/// The result of a test with one program.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    Same,
    /// The language leaves the meaning of the program open.
    Unspecified(Unspecified),
    /// The program needs more registers than the target has.
    TooLarge,
    /// The program uses an operation that has types but no instructions yet.
    Missing,
    Failure(Failure),
}

#[derive(Debug, PartialEq)]
pub struct Failure {
    pub kind: Kind,
    pub place: Place,
    pub what: String,
}

/// The kinds of failure. Reduction keeps the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Build,
    Launch,
    Result,
    Panic,
}

/// The maximum number of instructions of a wave: more than a program needs that the interpreter accepts, so an endless
/// loop is a failure.
const MOST_INSTRUCTIONS: u64 = 3_000_000;

fn on(program: &Program, (target, wave): Place, data: &Data) -> Result<Results, Outcome> {
    let built = build(program, target, &BuildOptions { wave: Some(wave), ..BuildOptions::default() })?;
    simulate(program, &built, data).map_err(|what| failure(Kind::Launch, (target, wave), what))
}

fn failure(kind: Kind, place: Place, what: String) -> Outcome {
    Outcome::Failure(Failure { kind, place, what })
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { kind, place: (target, wave), what } = self;
        write!(f, "{kind:?} on {target} in waves of {}: {what}", wave.lanes())
    }
}

pub fn build(program: &Program, target: Target, options: &BuildOptions) -> Result<BuiltKernel, Outcome> {
    Generated(program).build_with(target, options).map(BuiltKernel::into_any).map_err(|e| match e.cause {
        BuildCause::Registers(_) => Outcome::TooLarge,
        BuildCause::Lower(ref error) if error.to_string().contains("not available") => Outcome::Missing,
        _ => failure(Kind::Build, (target, options.wave.unwrap_or(WaveSize::W64)), e.to_string()),
    })
}

/// As `Device::simulator` does it, but with a maximum number of instructions.
pub fn simulate(program: &Program, built: &BuiltKernel, data: &Data) -> Result<Results, String> {
    simulate_on(program, built, data, |machine| machine)
}

/// As [`simulate`], on a machine that is prepared first.
pub fn simulate_on(
    program: &Program,
    built: &BuiltKernel,
    data: &Data,
    prepare: impl FnOnce(gcn_sim::Machine) -> gcn_sim::Machine,
) -> Result<Results, String> {
    let (mut memory, used, mut results) = (Memory::new(), program.used(), data.results.clone());
    let mut put = |values: &[u64], elem: Elem| {
        let bytes = trace::bytes(elem, values);
        let address = memory.alloc(bytes.len());
        memory.write(address, &bytes).map(|()| address).map_err(|e| e.to_string())
    };
    let (mut addresses, mut written) = (Vec::new(), Vec::new());
    for elem in NUMBERS {
        let i = elem as usize;
        if used.inputs & bit(elem) != 0 {
            addresses.push(put(&data.inputs[i], elem)?);
        }
        if used.outputs & bit(elem) != 0 {
            addresses.push(put(&results.outputs[i], elem)?);
            written.push((addresses[addresses.len() - 1], elem, true));
        }
        if used.shared & bit(elem) != 0 {
            let k = SHARED.iter().position(|e| *e == elem).ok_or("no atomics")?;
            addresses.push(put(&results.shared[k], elem)?);
            written.push((addresses[addresses.len() - 1], elem, false));
        }
    }
    let mut arguments = data.clone();
    for (k, elem) in POINTED.into_iter().enumerate() {
        arguments.pointed_at[k] = put(&data.pointed[k], elem)?;
    }
    let kernarg =
        Generated(program).kernarg(Given(&mut arguments, used), &addresses).map_err(|e| e.to_string())?;
    let options = gcn_sim::Options {
        mode: gcn_sim::Mode::Strict,
        max_instructions: MOST_INSTRUCTIONS,
        parallel: false,
        ..gcn_sim::Options::default()
    };
    let state = gcn_sim::KernelState::from_descriptor(&built.descriptor(), built.target());
    let state = state.map_err(|e| e.to_string())?;
    let machine = gcn_sim::Machine::new(built.target(), built.code(), state).map_err(|e| e.to_string())?;
    let image = built.image();
    let address = memory.alloc(image.len());
    memory.write(address, &image).map_err(|e| e.to_string())?;
    let machine = prepare(machine.at(address));
    let grid = [program.groups, 1, 1];
    gcn_sim::run(&machine, &mut memory, grid, [program.workgroup, 1, 1], &kernarg, &options)
        .map_err(|e| e.to_string())?;
    for (address, elem, output) in written {
        let into = match output {
            true => &mut results.outputs[elem as usize],
            false => &mut results.shared[SHARED.iter().position(|e| *e == elem).ok_or("no atomics")?],
        };
        let size = elem.bytes() as usize;
        let bytes = memory.read(address, into.len() * size).map_err(|e| e.to_string())?;
        for (value, chunk) in into.iter_mut().zip(bytes.chunks_exact(size)) {
            *value = chunk.iter().rev().fold(0, |v, byte| v << 8 | u64::from(*byte));
        }
    }
    Ok(results)
}

/// Runs the program at each place, and in the interpreter, and compares the results.
pub fn check(program: &Program, places: &[Place]) -> Outcome {
    let data = Data::new(program);
    let wants = WaveSize::ALL.map(|wave| {
        let is_asked = places.iter().any(|place| place.1 == wave);
        is_asked.then(|| interpret::run_in(wave, program, &data))
    });
    if let Some(Err(why)) = wants.iter().flatten().find(|want| want.is_err()) {
        return Outcome::Unspecified(*why);
    }
    let (mut large, mut missing) = (false, false);
    for &place in places {
        let run = || on(program, place, &data);
        let got = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
            Ok(Ok(got)) => got,
            Ok(Err(Outcome::TooLarge)) => {
                large = true;
                continue;
            }
            Ok(Err(Outcome::Missing)) => {
                missing = true;
                continue;
            }
            Ok(Err(outcome)) => return outcome,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                return failure(Kind::Panic, place, text.unwrap_or_else(|| "a panic".to_owned()));
            }
        };
        let Some(Ok(want)) = &wants[usize::from(place.1 == WaveSize::W64)] else {
            unreachable!("interpreted above")
        };
        if let Some(what) = got.difference(want) {
            return failure(Kind::Result, place, what);
        }
    }
    match (large, missing) {
        (true, _) => Outcome::TooLarge,
        (_, true) => Outcome::Missing,
        _ => Outcome::Same,
    }
}

/// Reduces a failing program and describes the failure.
pub fn report(seed: u64, program: &Program, failure: &Failure) -> String {
    let small = reduce::reduce(
        program,
        |candidate| matches!(check(candidate, &[failure.place]), Outcome::Failure(f) if f.kind == failure.kind),
    );
    let what = match check(&small, &[failure.place]) {
        Outcome::Failure(f) => f.to_string(),
        other => format!("{other:?}"),
    };
    let mut source = print::kernel(&small, "reduced");
    if is_set("GCN_FUZZ_ASSEMBLY") {
        let (target, wave) = failure.place;
        let options = BuildOptions { wave: Some(wave), ..BuildOptions::default() };
        source += &build(&small, target, &options).map_or_else(
            |why| format!("{why:?}"),
            |built| built.assembly(gcn_dsl::prelude::Comments::Explain),
        );
    }
    format!("program {seed}, reduced from {} to {}: {what}\n{source}", program.size(), small.size())
}

/// Tests `count` programs at each of the places.
fn compared(places: &[Place], count: u64) {
    let first = fuzz_seed(0);
    let stop_at = setting("GCN_FUZZ_FAILURES", 1);
    let (mut same, mut large, mut missing) = (0, 0, 0);
    let mut open = std::collections::BTreeMap::<&str, u64>::new();
    let mut failures: Vec<String> = Vec::new();
    let (mut seed, mut statements) = (first, 0);
    while same < count && seed < first + 2 * count + 100 {
        let program = generate::program(seed);
        if is_set("GCN_FUZZ_PRINT") {
            println!("{}", print::kernel(&program, &format!("program_{seed}")));
        }
        assert!(
            typing::is_valid(&program),
            "program {seed} is not valid:\n{}",
            print::kernel(&program, "invalid")
        );
        match check(&program, places) {
            Outcome::Same => {
                same += 1;
                statements += program.size();
            }
            Outcome::Unspecified(Unspecified(why)) => *open.entry(why).or_default() += 1,
            Outcome::TooLarge => large += 1,
            Outcome::Missing => missing += 1,
            Outcome::Failure(failure) => {
                eprintln!("program {seed} fails: {failure}");
                let text = report(seed, &program, &failure);
                eprintln!("{text}");
                failures.push(text);
                if failures.len() >= stop_at {
                    break;
                }
            }
        }
        seed += 1;
    }
    println!(
        "{same} programs of {statements} parts the same at {} places; {large} too large, {missing} with operations that are missing, {open:?} unspecified",
        places.len()
    );
    assert!(failures.is_empty(), "{} programs fail; the first: {}", failures.len(), failures[0]);
    assert!(
        same >= count.min(1) && same * 2 >= count,
        "only {same} of {} programs mean something",
        seed - first
    );
}

#[test]
fn random_programs_give_what_the_interpreter_gives() {
    compared(&asked(gfx9()), fuzz_count(40));
}

#[test]
fn random_programs_give_it_on_rdna_in_both_waves() {
    compared(&asked(rdna()), fuzz_count(24));
}
