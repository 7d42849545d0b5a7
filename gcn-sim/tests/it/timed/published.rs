//! Compares the model with published throughputs, and checks the document that lists them.

use std::collections::HashSet;
use std::path::Path;

use gcn_isa::Target;
use gcn_isa::table;
use gcn_sim::timed::throughput::{ThroughputKind, markdown, published};

/// The line at which the generated part of the document begins.
const MARK: &str = "<!-- generated from here on -->\n";

#[test]
fn throughputs_are_as_published_and_the_document_is_current() {
    let tables = markdown().unwrap();
    let mut rows = 0;
    for line in tables.lines().take_while(|line| !line.starts_with("### Parameters")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let Ok(target) = cells.get(1).copied().unwrap_or("").parse::<Target>() else { continue };
        let number = |i: usize| cells[i].parse::<f64>().unwrap();
        let off = (number(4) / number(3) - 1.0).abs();
        assert!(off <= 0.02, "{target} {}: published {}, model {}", cells[2], cells[3], cells[4]);
        rows += 1;
    }
    assert_eq!(rows, published().count());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/timing.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, generated) = document.split_once(MARK).unwrap();
    assert!(
        generated.trim() == tables.trim(),
        "docs/timing.md is not current: run `cargo run --release -p gcn-sim --example timing -- docs/timing.md`"
    );
}

#[test]
fn every_matrix_instruction_has_a_published_figure() {
    let figures: HashSet<(Target, String)> = published()
        .filter(|row| row.kind == ThroughputKind::Matrix)
        .map(|row| (row.target, row.instruction.split(' ').next().unwrap().to_owned()))
        .collect();
    for row in table::rows().iter().filter(|row| row.is_matrix()) {
        for target in row.targets.representatives() {
            assert!(figures.contains(&(target, row.mnemonic.to_owned())), "{target} {}", row.mnemonic);
        }
    }
}
