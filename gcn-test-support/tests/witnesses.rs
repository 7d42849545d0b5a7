//! Checks that everything a run of `cargo test` skips is listed at its end: every skip is recorded, and the package that lists the records
//! is last.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is a folder of the repository")
}

#[test]
fn the_package_that_lists_skipped_tests_is_the_last() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = [")).expect("the members");
    let folders = members.split('"').skip(1).step_by(2);
    let mut names: Vec<String> = folders
        .map(|folder| {
            let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a manifest");
            let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
            name.expect("the package's name").to_owned()
        })
        .collect();
    assert!(names.len() > 10, "{names:?}");
    names.sort();
    assert_eq!(names.last().map(String::as_str), Some("gcn-witnesses"));
}

#[test]
fn whoever_skips_records_it() {
    let (mut folders, mut faults, mut files) = (vec![root().to_owned()], Vec::<PathBuf>::new(), 0);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir()
                && !["target", ".git", "node_modules", "gcn-test-support"].iter().any(|f| path.ends_with(f))
            {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files += 1;
                // A line that a test prints is not shown if the test passes.
                if fs::read_to_string(&path).is_ok_and(|text| text.contains("\"SKIPPED")) {
                    faults.push(path);
                }
            }
        }
    }
    assert!(files > 500, "{files} files");
    assert!(
        faults.is_empty(),
        "these say SKIPPED themselves instead of calling `gcn_test_support::skipped`: {faults:?}"
    );
}
