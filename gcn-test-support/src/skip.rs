//! Reports tests that are skipped because a tool is missing: they pass, but not silently.
//!
//! libtest shows no output of a test that passes, so a skip is written to standard error directly, once for each remedy and test binary,
//! and recorded in a file that belongs to this run of `cargo test`. The test of the package `gcn-witnesses` runs last and prints the
//! records of the run as one list.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// Reports that the running test, or a part of it, is skipped: `missing` names what is missing, `remedy` tells the user how to have the
/// test run.
pub fn skipped(missing: &str, remedy: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if TOLD.lock().is_ok_and(|mut told| told.insert(remedy.to_owned())) {
        // libtest would capture the output of `eprintln!`.
        let _ = writeln!(io::stderr(), "SKIPPED: {missing}; {remedy}");
    }
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let thread = std::thread::current();
    let record = format!("{remedy}\t{package}\t{}\n", thread.name().unwrap_or("a thread of a test"));
    // A single `write` of a short line to a file that is open for appending is not interleaved with those of other processes. If the file
    // cannot be written, only the list at the end is incomplete.
    if let Some(path) = records()
        && let Some(folder) = path.parent()
        && fs::create_dir_all(folder).is_ok()
        && let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path)
    {
        let _ = file.write_all(record.as_bytes());
    }
}

/// True if `program` can be started. If it cannot, the running test is [`skipped`].
#[must_use]
pub fn has_program(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        skipped(&format!("`{program}` is not in PATH"), &format!("install `{program}`"));
    }
    found
}

/// The list of what this run of `cargo test` has skipped so far. Removes the records of this run, and those of earlier runs that were never
/// listed.
#[must_use]
pub fn list() -> String {
    let Some(path) = records() else { return list_of("") };
    let text = fs::read_to_string(&path).unwrap_or_default();
    let _ = fs::remove_file(&path);
    remove_stale(path.parent().unwrap_or(Path::new(".")));
    list_of(&text)
}

/// The list for the text of a record file.
fn list_of(records: &str) -> String {
    let mut remedies: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    let mut tests = BTreeSet::new();
    for line in records.lines() {
        let mut fields = line.split('\t');
        let (Some(remedy), Some(package), Some(test)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        tests.insert((package, test));
        remedies.entry(remedy).or_default().entry(package).or_default().insert(test);
    }
    if tests.is_empty() {
        return "no test was skipped: each had its witness\n".to_owned();
    }
    let mut list = format!("SKIPPED: {}, in whole or in part\n", tests_in_words(tests.len()));
    for (remedy, packages) in &remedies {
        let count = packages.values().map(BTreeSet::len).sum();
        list += &format!("\n{} for {}:\n", remedy, tests_in_words(count));
        for (package, tests) in packages {
            for test in tests {
                list += &format!("    {package}  {test}\n");
            }
        }
    }
    list
}

fn tests_in_words(count: usize) -> String {
    format!("{count} {}", if count == 1 { "test" } else { "tests" })
}

/// The file for the records of this run. It is next to the folder of the test binaries and named after the parent process, which is cargo
/// for all test binaries of a run. Process ids are reused, so the name also contains the start time of the process.
fn records() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let profile = test.parent()?.parent()?;
    Some(profile.join("skipped-tests").join(parent()))
}

#[cfg(unix)]
fn parent() -> String {
    let id = std::os::unix::process::parent_id();
    let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // proc(5): the program name is in parentheses and may contain blanks; the start time is field 22, the twentieth after it.
    let start = state.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(19));
    format!("{id}-{}", start.unwrap_or("0"))
}

#[cfg(not(unix))]
fn parent() -> String {
    "run".to_owned()
}

/// Removes the records of runs that ended without listing them. Only files that are a day old are removed, so that a concurrent run keeps
/// its records.
fn remove_stale(folder: &Path) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = file.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > Duration::from_secs(24 * 60 * 60)) {
            let _ = fs::remove_file(file.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_each_test_once_under_what_to_do() {
        let records =
            "install B\tgcn-b\tone\ninstall A\tgcn-b\tone\ninstall B\tgcn-b\tone\ninstall B\tgcn-a\ttwo\n";
        let list = "SKIPPED: 2 tests, in whole or in part\n\ninstall A for 1 test:\n    gcn-b  one\n\n\
                    install B for 2 tests:\n    gcn-a  two\n    gcn-b  one\n";
        assert_eq!(list_of(records), list);
        assert_eq!(list_of(""), "no test was skipped: each had its witness\n");
    }

    /// A skip recorded in a run that this test starts appears in the list of that run only.
    #[test]
    #[cfg(unix)]
    fn records_are_of_one_run() {
        const ROLE: &str = "GCN_SKIP_ROLE";
        let again = |script: &str| {
            let test = "skip::tests::records_are_of_one_run";
            let script = script.replace("TEST", &format!("\"$0\" --exact {test} --nocapture"));
            // The semicolon prevents the shell from replacing itself by the last command, so that it stays the parent.
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", &format!("{script}; :")]).arg(std::env::current_exe().unwrap());
            let run = shell.output().expect("the shell starts");
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            String::from_utf8(run.stdout).unwrap()
        };
        match std::env::var(ROLE).as_deref() {
            Ok("skip") => skipped("a witness is missing", "install the witness"),
            Ok(_) => print!("{}", list()),
            Err(_) => {
                let list = again(&format!("{ROLE}=skip TEST >/dev/null; {ROLE}=list TEST"));
                assert!(list.contains("install the witness for 1 test:\n"), "{list}");
                again(&format!("{ROLE}=skip TEST"));
                assert!(again(&format!("{ROLE}=list TEST")).contains("no test was skipped"));
            }
        }
    }
}
