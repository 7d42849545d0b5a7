//! Tests `gcn new`: the generated project compiles, and its test passes.

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
    let library = compiled::library("gcn_dsl").expect("this package depends on gcn-dsl for its tests");
    passes_with(&library, &project);
}

/// On a CI runner the folder that `Cargo.toml` names does not exist; the steps of the workflow check it out.
#[test]
fn the_workflow_has_the_library_that_the_project_depends_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("my-kernels");
    gcn(&["new", project.to_str().expect("UTF-8")]).text();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let manifest = project.join("Cargo.toml");
    let made = std::fs::read_to_string(&manifest).expect("a manifest");
    let elsewhere = made.replace(workspace.to_str().expect("UTF-8"), "/home/somebody/gcn-dsl");
    assert_ne!(elsewhere, made, "{made}");
    std::fs::write(&manifest, elsewhere).expect("a manifest");

    let workflow = std::fs::read_to_string(project.join(".github/workflows/ci.yml")).expect("a workflow");
    let after = |start: &str| {
        let lines =
            workflow.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix(start));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    let [checkout] = &after("path: ")[..] else { panic!("one folder for the library: {workflow}") };
    std::os::unix::fs::symlink(workspace, project.join(checkout)).expect("a link");
    std::fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).expect("a lock file");
    let [add] = &after("run: cargo add ")[..] else { panic!("one step that adds the library: {workflow}") };
    let mut cargo = Command::new(env!("CARGO"));
    succeeds(cargo.args(["add", "--offline"]).args(add.split(' ')).current_dir(&project));
    let tree = succeeds(Command::new(env!("CARGO")).args(["tree", "--offline"]).current_dir(&project));
    assert!(tree.contains(&format!("my-kernels/{checkout}/gcn-dsl)")), "{tree}");
    // The action comes from the same checkout; `tests/it/ci.rs` runs its steps.
    assert!(
        after("uses: ").iter().any(|action| project.join(action).join("action.yml").is_file()),
        "{workflow}"
    );
}

/// Runs a program that must succeed without warnings; returns its output.
fn succeeds(command: &mut Command) -> String {
    let run = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && !said.contains("warning:"), "{said}");
    said
}

/// Checks that cargo can resolve the project's dependencies. The project is compiled with rustc against the library that is already built,
/// because cargo would compile the library again.
fn passes_with(library: &Path, project: &Path) {
    // `cargo metadata` would need the packages of all platforms, but a build downloads only those of its own.
    succeeds(Command::new(env!("CARGO")).args(["tree", "--offline", "--quiet"]).current_dir(project));
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

#[test]
fn names_that_cargo_refuses_and_folders_that_exist_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["1st", "a b", "ü", "gcn-dsl", "fn", "yield", "async", "gen", "Self"] {
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
