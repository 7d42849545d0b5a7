//! The GitHub action and the pre-commit hook: their own commands, on files with and without findings.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::{TWO_KERNELS, UNWAITED};

const ACTION: &str = include_str!("../../../action.yml");
const HOOK: &str = include_str!("../../../.pre-commit-hooks.yaml");

/// Runs a script with `gcn` in the path.
fn shell(folder: &Path, script: &str, variables: &[(&str, &str)]) -> Output {
    let gcn = Path::new(env!("CARGO_BIN_EXE_gcn")).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([gcn].into_iter().chain(std::env::split_paths(&path))).expect("paths");
    let mut bash = Command::new("bash");
    // The options that GitHub gives to `shell: bash`.
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(folder);
    bash.env("PATH", path).envs(variables.iter().copied()).output().expect("bash")
}

fn files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let unread = format!("{TWO_KERNELS}\n\t.text\n\tv_no_such v1\n");
    let files = [
        ("clean/two.gcn", TWO_KERNELS),
        ("clean/two.s", TWO_KERNELS),
        ("broken/unwaited.gcn", UNWAITED),
        ("unread/unread.s", &unread),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    folder
}

fn has_bash() -> bool {
    let found = Command::new("bash").args(["-c", ":"]).status().is_ok();
    if !found {
        eprintln!("SKIPPED: no `bash`");
    }
    found
}

#[test]
fn the_action_fails_on_findings_and_writes_them_as_sarif() {
    if !has_bash() {
        return;
    }
    let folder = files();
    let install = ACTION.lines().find_map(|l| l.trim().strip_prefix("run: command")).expect("the first step");
    assert!(shell(folder.path(), &format!("command{install}"), &[]).status.success());
    let check = ACTION.split("run: |\n").nth(1).expect("the second step");
    let cases = [
        ("clean/", "", 0, false),
        ("broken/ clean/", "", 1, true),
        // The line that could not be read is a result of its own.
        ("unread/ clean/", "", 2, true),
        ("unread/ clean/", "--allow-unread", 0, true),
    ];
    for (paths, arguments, code, findings) in cases {
        let variables =
            [("PATHS", paths), ("LEVEL", "documented"), ("ARGUMENTS", arguments), ("SARIF", "out.sarif")];
        let run = shell(folder.path(), check, &variables);
        assert_eq!(run.status.code(), Some(code), "{paths}: {}", String::from_utf8_lossy(&run.stderr));
        let sarif = std::fs::read_to_string(folder.path().join("out.sarif")).expect("a file");
        let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
        let results = sarif["runs"][0]["results"].as_array().expect("results");
        assert_eq!(!results.is_empty(), findings, "{paths}");
    }
}

#[test]
fn the_hook_fails_on_findings() {
    if !has_bash() {
        return;
    }
    let folder = files();
    let entry = HOOK.lines().find_map(|l| l.trim().strip_prefix("entry: ")).expect("a command");
    // pre-commit appends the files of the commit that its pattern matches.
    assert!(HOOK.contains(r"files: \.(s|amdgcn|gcn|hsaco|co)$"));
    let files = [
        ("clean/two.gcn", 0),
        ("clean/two.s", 0),
        ("broken/unwaited.gcn", 1),
        ("unread/unread.s", 2),
        ("missing.gcn", 2),
    ];
    for (file, code) in files {
        let run = shell(folder.path(), &format!("{entry} {file}"), &[]);
        assert_eq!(run.status.code(), Some(code), "{file}: {}", String::from_utf8_lossy(&run.stderr));
    }
}
