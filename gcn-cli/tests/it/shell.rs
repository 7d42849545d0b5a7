//! Checks that `gcn completions` and `gcn man` know every command and option that `--help` lists.

use std::process::Command;

use gcn_test_support::skip::has_program;

use crate::gcn;

/// The commands that `gcn --help` lists.
pub fn commands() -> Vec<String> {
    let help = gcn(&["--help"]).text();
    let list = help.split("Commands:\n").nth(1).expect("commands").split("\n\n").next().expect("their list");
    // A line that continues a long description is indented further.
    let names =
        list.lines().filter_map(|l| l.strip_prefix("  ")?.split(' ').next().filter(|n| !n.is_empty()));
    names.filter(|n| *n != "help").map(str::to_owned).collect()
}

#[test]
fn scripts_name_every_command_and_shells_accept_them() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = gcn(&["completions", shell]).text();
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert!(script.contains("sanitize"), "{shell}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("gcn");
    std::fs::write(&script, gcn(&["completions", "bash"]).text()).unwrap();
    let asked = format!(
        "source '{}'; COMP_WORDS=(gcn check --lev); COMP_CWORD=2; _gcn gcn --lev check; echo \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    if has_program("bash") {
        let run = Command::new("bash").args(["-c", &asked]).output().expect("bash starts");
        assert_eq!(String::from_utf8_lossy(&run.stdout).trim(), "--level");
    }
    assert!(gcn(&["completions", "tcsh"]).failure(2).contains("bash, elvish, fish, powershell, zsh"));
}

#[test]
fn each_command_has_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("new/man1");
    gcn(&["man", pages.to_str().expect("UTF-8")]).text();
    for command in commands() {
        let page = std::fs::read_to_string(pages.join(format!("gcn-{command}.1"))).expect(&command);
        assert!(page.contains(".TH") && page.contains("SYNOPSIS"), "{command}");
    }
    assert!(pages.join("gcn.1").is_file());
    let blocked = pages.join("gcn.1/deeper");
    assert!(gcn(&["man", blocked.to_str().expect("UTF-8")]).failure(2).contains("cannot write to"));
}
