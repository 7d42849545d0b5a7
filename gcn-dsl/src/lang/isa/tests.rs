//! Tests of the catalogue against the instruction table, and of the generated text against the catalogue.

use std::collections::{BTreeMap, BTreeSet};

use gcn_isa::table::{self, InstDesc};
use gcn_isa::target::Family;

use crate::catalog::excluded::candidates;
use crate::catalog::types::is_vector;

use super::{EXCLUDED, catalog, excluded};

const GENERATED: &str = include_str!(concat!(env!("OUT_DIR"), "/isa.rs"));

#[test]
fn every_instruction_is_a_function_or_excluded_with_a_reason() {
    for group in EXCLUDED {
        assert!(!group.mnemonics().is_empty(), "no instruction is excluded because {}", group.reason);
    }
    let named: BTreeSet<&str> = catalog::functions().iter().map(|f| f.mnemonic).collect();
    let names = |of: fn(&&InstDesc) -> bool| -> BTreeSet<&str> {
        candidates().filter(of).map(|row| row.entry.mnemonic).collect()
    };
    let (all, out) = (names(|_| true), names(|row| excluded(row).is_some()));
    assert!(all.iter().all(|name| named.contains(name) || out.contains(name)));
    // The instruction table of GFX9 has 1321 mnemonics, of which 65 are reserved for the compiler.
    let of_gfx9 = names(|row| row.family() == Family::GFX9);
    let excluded_there = names(|row| row.family() == Family::GFX9 && excluded(row).is_some());
    assert_eq!((of_gfx9.len(), excluded_there.len()), (1321, 65));
}

#[test]
fn every_row_belongs_to_a_function_or_is_excluded() {
    let mut rows: Vec<u16> = catalog::functions().iter().flat_map(|f| &f.rows).map(|row| row.id).collect();
    rows.sort_unstable();
    let mut expected: Vec<u16> =
        candidates().filter(|row| excluded(row).is_none()).map(|row| row.id).collect();
    expected.sort_unstable();
    assert_eq!(rows, expected);
}

/// All table rows of a function have the same operands, so the function's signature is right for every encoding and
/// target. Lane masks may differ in size, which is that of the wave.
#[test]
fn rows_of_a_function_agree() {
    for f in catalog::functions() {
        let shape = |row: &InstDesc| -> Vec<(&str, table::Access, u8)> {
            let address = ["vaddr", "saddr", "offset", "soffset"];
            let own = row.operands.iter().filter(|o| !address.contains(&o.name));
            let mask = |o: &table::OperandDesc| row.format.is_vop() && !is_vector(o);
            own.map(|o| (o.name, o.access, if mask(o) { 0 } else { o.dwords })).collect()
        };
        let own: Vec<_> = f.rows.iter().filter(|row| row.family() == f.family).collect();
        for row in &own {
            assert_eq!(shape(row), shape(own[0]), "{}", f.name);
        }
    }
}

#[test]
fn the_generated_text_has_every_form_once() {
    let mut names: BTreeMap<&str, u32> = BTreeMap::new();
    for line in GENERATED.lines() {
        if let Some(rest) = line.strip_prefix("pub fn ") {
            *names.entry(rest.split('(').next().unwrap_or_default()).or_default() += 1;
        }
    }
    assert!(names.values().all(|n| *n == 1), "{names:?}");
    let functions = catalog::functions();
    let wanted: BTreeSet<String> =
        functions.iter().flat_map(|f| f.forms().iter().map(|form| f.name_of(*form))).collect();
    assert_eq!(names.keys().map(|n| (*n).to_owned()).collect::<BTreeSet<_>>(), wanted);
    let lines: Vec<&str> = GENERATED.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        if line.starts_with("pub fn") {
            assert_eq!(lines[i - 1], "#[track_caller]", "{line}");
            assert!(lines[i - 2].starts_with("///"), "undocumented: {line}");
        }
    }
}

/// The formats that need a suffix in the function's name.
#[test]
fn suffixes_follow_the_format() {
    for f in catalog::functions() {
        let dpp = f.rows.iter().all(|r| r.format.is_dpp());
        assert_eq!(f.name.ends_with("_dpp"), dpp, "{}", f.name);
        assert_eq!(f.name.ends_with("_sdwa"), f.rows.iter().all(|r| r.format.is_sdwa()), "{}", f.name);
    }
}
