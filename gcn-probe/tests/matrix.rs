//! Tests the suite `matrix`: its programs are legal and cover the instructions' options, and a GPU with different matrix arithmetic is
//! detected.

use std::collections::{BTreeMap, BTreeSet};

use gcn_isa::Target;
use gcn_isa::layout::{self, ElemType};
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_probe::launch::KERNEL;
use gcn_probe::report::Status;
use gcn_probe::{judge, matrix};
use gcn_sim::launch::Program;
use gcn_sim::{MatrixArithmetic, Options};

mod llvm;

const TARGETS: [Target; 8] = [
    Target::GFX908,
    Target::GFX90A,
    Target::GFX942,
    Target::GFX950,
    Target::GFX1100,
    Target::GFX1151,
    Target::GFX1201,
    Target::GFX1250,
];

/// Every matrix instruction has programs, which run in strict mode and which LLVM assembles to the same code.
#[test]
fn every_matrix_instruction_has_programs() {
    for target in TARGETS {
        let mut texts: BTreeMap<WaveSize, String> = BTreeMap::new();
        let mut refused = Vec::new();
        let forms = matrix::forms(target);
        assert_eq!(forms.len(), layout::matrix_instructions(target).count());
        for form in forms {
            for variant in 0..3 {
                let made = matrix::case(form, 1, variant, true);
                let ran = made.and_then(|case| {
                    *texts.entry(form.on.wave).or_default() += &case.launch.text;
                    let run = case.launch.simulate(&Options::strict());
                    run.map_err(|error| format!("{}: {error}", case.instruction))
                });
                refused.extend(ran.err().map(|error| format!("{}: {error}", form.name())));
            }
        }
        assert_eq!(refused, Vec::<String>::new(), "{target}");
        for (wave, text) in texts {
            llvm::assembles_the_same(&text, Subtarget::new(target, wave).unwrap());
        }
    }
}

/// Detects a GPU whose matrix instructions are chains of fused multiply-adds: exactly the instructions that the hardware model rounds
/// differently are reported, and no integer instruction, since integer sums are exact. No hardware model is published for gfx950, so there
/// the simulator itself uses such chains.
#[test]
fn a_gpu_that_adds_otherwise_is_found() {
    for target in [Target::GFX908, Target::GFX90A, Target::GFX942] {
        let mut found = BTreeSet::new();
        for form in matrix::forms(target) {
            let result = judge::form(form, 1, 4, &mut |launch, _, seen| {
                let program = Program::load(&launch.code_object, Some(KERNEL)).unwrap();
                let program = program.with_matrix(MatrixArithmetic::Chain);
                seen(&launch.simulate_as(&program, &Options::default())?);
                Ok(())
            });
            assert!(result.cases > 0, "{target} {}: {}", result.form, result.message);
            if result.status != Status::Equal {
                assert_ne!(layout::shape(form.row, target).unwrap().acc, ElemType::I32, "{}", result.form);
                found.insert(result.form);
            }
        }
        assert!(found.iter().any(|form| form.contains("f16")), "{target}: {found:?}");
        assert!(found.len() > 5, "{target}: {found:?}");
    }
}

/// A single wrong bit of a result is found, and its position is reported.
#[test]
fn a_wrong_bit_is_named() {
    let target = Target::GFX90A;
    let form = matrix::forms(target)[0];
    let case = matrix::case(form, 1, 0, false).unwrap();
    let before = case.launch.simulate(&Options::default()).unwrap();
    let at = |place: &str| (0..before.len()).step_by(4).find(|at| case.place(*at) == place).unwrap();
    for place in ["v9 of lane 5", "vcc_hi", "byte 8 of the wave's memory"] {
        let result = judge::form(form, 1, 1, &mut |launch, _, seen| {
            let mut after = launch.simulate(&Options::default())?;
            after[at(place)] ^= 1;
            seen(&after);
            Ok(())
        });
        assert_eq!((result.status, result.first.unwrap().place.as_str()), (Status::Differs, place));
    }
}
