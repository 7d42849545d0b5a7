//! Finds a smaller program that fails in the same way.

use gcn_emit::text::{Comments, print_program};
use gcn_isa::Program;
use gcn_isa::wait::{WaitOptions, insert_waits};

use super::mutants::remove;
use super::property::{Totals, holds};

/// Removes lines after the prologue as long as some property still fails.
pub fn shrink(program: &Program, prologue: usize, seed: usize, fault: String) -> (Program, String) {
    let (mut program, mut fault) = (program.clone(), fault);
    let mut at = program.lines.len() - 1;
    while at > prologue {
        at -= 1;
        let smaller = remove(&program, at);
        // A program that no longer terminates is a different failure.
        if let Err(new) = holds(&smaller, seed, &mut Totals::default())
            && !new.contains("does not end")
            && !new.contains("exceeds the limit")
        {
            (program, fault) = (smaller, new);
            at = at.min(program.lines.len() - 1);
        }
    }
    (program, fault)
}

/// The program after the prologue, without and with the inserted waits.
pub fn shown(program: &Program, prologue: usize) -> String {
    let mut waited = program.clone();
    insert_waits(&mut waited, &WaitOptions::default());
    let behind = |text: String| -> String {
        let lines: Vec<&str> = text.lines().collect();
        lines[prologue.min(lines.len())..].join("\n")
    };
    let waited = behind(print_program(&waited, Comments::Explain));
    format!("{}\nwith waits:\n{waited}", behind(print_program(program, Comments::None)))
}
