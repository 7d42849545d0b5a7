//! Compares the numbers of instructions that our code and clang's execute on RDNA, in waves of 32 lanes, which clang
//! prefers.
//!
//! On both sides, every instruction that a wave executes counts as one, including waits, delay hints, clauses and the
//! end of the program. A dual-issue instruction (VOPD) counts once.

use gcn_dsl::BuildOptions;
use gcn_dsl::prelude::*;
use gcn_isa::table::Class;
use gcn_isa::target::Subtarget;
use gcn_sim::Mode;

use crate::launch::{Counted, Launch};
use crate::pairs::{PAIRS, Pair};
use crate::table::{self, Row};

/// RDNA 2, 3 and 4.
const TARGETS: [Target; 3] = [Target::GFX1030, Target::GFX1100, Target::GFX1201];

/// The maximum geometric mean of our numbers divided by clang's.
const MEAN: f64 = 1.05;

/// Runs both kernels of a pair. Our code is checked against every rule, clang's only against those that LLVM knows.
fn run(pair: &Pair, target: Target, clangs: &[u8]) -> Result<[Counted; 2], String> {
    let options = BuildOptions { wave: Some(Subtarget::from(target).wave), ..BuildOptions::default() };
    let kernel = (pair.build_with)(target, &options).map_err(|error| format!("{}: {error}", pair.name))?;
    let ours = Launch { name: pair.name, object: kernel.code_object(), slices: true };
    let clangs = Launch { name: pair.name, object: clangs, slices: false };
    let [ours, clangs] = [ours.count(pair, Mode::Strict)?, clangs.count(pair, Mode::Functional)?];
    ours.equals(&clangs, pair.tolerance).map_err(|why| format!("{}: {why}", pair.name))?;
    Ok([ours, clangs])
}

/// True for instructions that compute nothing: waits and hints.
fn is_idle(class: Class) -> bool {
    matches!(class, Class::Waitcnt | Class::DelayAlu | Class::Nop | Class::SoppMisc)
}

/// The ratios of our numbers to clang's on a target: for all instructions, and for those that compute something.
fn ratios(pair: &Pair, target: Target, clangs: &[u8]) -> Result<[f64; 2], String> {
    let sides = run(pair, target, clangs).map_err(|why| format!("{target}: {why}"))?;
    if std::env::var_os("GCN_COMPARED").is_some() {
        let [ours, clangs] = &sides;
        println!("{} on {target}: {:?}\n    clang: {:?}", pair.name, ours.by_class, clangs.by_class);
    }
    let counts = sides.map(|side| {
        let idle: u64 =
            side.by_class.iter().filter(|(class, _)| is_idle(*class)).map(|(_, count)| count).sum();
        [side.instructions, side.instructions - idle]
    });
    Ok([0, 1].map(|which| counts[0][which] as f64 / counts[1][which] as f64))
}

#[test]
fn no_more_instructions_than_clangs() {
    let objects =
        TARGETS.into_iter().map(|target| crate::clang(target).map(|file| std::fs::read(file).unwrap()));
    let Some(clangs) = objects.collect::<Option<Vec<_>>>() else { return };
    let all = std::env::var_os("GCN_COMPARED").is_none();
    let mut wrong = Vec::new();
    // For all instructions, and for those that compute something.
    let mut rows = [Vec::new(), Vec::new()];
    for pair in PAIRS.iter().filter(|pair| crate::is_asked(pair)) {
        let measured = [0, 1, 2].map(|at| match ratios(pair, TARGETS[at], &clangs[at]) {
            Ok(ratios) => ratios,
            Err(why) => {
                wrong.push(why);
                [f64::NAN; 2]
            }
        });
        for (which, rows) in rows.iter_mut().enumerate() {
            rows.push(Row { name: pair.name, ratios: measured.map(|ratios| ratios[which]) });
        }
    }
    let means = rows.each_ref().map(|rows| table::means(rows));
    for (target, mean) in
        TARGETS.into_iter().zip(means[0]).filter(|(_, mean)| all && (mean.is_nan() || *mean > MEAN))
    {
        wrong.push(format!("{target}: {mean:.3} of clang's instructions are more than {MEAN}"));
    }
    let [mut rows, _] = rows;
    for (name, ratios) in ["geometric mean", "the same without waits and hints"].into_iter().zip(means) {
        rows.push(Row { name, ratios });
    }
    if !all {
        print!("{}", table::RDNA.text(&rows));
        rows.truncate(rows.len() - means.len());
    }
    wrong.extend(table::RDNA.held(&rows, all));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
