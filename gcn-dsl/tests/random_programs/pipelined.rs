//! Random programs in which every loop is pipelined that can be. Their results must still equal those of the
//! interpreter.

use gcn_dsl::BuildCause;
use gcn_dsl::prelude::{Kernel, Target};
use gcn_dsl::{BuildOptions, WaveSize};
use gcn_test_support::env::{fuzz_count, fuzz_seed};

use super::ast::{Program, Stmt};
use super::run::{self, Outcome, Place};
use super::trace::Generated;
use super::{generate, typing};

/// The number of programs, and the minimum number of pipelined loops among them.
const COUNT: u64 = 15;
const LEAST_LOOPS: usize = 15;

/// Sets the numbers of stages of the loops, by the index of the loop in the text; `None` leaves a loop as it is.
fn with_stages(program: &Program, stages: &[Option<u8>]) -> Program {
    fn visit(body: &mut [Stmt], stages: &mut std::slice::Iter<'_, Option<u8>>) {
        for stmt in body {
            if let Stmt::For { range, .. } = stmt {
                range.stages = stages.next().copied().flatten();
            }
            stmt.bodies_mut().into_iter().for_each(|inner| visit(inner, stages));
        }
    }
    let mut program = program.clone();
    visit(&mut program.body, &mut stages.iter());
    program
}

/// For each `for` in the text: true if nothing leaves it early, which the macro would reject in a pipelined loop.
fn loops(program: &Program) -> Vec<bool> {
    let mut found = Vec::new();
    program.each(&mut |stmt| {
        if let Stmt::For { body, .. } = stmt {
            found.push(!body.iter().any(|s| s.leaves(0)));
        }
    });
    found
}

/// The number of loops of the program that are pipelined when it is built for this place.
fn pipelined(program: &Program, (target, wave): Place) -> usize {
    let options = BuildOptions { wave: Some(wave), ..BuildOptions::default() };
    match Generated(program).build_with(target, &options) {
        Ok(built) => built.pipelines().len(),
        Err(e) if matches!(e.cause, BuildCause::Pipeline(_)) => 0,
        // Another error, which the run reports.
        Err(_) => 1,
    }
}

/// The program with `#[pipeline]` on each loop in which a load can be moved ahead at all of these places, and the number
/// of these loops. A shuffle goes through LDS at some places, where what depends on it then stays in its trip.
fn transformed(seed: u64, program: &Program, places: &[Place]) -> (Program, usize) {
    let candidates = loops(program);
    let stages = |i: usize| 2 + ((seed as usize + i) % 3) as u8;
    let alone = |i: usize| {
        let only: Vec<Option<u8>> = (0..candidates.len()).map(|k| (k == i).then(|| stages(i))).collect();
        let with_only = with_stages(program, &only);
        places.iter().all(|place| pipelined(&with_only, *place) > 0)
    };
    let chosen: Vec<Option<u8>> =
        candidates.iter().enumerate().map(|(i, free)| (*free && alone(i)).then(|| stages(i))).collect();
    let count = chosen.iter().flatten().count();
    (with_stages(program, &chosen), count)
}

#[test]
fn pipelined_programs_give_what_the_interpreter_gives() {
    let (first, count) = (fuzz_seed(0), fuzz_count(COUNT));
    let (mut same, mut loops, mut seed) = (0, 0, first);
    while same < count && seed < first + 20 * count {
        // One place of RDNA, each program another one.
        let rdna = run::rdna();
        let radeon = rdna[seed as usize % rdna.len()];
        let chosen = [(Target::GFX942, WaveSize::W64), radeon];
        let (program, pipelined) = transformed(seed, &generate::program(seed), &chosen);
        assert!(typing::is_valid(&program));
        if pipelined > 0 {
            let places = [run::gfx9(), vec![radeon]].concat();
            match run::check(&program, &places) {
                Outcome::Same => (same, loops) = (same + 1, loops + pipelined),
                Outcome::Failure(failure) => {
                    eprintln!("program {seed} fails: {failure}");
                    panic!("{}", run::report(seed, &program, &failure));
                }
                Outcome::Unspecified(_) | Outcome::TooLarge | Outcome::Missing => {}
            }
        }
        seed += 1;
    }
    println!("{same} programs with {loops} pipelined loops, of {} looked at", seed - first);
    assert!(
        same >= count.min(1) && (count < COUNT || loops >= LEAST_LOOPS),
        "only {loops} loops in {same} programs"
    );
}
