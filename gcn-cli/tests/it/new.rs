//! `gcn new`: the project compiles, and its test passes.

use std::path::Path;
use std::process::Command;

use gcn_test_support::compiled;

use crate::gcn;

#[test]
fn a_new_project_passes_its_own_test() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("my-kernels");
    let said = gcn(&["new", project.to_str().expect("UTF-8"), "--target", "gfx90a"]).text();
    assert!(said.contains("cargo test"), "{said}");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    std::fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).expect("a lock file");
    match compiled::library("gcn_dsl") {
        Some(library) => passes_with(&library, &project),
        None => passes_with_cargo(&project),
    }
}

/// Runs a program that must succeed and warn of nothing; returns what it prints.
fn succeeds(command: &mut Command) -> String {
    let run = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && !said.contains("warning:"), "{said}");
    said
}

/// cargo resolves the dependency; rustc compiles the project with the library as it is, which cargo would compile once more.
fn passes_with(library: &Path, project: &Path) {
    succeeds(
        Command::new(env!("CARGO"))
            .args(["metadata", "--offline", "--format-version=1"])
            .current_dir(project),
    );
    let rustc = |kind: &[&str], source: &str| {
        let mut rustc = compiled::rustc_with("gcn_dsl", library);
        rustc.args(["--out-dir=.", "-L."]).current_dir(project).args(kind).arg(source);
        succeeds(&mut rustc);
    };
    rustc(&["--crate-type=lib", "--crate-name=my_kernels"], "src/lib.rs");
    rustc(&["--extern=my_kernels"], "src/main.rs");
    rustc(&["--extern=my_kernels", "--test"], "tests/axpy.rs");
    assert!(succeeds(&mut Command::new(project.join("axpy"))).contains("1 passed"));
    assert!(succeeds(Command::new(project.join("main")).current_dir(project)).contains("y[999] = 1999"));
}

fn passes_with_cargo(project: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--offline", "--quiet"]).current_dir(project);
    // Nobody debugs it, and there is less to write.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
    // What was built stays for the next run.
    cargo.env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/new"));
    assert!(succeeds(&mut cargo).contains("1 passed"));
}

#[test]
fn names_that_cargo_refuses_and_folders_that_exist_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["1st", "a b", "ü", "gcn-dsl"] {
        let path = folder.path().join(name);
        let error = gcn(&["new", path.to_str().expect("UTF-8")]).failure(2);
        assert!(error.contains(&format!("`{name}` cannot be the name of a package")), "{error}");
        assert!(!path.exists());
    }
    let here = folder.path().join("here");
    std::fs::create_dir(&here).expect("a folder");
    let error = gcn(&["new", here.to_str().expect("UTF-8")]).failure(2);
    assert!(error.contains("exists already"), "{error}");
    assert_eq!(std::fs::read_dir(&here).expect("a folder").count(), 0);
}
