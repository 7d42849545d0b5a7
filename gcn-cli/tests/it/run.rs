//! Tests how `gcn run` starts a program. The library itself is tested in `gcn-hip`.
#![cfg(unix)]

use crate::gcn;

/// Any existing file: the shell, which takes the place of the program, does not load the library.
const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

fn shell(options: &[&str], script: &str) -> crate::Run {
    gcn(&[&["run", "--library", LIBRARY], options, &["--", "sh", "-c", script]].concat())
}

#[test]
fn the_program_finds_the_library_by_the_names_of_hip_5_6_and_7() {
    let script = "cd ${LD_LIBRARY_PATH%%:*} && for f in libamdhip64.so*; do echo $f; readlink -f $f; done";
    let out = shell(&[], script).text();
    let mut expected = String::new();
    for name in ["", ".5", ".6", ".7"] {
        expected += &format!("libamdhip64.so{name}\n{LIBRARY}\n");
    }
    assert_eq!(out, expected);
}

#[test]
fn options_become_variables_and_the_rest_is_the_programs() {
    let script = "echo $GCN_HIP_TARGET $GCN_HIP_MODE $GCN_HIP_SANITIZE $GCN_HIP_DEVICES $GCN_HIP_PARALLEL";
    let options = ["--target", "gfx90a", "--strict", "--sanitize", "races", "--devices", "2", "--sequential"];
    assert_eq!(shell(&options, script).text(), "gfx90a strict races 2 0\n");
    let out = gcn(&["run", "--library", LIBRARY, "--", "echo", "--strict", "-x"]).text();
    assert_eq!(out, "--strict -x\n");
}

#[test]
fn the_exit_code_is_the_programs() {
    assert_eq!(shell(&[], "exit 3").code, 3);
    assert_eq!(shell(&[], "kill -9 $$").code, 128 + 9);
    let error = gcn(&["run", "--library", LIBRARY, "--", "/nowhere/none"]).failure(2);
    assert!(error.contains("cannot start /nowhere/none"), "{error}");
    let error = gcn(&["run", "--library", "/nowhere/lib.so", "--", "true"]).failure(2);
    assert!(error.contains("cargo build --release -p gcn-hip"), "{error}");
}

/// The script writes the lines that the library appends for each launch.
#[test]
fn launches_are_reported_and_summed_by_kernel() {
    let line = r#"{\"kernel\":\"add\",\"cycles\":5}"#;
    let script = format!("for n in 1 2; do echo \"{line}\" >> $GCN_HIP_REPORT; done; exit 1");
    let path = std::env::temp_dir().join(format!("gcn-run-{}.json", std::process::id()));
    let run = shell(&["--timed", "--report", path.to_str().unwrap()], &script);
    assert_eq!(run.code, 1);
    let table: Vec<&str> = run.err.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(table, ["2", "10", "add"]);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!((&report["exit_code"], report["launches"].as_array().unwrap().len()), (&1.into(), 2));
    std::fs::remove_file(path).unwrap();
}

/// Lines that the library appends to this file are findings.
#[test]
fn findings_have_an_exit_code_of_their_own_where_the_program_says_success() {
    let find = |end: &str| format!("echo one >> $GCN_HIP_FINDINGS; exit {end}");
    for option in [["--strict", "--trace"], ["--sanitize", "races"]] {
        assert_eq!(shell(&option, &find("0")).code, 3);
        assert_eq!(shell(&option, &find("5")).code, 5);
        assert_eq!(shell(&option, "true").code, 0);
    }
    assert_eq!(shell(&[], "echo \"[$GCN_HIP_FINDINGS]\"").text(), "[]\n");
}

#[test]
fn signals_go_to_the_program_whose_end_is_waited_for() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    for (signal, expected) in [("TERM", 41), ("INT", 42), ("USR1", 43)] {
        // The script ends by itself if the test fails, instead of running for ever.
        let script = "trap 'exit 41' TERM; trap 'exit 42' INT; trap 'exit 43' USR1; echo ready; \
            i=0; while [ $i -lt 1200 ]; do i=$((i + 1)); sleep 0.05; done";
        let mut run = Command::new(env!("CARGO_BIN_EXE_gcn"))
            .args(["run", "--library", LIBRARY, "--", "sh", "-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(run.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        // Every shell has `kill` as a built-in; not every machine has it as a program.
        let kill = Command::new("sh").args(["-c", &format!("kill -{signal} {}", run.id())]).status().unwrap();
        assert!(kill.success());
        assert_eq!(run.wait().unwrap().code(), Some(expected), "{signal}");
    }
}
