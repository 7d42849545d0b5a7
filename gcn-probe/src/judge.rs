//! Compares what the simulator computes with the GPU's results.

use gcn_sim::{Grade, MatrixArithmetic, Options};

use crate::case::Case;
use crate::form::Form;
use crate::launch::{Runner, once};
use crate::matrix;
use crate::report::{Difference, FormResult, Status};

/// Runs `variants` programs of a form on the simulator and through `gpu`.
pub fn form(form: Form, seed: u64, variants: u32, gpu: Runner<'_>) -> FormResult {
    let mut result = FormResult {
        form: form.name(),
        cases: 0,
        status: Status::Equal,
        differing: 0,
        first: None,
        message: String::new(),
    };
    let approximate = gcn_sim::fidelity_of(form.row.mnemonic, form.on.target, MatrixArithmetic::Hardware)
        .is_some_and(|fidelity| fidelity.grade == Grade::Approximate);
    for variant in 0..variants {
        // Where the simulator does not support directed rounding, the program rounds to nearest.
        let attempt = |rounded| {
            let make = if form.row.multiplies_matrices() { matrix::case } else { Case::of };
            let case = make(form, seed, variant, rounded)?;
            case.launch.simulate(&Options::default()).map(|after| (case, after))
        };
        let (case, expected) = match attempt(true).or_else(|_: String| attempt(false)) {
            Ok(both) => both,
            Err(error) => {
                result.message = error;
                continue;
            }
        };
        result.cases += 1;
        match once(gpu, &case.launch) {
            Err(error) => {
                result.status = Status::Failed;
                result.message = format!("{}: {error}", case.instruction);
            }
            Ok(measured) => {
                let Some(difference) = difference(&case, &expected, &measured) else { continue };
                let status = if approximate { Status::Approximate } else { Status::Differs };
                result.status = result.status.max(status);
                result.differing += 1;
                result.first.get_or_insert(difference);
            }
        }
    }
    // If the simulator refuses the modifiers of one program, only that program is skipped; the form counts as not run if none is left.
    if result.cases == 0 {
        result.status = Status::NotRun;
    }
    result
}

/// The first dword that differs between the simulator's and the GPU's results; `None` if the results are equal.
fn difference(case: &Case, expected: &[u8], measured: &[u8]) -> Option<Difference> {
    let words = expected.chunks_exact(4).zip(measured.chunks_exact(4));
    let mut differing = words.enumerate().filter(|(_, (a, b))| a != b);
    let (index, (simulated, gpu)) = differing.next()?;
    let hex =
        |bytes: &[u8]| format!("0x{}", bytes.iter().rev().map(|b| format!("{b:02x}")).collect::<String>());
    Some(Difference {
        instruction: case.instruction.clone(),
        mode: case.mode,
        place: case.place(4 * index),
        words: 1 + differing.count(),
        simulated: hex(simulated),
        gpu: hex(gpu),
    })
}
