//! Tests `gcn check --sarif`. The format is that of the OASIS standard *SARIF 2.1.0*; `sarif-multitool validate` of Microsoft's npm package
//! accepts the output of these runs.

use serde_json::{Value, json};

use crate::{TWO_KERNELS, gcn, gcn_with};

const BROKEN: &str = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"
\tglobal_load_dword v2, v0, s[2:3]
\tv_add_u32_e32 v3, v2, v2
\tv_bad v1
\ts_endpgm
";

fn log(code: i32, out: &[u8]) -> Value {
    let log: Value = serde_json::from_slice(out).expect("JSON");
    assert_eq!(log["version"], "2.1.0", "exit code {code}");
    log["runs"][0].clone()
}

#[test]
fn findings_stand_at_their_lines_with_their_rules() {
    let run = gcn_with(&["check", "-", "--sarif"], BROKEN.as_bytes());
    assert_eq!(run.code, 1);
    let run = log(1, &run.out);
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 2, "{results:?}");
    let line = |result: &Value| result["locations"][0]["physicalLocation"]["region"]["startLine"].clone();
    assert_eq!(results[0]["level"], "error");
    assert_eq!(line(&results[0]), 3);
    assert_eq!(results[0]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 2, "the load");
    assert_eq!((&results[1]["ruleId"], line(&results[1])), (&json!("assembly"), json!(4)));
    // Section 3.27.5 of the standard: the rule of a result must be one of the driver's rules.
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in results {
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]), "{result}");
    }
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn objects_name_function_and_offset_and_unreadable_files_fail_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let text = BROKEN.replace("\tv_bad v1\n", "").replace("\tglobal", "k:\n\tglobal");
    let text = format!("{text}.type k,@function\n.globl k\n");
    std::fs::write(path("a b.s"), text).unwrap();
    gcn(&["asm", &path("a b.s"), "-o", &path("a b.hsaco")]).text();
    let run = gcn(&["check", "--sarif", "--level", "documented", &path("a b.hsaco"), &path("nothing.s")]);
    assert!(run.err.contains("nothing.s"), "{}", run.err);
    let run = log(run.code, &run.out);
    let place = &run["results"][0]["locations"][0];
    let uri = place["physicalLocation"]["artifactLocation"]["uri"].as_str().expect("a URI");
    assert!(uri.starts_with("file:///") && uri.ends_with("/a%20b.hsaco"), "{uri}");
    assert_eq!(place["logicalLocations"][0]["fullyQualifiedName"], "k+0x8");
    assert_eq!(place["logicalLocations"][0]["properties"], json!({ "section": ".text", "offset": 8 }));
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn a_clean_file_has_a_log_without_results() {
    let run = gcn_with(&["check", "-", "--sarif", "--level", "documented"], TWO_KERNELS.as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(log(0, &run.out)["results"], json!([]));
}
