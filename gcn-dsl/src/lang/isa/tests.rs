//! The catalogue against the table, and the generated text against the catalogue.

use std::collections::{BTreeMap, BTreeSet};

use gcn_isa::table::{self, InstDesc};

use super::{EXCLUDED, catalog, excluded};

const GENERATED: &str = include_str!(concat!(env!("OUT_DIR"), "/isa.rs"));

#[test]
fn every_mnemonic_is_a_function_or_excluded_with_a_reason() {
    let all: BTreeSet<&str> = table::mnemonics().collect();
    let named: BTreeSet<&str> = catalog::functions().iter().map(|f| f.mnemonic).collect();
    let out: BTreeSet<&str> = EXCLUDED.iter().flat_map(|e| e.mnemonics).copied().collect();
    let listed: usize = EXCLUDED.iter().map(|e| e.mnemonics.len()).sum();
    assert_eq!(out.len(), listed, "an instruction is excluded twice");
    assert!(out.is_subset(&all), "excluded, but not in the table: {:?}", out.difference(&all));
    assert!(named.is_disjoint(&out));
    let union: BTreeSet<&str> = named.union(&out).copied().collect();
    assert_eq!(union, all, "neither a function nor excluded");
    assert_eq!(named.len() + out.len(), all.len());
    // The measured table has 1321 mnemonics; 65 of them belong to the compiler.
    assert_eq!((all.len(), out.len()), (1321, 65));
}

#[test]
fn every_row_belongs_to_a_function_or_is_excluded() {
    let mut rows: Vec<u16> = catalog::functions().iter().flat_map(|f| &f.rows).map(|row| row.id).collect();
    rows.sort_unstable();
    let expected: Vec<u16> =
        table::rows().iter().filter(|row| excluded(row.mnemonic).is_none()).map(|row| row.id).collect();
    assert_eq!(rows, expected);
}

/// All rows of a function have the same operands: the signature holds for every encoding and target.
#[test]
fn rows_of_a_function_agree() {
    for f in catalog::functions() {
        let shape = |row: &InstDesc| -> Vec<(&str, table::Access, u8)> {
            let address = ["vaddr", "saddr", "offset", "soffset"];
            let own = row.operands.iter().filter(|o| !address.contains(&o.name));
            own.map(|o| (o.name, o.access, o.dwords)).collect()
        };
        let first = shape(f.rows[0]);
        for row in &f.rows {
            assert_eq!(shape(row), first, "{}", f.name);
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

/// Formats that a suffix must say.
#[test]
fn suffixes_follow_the_format() {
    for f in catalog::functions() {
        let dpp = f.rows.iter().all(|r| r.format.is_dpp());
        assert_eq!(f.name.ends_with("_dpp"), dpp, "{}", f.name);
        assert_eq!(f.name.ends_with("_sdwa"), f.rows.iter().all(|r| r.format.is_sdwa()), "{}", f.name);
    }
}
