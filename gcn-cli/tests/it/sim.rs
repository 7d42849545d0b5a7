//! Tests `gcn sim`: its output, the files that it writes, its exit codes, and the examples of `docs/sim.md` (`GCN_BLESS=1 cargo test -p
//! gcn-tools sim` updates them).

use std::path::{Path, PathBuf};

use gcn_test_support::stored::assert_current;

use crate::{Run, gcn};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/sim.md");
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn data(name: &str) -> String {
    format!("{DATA}/{name}")
}

/// Runs `gcn sim two_kernels.s` with these arguments.
fn sim(arguments: &[&str]) -> Run {
    let (file, spec) = (data("two_kernels.s"), data("two_kernels.json"));
    let named = |a: &&str| if *a == "SPEC" { spec.clone() } else { (*a).to_owned() };
    let mut all = vec!["sim".to_owned(), file.clone()];
    all.extend(arguments.iter().map(named));
    gcn(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The output of the command after `$ gcn`, without the elapsed time.
fn output(command: &str) -> String {
    let words = command.split_whitespace().skip(1);
    let arguments: Vec<String> =
        words.map(|w| if w.starts_with("two_kernels.") { data(w) } else { w.to_owned() }).collect();
    let text = gcn(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).text();
    text.lines().filter(|line| !line.contains("\"seconds\"")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_examples_of_the_page_are_current() {
    let page = std::fs::read_to_string(PAGE).expect("docs/sim.md");
    let mut parts = page.split("```console\n");
    let mut fresh = parts.next().unwrap_or_default().to_owned();
    let mut examples = 0;
    for part in parts {
        let (example, rest) = part.split_once("```").expect("a closed block");
        let command = example.lines().next().and_then(|l| l.strip_prefix("$ ")).expect("a command");
        fresh.push_str(&format!("```console\n$ {command}\n{}```{rest}", output(command)));
        examples += 1;
    }
    assert!(examples >= 2, "{examples}");
    assert_current(PAGE, &fresh);
}

/// A folder for this test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("gcn-tools-sim-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn spec(folder: &Path, text: &str) -> String {
    let path = folder.join("spec.json");
    std::fs::write(&path, text).expect("the spec is written");
    path.to_string_lossy().into_owned()
}

#[test]
fn buffers_are_written_back() {
    let folder = folder("out");
    let args = |out: &str| {
        let text = format!(
            r#"{{"args": {{"x": {{"buffer": "u32", "count": 4, "out": "{out}"}}, "value": {{"u32": 7}}}}}}"#
        );
        spec(&folder, &text)
    };
    let common = ["--kernel", "fill", "--grid", "1", "--workgroup", "4", "--args"];
    let run = |out: &str| sim(&[&common[..], &[&args(out)]].concat()).text();
    assert!(run("x.bin").ends_with("x: u32 [4] written to x.bin\n"));
    assert_eq!(std::fs::read(folder.join("x.bin")).unwrap(), [7, 0, 0, 0].repeat(4));
    run("x.npy");
    let npy = std::fs::read(folder.join("x.npy")).unwrap();
    assert!(npy.starts_with(b"\x93NUMPY") && npy.ends_with(&[7, 0, 0, 0].repeat(4)));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_of_two_cases() {
    let folder = folder("case");
    let of = |value: u32| {
        format!(
            r#"{{"grid": 1, "workgroup": 4, "args": {{"x": {{"buffer": "u32", "count": 4, "out": true}}, "value": {{"u32": {value}}}}}}}"#
        )
    };
    let two = spec(&folder, &format!(r#"{{"kernel": "fill", "short": {}, "long": {}}}"#, of(1), of(2)));
    for (case, value) in [("short", 1), ("long", 2)] {
        let text = sim(&["--json", "--args", &two, "--case", case]).text();
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(report["buffers"][0]["values"], serde_json::json!(vec![value; 4]), "{case}");
    }
    let unnamed = sim(&["--args", &two]).failure(1);
    assert!(unnamed.contains("choose one with --case long or --case short"), "{unnamed}");
    let plain = sim(&["--args", "SPEC", "--case", "long"]).failure(1);
    assert!(plain.contains("there is no case `long`; without --case the whole file is the spec"), "{plain}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn modes_and_reports() {
    let json = |more: &[&str]| -> serde_json::Value {
        let text = sim(&[&["--args", "SPEC", "--json"], more].concat()).text();
        serde_json::from_str(&text).expect("JSON")
    };
    for mode in
        [&[][..], &["--strict"], &["--faithful"], &["--sanitize", "all"], &["--jobs", "2"], &["--timed"]]
    {
        let report = json(mode);
        assert_eq!(report["buffers"][0]["values"], serde_json::json!(vec![42; 8]), "{mode:?}");
    }
    assert_eq!(json(&[])["instructions"], 7);
    assert!(json(&["--timed"])["timed"]["cycles"].as_u64().is_some_and(|c| c > 7));
    assert!(sim(&["--args", "SPEC", "--timed", "--simulated-cus", "0"]).failure(2).contains("`l2` or `all`"));
    // The matrix cores are idle, so the clock is the highest one.
    let timed = json(&["--timed", "--estimate-clock", "bf16"]);
    assert_eq!(timed["estimate"]["megahertz"], 2100.0);
    let cycles = timed["timed"]["cycles"].as_f64().expect("cycles");
    assert_eq!(timed["estimate"]["seconds"].as_f64(), Some(cycles / 2.1e9));
    let text = sim(&["--args", "SPEC", "--timed", "--estimate-clock", "fp8"]).text();
    assert!(text.contains("estimate for a load of fp8, not part of the model: 2100 MHz"), "{text}");
    let none = sim(&["--args", "SPEC", "--timed", "--estimate-clock", "i4"]).failure(2);
    assert!(none.contains("there are measurements of gfx942 f16, gfx942 bf16, gfx942 fp8"), "{none}");
    assert!(json(&["--timed"]).get("estimate").is_none());
    let ranges = &json(&["--timed", "--ranges"])["ranges"];
    assert_eq!(ranges["cycles"]["value"], json(&["--timed"])["timed"]["cycles"]);
    let unit =
        ranges["pipes"].as_array().and_then(|p| p.iter().find(|p| p["pipe"] == "Tex" || p["pipe"] == "Flat"));
    let busy =
        unit.map(|unit| ["low", "value", "high"].map(|end| unit["utilization"][end].as_f64().unwrap_or(0.0)));
    assert!(busy.is_some_and(|[low, value, high]| low < value && value < high), "{ranges}");
    assert!(ranges["parameters"].as_array().is_some_and(|p| p.iter().any(|p| p["name"] == "l2.latency")));
    assert_eq!(json(&["--profile"])["executed"].as_array().map(Vec::len), Some(7));
    let fidelity = &json(&["--fidelity"])["fidelity"];
    assert_eq!(fidelity[0]["opcode"], "global_store_dword");
    let text = sim(&["--args", "SPEC", "--fidelity"]).text();
    assert!(text.contains("7 opcodes, 7 exact, 0 with an assumption, 0 approximate"), "{text}");
    assert_eq!(json(&["--global", "16"])["grid"], serde_json::json!([2, 1, 1]));
    // The last workgroup is partial.
    let partial = json(&["--global", "12"]);
    assert_eq!(
        (&partial["grid"], &partial["global"]),
        (&serde_json::json!([2, 1, 1]), &serde_json::json!([12, 1, 1]))
    );
}

/// Two workgroups on two compute units, each with its half of the buffer. Either one compute unit or both are simulated with time; the
/// workgroup of the other one runs without time, unless that is disabled.
#[test]
fn compute_units_that_are_not_simulated_may_be_left_out() {
    let folder = folder("only");
    let text = std::fs::read_to_string(data("two_kernels.s")).expect("two_kernels.s");
    let body = "s_lshl_b32 s7, s2, 4\nv_lshlrev_b32_e32 v1, 2, v0\nv_add_u32_e32 v1, s7, v1";
    let text = text.replacen("v_lshlrev_b32_e32 v1, 2, v0", body, 1).replacen(
        "next_free_sgpr 7",
        "next_free_sgpr 8",
        1,
    );
    let (file, args) = (folder.join("half.s"), folder.join("half.json"));
    std::fs::write(&file, text).expect("the kernel is written");
    let spec = r#"{"kernel": "fill", "grid": 2, "workgroup": 4, "args": {"x": {"buffer": "u32", "count": 8, "out": true}, "value": {"u32": 42}}}"#;
    std::fs::write(&args, spec).expect("the spec is written");
    let run = |more: &[&str]| -> (serde_json::Value, serde_json::Value) {
        let files = [file.to_str().expect("UTF-8"), "--args", args.to_str().expect("UTF-8")];
        let all = [&["sim"], &files[..], &["--timed", "--cus", "2", "--json"], more].concat();
        let report: serde_json::Value = serde_json::from_str(&gcn(&all).text()).expect("JSON");
        (report["timed"]["simulated_cus"].clone(), report["buffers"][0]["values"].clone())
    };
    let (whole, half) = (serde_json::json!(vec![42; 8]), serde_json::json!([42, 42, 42, 42, 0, 0, 0, 0]));
    assert_eq!(run(&[]), (1.into(), whole.clone()));
    assert_eq!(run(&["--simulated-only"]), (1.into(), half));
    assert_eq!(run(&["--simulated-only", "--simulated-cus", "l2"]), (2.into(), whole));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// 1 + 2^-11 + 2^-30, rounded to f16 directly and by way of f32.
#[test]
fn mixed_precision_is_rounded_once_or_twice() {
    let folder = folder("mix");
    let text = std::fs::read_to_string(data("two_kernels.s")).expect("two_kernels.s");
    let body = "v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v0, 0x3f801000\nv_fma_mixlo_f16 v2, v0, 1.0, s6";
    let (file, args) = (folder.join("mix.s"), folder.join("mix.json"));
    std::fs::write(&file, text.replace("v_mov_b32_e32 v2, s6", body)).expect("the kernel is written");
    let spec = r#"{"kernel": "fill", "grid": 1, "workgroup": 1, "args": {"x": {"buffer": "u32", "count": 1, "out": true}, "value": {"f32": 9.313225746154785e-10}}}"#;
    std::fs::write(&args, spec).expect("the spec is written");
    let run = |more: &[&str]| {
        let common = ["sim", file.to_str().expect("UTF-8"), "--args", args.to_str().expect("UTF-8")];
        gcn(&[&common[..], more].concat()).text()
    };
    assert!(run(&[]).ends_with("x: u32 [1] = 15360\n"));
    assert!(run(&["--mix-rounded-once"]).ends_with("x: u32 [1] = 15361\n"));
    let fidelity = run(&["--fidelity"]);
    assert!(fidelity.contains("v_fma_mixlo_f16") && fidelity.contains("--mix-rounded-once"), "{fidelity}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The same run gives the same document; the elapsed time is printed only on request.
#[test]
fn a_document_is_the_same_for_the_same_run() {
    let json = |more: &[&str]| sim(&[&["--args", "SPEC", "--json"], more].concat()).text();
    assert_eq!(json(&[]), json(&["--jobs", "2"]));
    assert!(!json(&[]).contains("seconds") && json(&["--seconds"]).contains("\"seconds\""));
    assert_eq!(json(&["--jobs", "100000000"]), json(&[]), "there are at most 256 threads");
    assert!(sim(&["--args", "SPEC", "--timed", "--cus", "0"]).failure(2).contains("--cus"));
}

/// Findings are printed on standard error and, with `--json`, also in the document.
#[test]
fn findings_are_on_standard_error_and_in_the_document() {
    // A work-item accesses memory past the end of the buffer.
    let folder = folder("races");
    let args = spec(&folder, r#"{"args": {"x": {"buffer": "u32", "count": 4}, "value": {"u32": 7}}}"#);
    let common = ["--kernel", "fill", "--workgroup", "8", "--args", &args, "--sanitize", "accesses"];
    let run = |more: &[&str]| sim(&[&common[..], &["--grid", "1"], more].concat());
    let text = run(&[]);
    assert_eq!(text.code, 1, "{}", text.err);
    assert!(text.err.contains("found by sanitizers:\n  access out of bounds"), "{}", text.err);
    let out = String::from_utf8(text.out).expect("UTF-8");
    assert!(out.contains("found by sanitizers: 1 (1 access out of bounds)"), "{out}");
    let json = run(&["--json"]);
    assert!(json.code == 1 && json.err.contains("access out of bounds"), "{}", json.err);
    let report: serde_json::Value = serde_json::from_slice(&json.out).expect("JSON");
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_wrong_is_said_with_the_exit_code() {
    let several = sim(&["--args", "SPEC", "--kernel", "none"]).failure(1);
    assert!(several.contains("there is no kernel `none`; the code object has `fill`, `count`"), "{several}");
    assert!(sim(&[]).failure(1).contains("has 2 kernels; name one of `fill`, `count`"));
    let less = sim(&["--args", "SPEC", "--global", "7"]).failure(1);
    assert!(
        less.contains("a grid of [7, 1, 1] work-items is smaller than a workgroup of [8, 1, 1]"),
        "{less}"
    );
    // Invalid sizes are errors even without a spec, where they would not be used.
    for sizes in [["--grid", "0"], ["--workgroup", "8,0"], ["--global", "1,1,0"]] {
        assert!(sim(&sizes).failure(2).contains("every size must be at least 1"));
    }
    let many = sim(&["--args", "SPEC", "--grid", "100000", "--cooperative"]).failure(1);
    assert!(many.contains("a cooperative launch of 100000 workgroups: gfx942 holds"), "{many}");
    let limit = sim(&["--args", "SPEC", "--limit", "3"]).failure(1);
    assert!(limit.contains("an endless loop, or the limit is to be raised with --limit"), "{limit}");
    assert!(sim(&["--args", "nowhere.json"]).failure(2).contains("cannot read nowhere.json"));
    assert!(sim(&["--args", "SPEC", "--strict", "--faithful"]).failure(2).contains("cannot be used"));
    let folder = folder("wrong");
    let common = ["--kernel", "fill", "--grid", "2", "--workgroup", "8", "--args"];
    let run = |text: &str| sim(&[&common[..], &[&spec(&folder, text)]].concat()).failure(1);
    assert!(run("{").contains("the spec is not JSON"));
    assert!(run(r#"{"args": {"value": {"u32": 1}}}"#).contains("argument `x`: the spec has no value"));
    let beyond = run(r#"{"args": {"x": {"buffer": "u32", "count": 4}, "value": {"u32": 1}}}"#);
    assert!(beyond.contains("note: the address is 0 bytes past the 16 bytes of `x`"), "{beyond}");
    // The expected line is that of the store in the assembly file.
    let file = std::fs::read_to_string(data("two_kernels.s")).unwrap();
    let store = file.lines().position(|line| line.contains("global_store_dword")).unwrap() + 1;
    assert!(beyond.contains(&format!("two_kernels.s:{store} (workgroup")), "{beyond}");
    std::fs::remove_dir_all(&folder).unwrap();
}
