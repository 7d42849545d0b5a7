//! Tests the suite `values`: programs are legal and repeatable, and a GPU that computes something else is detected, and the instruction
//! named.

use gcn_isa::target::{Family, InstructionSet, Subtarget};
use gcn_isa::{Format, Target};
use gcn_probe::case::Case;
use gcn_probe::form::{Form, Forms};
use gcn_probe::judge;
use gcn_probe::launch::KERNEL;
use gcn_probe::report::Status;
use gcn_probe::suite::{Computes, Values};
use gcn_sim::Options;
use gcn_sim::launch::Program;
use gcn_test_support::env::{daily_sample, daily_seed};

mod llvm;

/// What the simulator says of an instruction that it has no semantics for, such as some of gfx1250.
const NOT_RUN: &str = "the simulator does not run";

/// Two targets of GFX9, and another one of RDNA each day.
fn today() -> [Target; 3] {
    const RDNA: [Target; 6] = [
        Target::GFX1010,
        Target::GFX1030,
        Target::GFX1100,
        Target::GFX1151,
        Target::GFX1201,
        Target::GFX1250,
    ];
    [Target::GFX90A, Target::GFX942, RDNA[(daily_seed() % RDNA.len() as u64) as usize]]
}

/// Every form has a program with default modifiers that the simulator runs in strict mode, in which a missing wait or an access outside the
/// buffer is an error.
#[test]
fn every_form_has_a_program_that_needs_no_wait() {
    for target in today() {
        let (mut refused, mut ran) = (Vec::new(), 0);
        let share = if target.family() == Family::RDNA { 12 } else { 2 };
        for form in daily_sample(Forms::of(target).run, share) {
            let case = match Case::of(form, 1, 0, false) {
                Ok(case) => case,
                Err(error) => {
                    refused.push(format!("{}: {error}", form.name()));
                    continue;
                }
            };
            let run = case.launch.simulate(&Options::strict());
            match run.err() {
                // The suite reports these forms as not run.
                Some(error) if target.family() == Family::RDNA && error.starts_with(NOT_RUN) => (),
                Some(error) => refused.push(format!("{}: {error}", case.instruction)),
                None => ran += 1,
            }
        }
        assert_eq!(refused, Vec::<String>::new(), "{target}");
        assert!(ran > 50, "{target}: {ran}");
    }
}

/// LLVM's assembler accepts the programs, including their random modifiers, and produces the same code.
#[test]
fn llvm_assembles_the_same_code() {
    for target in today() {
        for wave in target.wave_sizes() {
            let forms: Vec<Form> =
                Forms::of(target).run.into_iter().filter(|form| form.on.wave == *wave).collect();
            // One file contains all instructions under test; only the first is surrounded by its harness.
            let cases: Vec<Case> = daily_sample(forms, if target.family() == Family::RDNA { 12 } else { 3 })
                .into_iter()
                .flat_map(|form| (0..3).filter_map(move |variant| of_llvm(form, variant)))
                .collect();
            let mut text = cases[0].launch.text.clone();
            for case in &cases {
                text += &format!("{}\n", case.instruction);
            }
            llvm::assembles_the_same(&text, Subtarget::new(target, *wave).unwrap());
        }
    }
}

/// A program whose instruction LLVM 22 accepts; `None` if its assembler does not: it wants the lower halves of registers named in
/// instructions that have only 16-bit operands, where our text leaves them out, and on gfx12.5 it compares the banks of the wrong operands of
/// some pairs.
fn of_llvm(form: Form, variant: u32) -> Option<Case> {
    let case = Case::of(form, 1, variant, true).ok()?;
    let names_halves = case.instruction.contains(".l") || case.instruction.contains(".h");
    let is_odd = form.row.has_halves() && form.on.has_half_vgprs() && !names_halves
        || form.on.instruction_set() == InstructionSet::GFX12_5 && form.row.halves.is_some();
    (!is_odd).then_some(case)
}

#[test]
fn a_seed_repeats_a_program_and_another_does_not() {
    let forms = Forms::of(Target::GFX942).run;
    let form = *forms.iter().find(|form| form.row.format == Format::Vop3a).unwrap();
    let case = |seed| Case::of(form, seed, 1, true).unwrap();
    assert_eq!((case(1).launch.text, case(1).launch.input), (case(1).launch.text, case(1).launch.input));
    assert_ne!(case(1).launch.input, case(2).launch.input);
}

/// Detects a GPU that rounds the f16 results of mixed-precision multiply-add only once: exactly those instructions differ.
#[test]
fn a_gpu_that_rounds_otherwise_is_found() {
    let target = Target::GFX942;
    let mut found = Vec::new();
    for form in Forms::of(target).run.into_iter().filter(|form| form.row.format == Format::Vop3p) {
        let [long, _] = <Values as Computes>::VARIANTS;
        let result = judge::form(form, 1, long, &mut |launch, _, seen| {
            let program =
                Program::load(&launch.code_object, Some(KERNEL)).unwrap().with_mix_rounded_twice(false);
            seen(&launch.simulate_as(&program, &Options::default())?);
            Ok(())
        });
        if result.status != Status::Equal {
            found.push((result.form, form.row.is_mixed_precision()));
        }
    }
    assert!(!found.is_empty() && found.iter().all(|(_, mixed)| *mixed), "{found:?}");
}

/// A single wrong bit in a register, LDS or memory is found, and its position is reported.
#[test]
fn a_wrong_bit_is_named() {
    let target = Target::GFX90A;
    let forms = Forms::of(target).run;
    let form = *forms.iter().find(|form| form.row.is_ds()).unwrap();
    let places = [
        (0x5000 + 256 * 3 + 4 * 5, "v11 of lane 5"),
        (0x8000 + 4 * 7, "s23"),
        (0x8000 + 4 * 36, "scc"),
        (0x9000 + 12, "LDS byte 12"),
        (0x4000 + 64 * 9 + 8, "byte 8 of lane 9's memory"),
    ];
    for (offset, place) in places {
        let result = judge::form(form, 1, 1, &mut |launch, _, seen| {
            let mut after = launch.simulate(&Options::default())?;
            after[offset] ^= 1;
            seen(&after);
            Ok(())
        });
        assert_eq!((result.status, result.first.unwrap().place.as_str()), (Status::Differs, place));
    }
}
