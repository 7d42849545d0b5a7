//! Builds programs from text and reads golden tables.

use std::io::Read;

use gcn_emit::text::{Comments, parse_program, print_program};
use gcn_isa::{Program, Target};

/// A program from lines of assembly.
pub fn program(target: Target, lines: &[&str]) -> Result<Program, String> {
    parse_program(&lines.join("\n"), target, "test").map_err(|e| e.to_string())
}

/// The lines of a cell of a golden table.
pub fn cell(text: &str) -> Vec<&str> {
    text.split(" | ").map(str::trim).collect()
}

/// The rows of a gzipped table, without the header.
pub fn rows(gz: &[u8]) -> Vec<Vec<String>> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(gz).read_to_string(&mut text).expect("a gzipped table");
    text.lines().skip(1).map(|l| l.split('\t').map(str::to_owned).collect()).collect()
}

/// The text of the program with its notes.
pub fn shown(program: &Program) -> String {
    print_program(program, Comments::Explain)
}
