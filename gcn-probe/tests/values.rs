//! Tests the suite `values`: programs are legal and repeatable, and a GPU that computes something else is detected, and the instruction
//! named.

use gcn_isa::{Format, Target};
use gcn_probe::case::Case;
use gcn_probe::form::{self, Forms};
use gcn_probe::judge;
use gcn_probe::launch::KERNEL;
use gcn_probe::report::Status;
use gcn_probe::suite::{Computes, Values};
use gcn_sim::Options;
use gcn_sim::launch::Program;
use gcn_test_support::env::daily_sample;

mod llvm;

/// Every form has a program with default modifiers that the simulator runs in strict mode, in which a missing wait or an access outside the
/// buffer is an error.
#[test]
fn every_form_has_a_program_that_needs_no_wait() {
    for target in [Target::GFX90A, Target::GFX942] {
        let mut refused = Vec::new();
        for row in daily_sample(Forms::of(target).run, 2) {
            let case = match Case::of(row, target, 1, 0, false) {
                Ok(case) => case,
                Err(error) => {
                    refused.push(format!("{}: {error}", form::name(row)));
                    continue;
                }
            };
            let run = case.launch.simulate(&Options::strict());
            if let Err(error) = run {
                refused.push(format!("{}: {error}", case.instruction));
            }
        }
        assert_eq!(refused, Vec::<String>::new(), "{target}");
    }
}

/// LLVM's assembler accepts the programs, including their random modifiers, and produces the same code.
#[test]
fn llvm_assembles_the_same_code() {
    for target in [Target::GFX90A, Target::GFX942] {
        // One file contains all instructions under test; only the first is surrounded by its harness.
        let cases: Vec<Case> = daily_sample(Forms::of(target).run, 3)
            .into_iter()
            .flat_map(|row| (0..3).filter_map(|variant| Case::of(row, target, 1, variant, true).ok()))
            .collect();
        let mut text = cases[0].launch.text.clone();
        for case in &cases {
            text += &format!("{}\n", case.instruction);
        }
        llvm::assembles_the_same(&text, target);
    }
}

#[test]
fn a_seed_repeats_a_program_and_another_does_not() {
    let forms = Forms::of(Target::GFX942).run;
    let row = forms.iter().find(|row| row.format == Format::Vop3a).unwrap();
    let case = |seed| Case::of(row, Target::GFX942, seed, 1, true).unwrap();
    assert_eq!((case(1).launch.text, case(1).launch.input), (case(1).launch.text, case(1).launch.input));
    assert_ne!(case(1).launch.input, case(2).launch.input);
}

/// Detects a GPU that rounds the f16 results of mixed-precision multiply-add only once: exactly those instructions differ.
#[test]
fn a_gpu_that_rounds_otherwise_is_found() {
    let target = Target::GFX942;
    let mut found = Vec::new();
    for row in Forms::of(target).run.into_iter().filter(|row| row.format == Format::Vop3p) {
        let [long, _] = <Values as Computes>::VARIANTS;
        let result = judge::form(row, target, 1, long, &mut |launch, _, seen| {
            let program =
                Program::load(&launch.code_object, Some(KERNEL)).unwrap().with_mix_rounded_twice(false);
            seen(&launch.simulate_as(&program, &Options::default())?);
            Ok(())
        });
        if result.status != Status::Equal {
            found.push((result.form, row.is_mixed_precision()));
        }
    }
    assert!(!found.is_empty() && found.iter().all(|(_, mixed)| *mixed), "{found:?}");
}

/// A single wrong bit in a register, LDS or memory is found, and its position is reported.
#[test]
fn a_wrong_bit_is_named() {
    let target = Target::GFX90A;
    let forms = Forms::of(target).run;
    let row = forms.iter().find(|row| row.is_ds()).unwrap();
    let places = [
        (0x5000 + 256 * 3 + 4 * 5, "v11 of lane 5"),
        (0x8000 + 4 * 7, "s23"),
        (0x8000 + 4 * 36, "scc"),
        (0x9000 + 12, "LDS byte 12"),
        (0x4000 + 64 * 9 + 8, "byte 8 of lane 9's memory"),
    ];
    for (offset, place) in places {
        let result = judge::form(row, target, 1, 1, &mut |launch, _, seen| {
            let mut after = launch.simulate(&Options::default())?;
            after[offset] ^= 1;
            seen(&after);
            Ok(())
        });
        assert_eq!((result.status, result.first.unwrap().place.as_str()), (Status::Differs, place));
    }
}
