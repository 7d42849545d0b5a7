//! Each pass over the IR, by text files: a file `data/ir/*.ir` contains a kernel, the name of the pass to run, and the
//! expected result. `GCN_BLESS=1` writes the result; read it before you commit it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gcn_dsl::ir::{text, verify};
use gcn_dsl::kernel::{passes, run_pass};
use gcn_isa::Target;
use gcn_test_support::stored;

/// The line between the kernel and the result.
const BECOMES: &str = "; becomes\n";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/ir");
    let entries = fs::read_dir(&folder).expect("the folder of kernels");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// The first line is `; PASS on TARGET: what the file shows`.
fn header(text: &str) -> (&str, Target) {
    let first = text.strip_prefix("; ").and_then(|rest| rest.split_once(':')).map(|(header, _)| header);
    let (pass, target) = first.and_then(|header| header.split_once(" on ")).expect("`; PASS on TARGET: …`");
    (pass, target.parse().expect("a target"))
}

#[test]
fn passes_do_what_the_files_say() {
    let mut faults = Vec::new();
    for path in files() {
        let text = fs::read_to_string(&path).expect("a file");
        let before = text.split(BECOMES).next().unwrap_or_default();
        let (pass, target) = header(before);
        let name = path.display();
        let mut kernel = text::parse(before).unwrap_or_else(|e| panic!("{name}: {e}"));
        verify::verify(&kernel).unwrap_or_else(|e| panic!("{name}: {e}"));
        let outcome = run_pass(pass, &mut kernel, target).map(|()| kernel.to_string());
        let after = outcome.unwrap_or_else(|error| format!("{error}\n"));
        faults.extend(stored::current(&path, &format!("{before}{BECOMES}{after}")).err());
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_pass_has_a_file() {
    let texts: Vec<String> = files().iter().map(|path| fs::read_to_string(path).expect("a file")).collect();
    let tested: BTreeSet<&str> = texts.iter().map(|text| header(text).0).collect();
    let all: BTreeSet<&str> = passes().map(|(name, _)| name).collect();
    let untested: Vec<_> = all.difference(&tested).collect();
    assert!(
        untested.is_empty(),
        "write gcn-dsl/tests/data/ir/PASS.ir for {untested:?}; GCN_BLESS=1 adds what comes out"
    );
}

#[test]
fn architecture_has_the_passes_in_their_order() {
    let page = include_str!("../../../../ARCHITECTURE.md");
    let start = "<!-- passes: the table in gcn-dsl/src/kernel/passes.rs -->\n\n";
    let (_, rest) = page.split_once(start).expect("the place of the list in ARCHITECTURE.md");
    let listed: Vec<&str> = rest.lines().take_while(|line| !line.is_empty()).collect();
    let expected: Vec<String> = passes().map(|(name, what)| format!("1. `{name}`: {what}")).collect();
    assert_eq!(listed, expected, "copy this into ARCHITECTURE.md:\n{}", expected.join("\n"));
}

/// A device function that tests its bounds is free where the caller has tested them.
#[test]
fn a_condition_that_is_known_is_not_tested_again() {
    use gcn_dsl::prelude::*;
    gcn_kernel! {
        #[device]
        fn put(y: &mut [u32], i: V<u32>) {
            if i < y.len() {
                y[i] = i;
            }
        }
        #[workgroup(64)]
        fn twice(y: &mut [u32]) {
            let i = global_id().x;
            if i < y.len() {
                put(y, i);
            }
        }
        #[workgroup(64)]
        fn once(y: &mut [u32]) {
            put(y, global_id().x);
        }
    }
    let again = twice.build(Target::GFX942).unwrap().assembly(Comments::None);
    assert_eq!(again.replace("twice", "once"), once.build(Target::GFX942).unwrap().assembly(Comments::None));
}
