//! `gcn new`: the project compiles, and its test passes.

use std::path::Path;
use std::process::Command;

use crate::gcn;

#[test]
fn a_new_project_passes_its_own_test() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("my-kernels");
    let said = gcn(&["new", project.to_str().expect("UTF-8"), "--target", "gfx90a"]).text();
    assert!(said.contains("cargo test"), "{said}");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    std::fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).expect("a lock file");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--offline", "--quiet"]).current_dir(&project);
    // Nobody debugs it, and there is less to write.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
    // What was built stays for the next run.
    cargo.env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/new"));
    let run = cargo.output().expect("cargo starts");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
    assert!(!said.contains("warning:"), "{said}");
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
