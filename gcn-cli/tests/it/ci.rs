//! Tests the GitHub action and the pre-commit hook: runs their commands on files with and without findings.

use std::path::Path;
use std::process::{Command, Output};

use gcn_test_support::skip::has_program;
use serde_json::Value;

use crate::{TWO_KERNELS, UNWAITED};

const ACTION: &str = include_str!("../../../action.yml");
const HOOK: &str = include_str!("../../../.pre-commit-hooks.yaml");

/// Runs a script in `folder` as GitHub does with `shell: bash`; `PATH` contains the folders `programs` and those of the system.
fn shell(folder: &Path, programs: &[&Path], script: &str, variables: &[(&str, &str)]) -> Output {
    let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    let path = std::env::join_paths(programs.iter().chain(&system)).expect("paths");
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(folder);
    bash.env("PATH", path).envs(variables.iter().copied()).output().expect("bash")
}

/// The folder of the `gcn` under test.
fn gcn_folder() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_gcn")).parent().expect("a folder")
}

/// The script of a step of the action, by the step's name.
fn step(name: &str) -> String {
    let (_, step) = ACTION.split_once(&format!("- name: {name}\n")).expect("the step");
    let (_, script) = step.split_once("run: |\n").expect("its script");
    let lines = script.lines().take_while(|line| line.is_empty() || line.starts_with("        "));
    lines.map(|line| line.to_owned() + "\n").collect()
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

#[test]
fn the_action_fails_on_findings_and_writes_them_as_sarif() {
    if !has_program("bash") {
        return;
    }
    let folder = files();
    let check = step("Check");
    let cases = [
        ("clean/", "", 0, false),
        ("broken/ clean/", "", 1, true),
        // The line that could not be read is reported as a separate result.
        ("unread/ clean/", "", 2, true),
        ("unread/ clean/", "--allow-unread", 0, true),
    ];
    for (paths, arguments, code, findings) in cases {
        let variables =
            [("PATHS", paths), ("LEVEL", "documented"), ("ARGUMENTS", arguments), ("SARIF", "out.sarif")];
        let run = shell(folder.path(), &[gcn_folder()], &check, &variables);
        assert_eq!(run.status.code(), Some(code), "{paths}: {}", String::from_utf8_lossy(&run.stderr));
        let sarif = std::fs::read_to_string(folder.path().join("out.sarif")).expect("a file");
        let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
        let results = sarif["runs"][0]["results"].as_array().expect("results");
        assert_eq!(!results.is_empty(), findings, "{paths}");
    }
}

/// Creates a stand-in for a program: a script in `folder`.
fn stand_in(folder: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
}

/// If `gcn` is not installed, a tag of the action downloads the release's archive, and compiles `gcn` if there is no archive; any other
/// commit compiles its own source.
#[test]
fn the_action_installs_the_command_of_its_own_version() {
    if !has_program("bash") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (release, programs) = (folder.path().join("release"), folder.path().join("programs"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let archive = format!(
        "'{}' '{}' x86_64-unknown-linux-musl '{}'",
        root.join(".ci/archive").display(),
        env!("CARGO_BIN_EXE_gcn"),
        release.display()
    );
    let packed = shell(folder.path(), &[], &archive, &[]);
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    stand_in(&programs, "cargo", "echo cargo \"$@\"");
    // Stands in for `curl -fsSL --retry 3 URL -o FILE`; the server's files are those in the folder.
    stand_in(&programs, "curl", "echo curl \"$4\" >&2; exec cp \"$RELEASE/${4##*/}\" \"$6\"");

    let install = step("Install gcn");
    let run = |reference: &str, machine: &str, release: &Path| {
        let work = tempfile::tempdir().expect("a folder");
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let (temp, path) = (text(work.path()), text(&work.path().join("path")));
        let variables = [
            ("REF", reference),
            ("SOURCE", &text(root)),
            ("RUNNER_OS", "Linux"),
            ("RUNNER_ARCH", machine),
            ("RUNNER_TEMP", &temp),
            ("GITHUB_PATH", &path),
            ("RELEASE", &text(release)),
        ];
        let output = shell(work.path(), &[&programs], &install, &variables);
        let said = [&output.stdout[..], &output.stderr]
            .map(|text| String::from_utf8_lossy(text).into_owned())
            .concat();
        let installed = std::fs::read_to_string(path).unwrap_or_default();
        let version = Command::new(Path::new(installed.trim_end()).join("gcn")).arg("--version").output();
        (output.status.success(), said, version.is_ok_and(|run| run.status.success()))
    };
    let compiled = format!("cargo install --locked --path {}", root.join("gcn-cli").display());

    let (success, said, runs) = run("v0.1.0", "X64", &release);
    assert!(success && runs && !said.contains("cargo"), "{said}");
    assert!(
        said.contains("curl https://github.com/gcn-dsl/gcn-dsl/releases/download/v0.1.0/gcn-x86_64"),
        "{said}"
    );
    for (reference, machine, release) in [
        ("main", "X64", &*release),
        ("v0.1.0", "ARM64", &release),
        ("v0.1.0", "X64", &folder.path().join("none")),
    ] {
        let (success, said, runs) = run(reference, machine, release);
        assert!(success && !runs && said.contains(&compiled), "{reference} {machine}: {said}");
    }
    // An archive with a wrong checksum is not installed, and nothing is compiled in its place.
    std::fs::write(release.join("gcn-x86_64-unknown-linux-musl.tar.gz"), "changed").expect("the archive");
    let (success, said, runs) = run("v0.1.0", "X64", &release);
    assert!(!success && !runs && !said.contains("cargo"), "{said}");
    // If `gcn` is installed, it is used.
    let present = shell(folder.path(), &[gcn_folder()], &install, &[]);
    assert!(present.status.success());
}

#[test]
fn the_hook_fails_on_findings() {
    if !has_program("bash") {
        return;
    }
    let folder = files();
    let entry = HOOK.lines().find_map(|l| l.trim().strip_prefix("entry: ")).expect("a command");
    // pre-commit appends the committed files that match the pattern.
    assert!(HOOK.contains(r"files: \.(s|amdgcn|gcn|hsaco|co)$"));
    let files = [
        ("clean/two.gcn", 0),
        ("clean/two.s", 0),
        ("broken/unwaited.gcn", 1),
        ("unread/unread.s", 2),
        ("missing.gcn", 2),
    ];
    for (file, code) in files {
        let run = shell(folder.path(), &[gcn_folder()], &format!("{entry} {file}"), &[]);
        assert_eq!(run.status.code(), Some(code), "{file}: {}", String::from_utf8_lossy(&run.stderr));
    }
}
