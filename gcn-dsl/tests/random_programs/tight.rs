//! Random programs with few registers, on the targets that have no AGPRs or have them as a separate file. The results
//! must still equal those of the interpreter.

use gcn_dsl::BuildOptions;
use gcn_dsl::kernel::Spills;
use gcn_dsl::lang::RegisterLimits;
use gcn_dsl::prelude::Target;
use gcn_test_support::env::{fuzz_count, fuzz_seed};

use super::data::Data;
use super::run::{self, Outcome};
use super::{generate, interpret, print};

const TARGETS: [Target; 3] = [Target::GFX900, Target::GFX906, Target::GFX908];
const COUNT: u64 = 90;

/// Few registers, LDS for spilling in some programs and, if the target has AGPRs, fewer than necessary.
fn options(seed: u64) -> BuildOptions {
    let registers = RegisterLimits {
        vgprs: Some(14 + 2 * (seed % 6) as u32),
        agprs: Some([0, 6, 64][seed as usize % 3]),
        lds_spill: Some([0, 2048, 16384][seed as usize / 3 % 3]),
        ..RegisterLimits::default()
    };
    BuildOptions { registers, ..BuildOptions::default() }
}

#[test]
fn random_programs_with_few_registers_give_what_the_interpreter_gives() {
    let (first, count) = (fuzz_seed(0), fuzz_count(COUNT));
    let mut total = [Spills::default(); 3];
    let (mut same, mut large) = (0, 0);
    for seed in first..first + count {
        let program = generate::program(seed);
        let data = Data::new(&program);
        let Ok(want) = interpret::run(&program, &data) else { continue };
        for (target, total) in TARGETS.into_iter().zip(&mut total) {
            let place = || format!("{target}\n{}", print::kernel(&program, &format!("program_{seed}")));
            let built = match run::build(&program, target, &options(seed)) {
                Ok(built) => built,
                // A single instruction may need more registers than the limit.
                Err(Outcome::TooLarge) => {
                    large += 1;
                    continue;
                }
                Err(Outcome::Missing) => continue,
                Err(other) => panic!("{other:?} on {}", place()),
            };
            let report = built.report();
            assert!(Some(report.vgprs) <= options(seed).registers.vgprs, "{report}");
            let got = run::simulate(&program, &built, &data).unwrap_or_else(|e| panic!("{e} on {}", place()));
            assert!(got.difference(&want).is_none(), "{:?} on {}", got.difference(&want), place());
            same += 1;
            let spills = built.spills();
            total.stores += spills.stores;
            total.lds_stores += spills.lds_stores;
            total.register_moves += spills.register_moves;
        }
    }
    println!("{same} the same, {large} too large; {total:?}");
    assert!(same > 2 * large, "{same} the same, {large} too large");
    let [gfx900, gfx906, gfx908] = total;
    for spills in total {
        assert!(count < COUNT || spills.stores > 0 && spills.lds_stores > 0, "{spills:?}");
    }
    assert_eq!((gfx900.register_moves, gfx906.register_moves), (0, 0));
    assert!(count < COUNT || gfx908.register_moves > 0, "{gfx908:?}");
}
