//! Tests `gcn annotate` with samples generated from the public description of rocprofv3's files.

use std::path::Path;

use gcn_test_support::browser::{self, Window};
use serde_json::Value;

use crate::{gcn, gcn_with};

/// A file of the book's examples.
fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/examples").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

fn read(name: &str) -> String {
    std::fs::read_to_string(example(name)).expect("an example")
}

/// The profile as JSON for samples passed on standard input.
fn profile(samples: &str) -> Value {
    let text = gcn_with(&["annotate", &example("sum.s"), "-", "--json"], samples.as_bytes()).text();
    serde_json::from_str(&text).expect("JSON")
}

/// The error message for samples that do not fit the code.
fn problem(samples: &str, more: &[&str]) -> String {
    let sum = example("sum.s");
    let arguments = [&["annotate", &sum, "-"], more].concat();
    gcn_with(&arguments, samples.as_bytes()).failure(1)
}

/// The number of samples and the loss of the instruction at an address.
fn at(profile: &Value, address: u64) -> [u64; 2] {
    let all = profile["instructions"].as_array().expect("a list");
    let line = all.iter().find(|line| line["address"] == address).expect("the instruction");
    [&line["samples"], &line["issued"]].map(|n| n.as_u64().expect("a number"))
}

/// The example files are generated with 60 samples, 30 of them at the wait in the loop.
#[test]
fn every_form_gives_the_samples_that_are_in_it() {
    for name in ["made-stochastic.json", "made-stochastic.csv", "made-host-trap.csv"] {
        let profile = profile(&read(name));
        assert_eq!(
            (&profile["samples"], &profile["outside"], &profile["elsewhere"]),
            (&60.into(), &0.into(), &0.into()),
            "{name}"
        );
        assert_eq!(at(&profile, 0x132c), [30, 0], "{name}");
        let stochastic = name.contains("stochastic");
        assert_eq!(at(&profile, 0x1330), [6, if stochastic { 4 } else { 0 }], "{name}");
        assert_eq!(at(&profile, 0x133c), [3, 0], "{name}");
        assert_eq!(profile["instructions"][0]["address"], 0x132c, "{name}");
        let wait = if stochastic { 35 } else { 0 };
        assert_eq!(profile["reasons"]["WAITCNT"], wait, "{name}");
        assert_eq!(profile["dispatches"], 2);
    }
}

#[test]
fn the_arbiters_state_is_in_json_only() {
    let json = profile(&read("made-stochastic.json"));
    let arbiter = &json["arbiter"];
    assert_eq!(arbiter["samples"], 60);
    let lost: u64 =
        ["lost_to_issue", "lost_to_stall", "lost_to_none"].iter().filter_map(|n| arbiter[n].as_u64()).sum();
    assert_eq!(lost, json["reasons"]["ARBITER_NOT_WIN"].as_u64().unwrap());
    // Vector memory is the sixth pipeline. It refused the waves of three samples.
    assert!(arbiter["pipes"][5]["backpressured"].as_u64() >= Some(3));
    assert_eq!(profile(&read("made-stochastic.csv"))["arbiter"]["samples"], 0);
}

#[test]
fn the_timed_model_stands_beside() {
    let run = gcn(&[
        "annotate",
        &example("sum.s"),
        &example("made-stochastic.json"),
        "--args",
        &example("sum.json"),
        "--json",
    ]);
    let profile: Value = serde_json::from_str(&run.text()).unwrap();
    let wait = &profile["instructions"][0];
    assert!(wait["model"].as_f64().unwrap() > 0.5, "{wait}");
    assert_eq!(wait["model_reasons"][0][0], "WAITCNT");
}

#[test]
fn dispatches_can_be_chosen() {
    let text =
        gcn(&["annotate", &example("sum.s"), &example("made-stochastic.json"), "--dispatch", "1"]).text();
    assert!(
        text.starts_with(
            "30 samples by stochastic sampling of 1 dispatches; 0 at no instruction of the code, 30 of other"
        ),
        "{text}"
    );
    assert!(problem(&read("made-stochastic.json"), &["--dispatch", "9"]).contains("no sample is left"));
}

#[test]
fn a_page_has_every_instruction_and_refers_to_nothing() {
    let page = gcn(&["annotate", &example("sum.s"), &example("made-stochastic.json"), "-o", "-"]).text();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("s_waitcnt vmcnt(0)") && page.contains("sum.s:17"));
    assert_eq!(page.matches("<tr data-loss").count(), 15);
    assert!(!page.contains("http") && !page.contains("src="));
    let wrong =
        gcn(&["annotate", &example("sum.s"), &example("made-stochastic.json"), "-o", "x.txt"]).failure(2);
    assert!(wrong.contains("must end in .html"), "{wrong}");
}

#[test]
fn nothing_of_the_page_is_cut_off() {
    let Some(chromium) = browser::chromium() else { return };
    let page = gcn(&["annotate", &example("sum.s"), &example("made-stochastic.json"), "-o", "-"]).text();
    let folder = tempfile::tempdir().expect("a folder");
    // Chromium's windows are at least 500 pixels wide.
    for (width, dark) in [(1300, false), (500, true)] {
        let window = Window { size: (width, 900), dark };
        let script = "report(`${document.documentElement.scrollWidth <= innerWidth} ${innerWidth} ${document.body.innerText}`)";
        let seen = browser::ask(&chromium, folder.path(), &page, script, window);
        assert!(
            seen.starts_with(&format!("true {width} ")) && seen.contains("s_waitcnt vmcnt(0)"),
            "{width}: {seen}"
        );
    }
}

#[test]
fn code_objects_are_told_apart_by_their_instructions() {
    let samples = read("made-stochastic.json");
    // Half of the samples belong to an object with other instructions at these addresses.
    let (first, rest) = samples.split_at(samples.len() / 2);
    let several = format!("{first}{}", rest.replace("\"code_object_id\":2", "\"code_object_id\":5"));
    let message = problem(&several, &[]);
    assert!(message.contains("choose one by --code-object: 2 (") && message.contains("5 ("), "{message}");
    let elsewhere = format!(
        "{first}{}",
        rest.replace(
            "\"code_object_id\":2,\"code_object_offset\":",
            "\"code_object_id\":5,\"code_object_offset\":9"
        )
    );
    let chosen = profile(&elsewhere);
    let count = |key: &str| chosen[key].as_u64().unwrap();
    assert_eq!(count("samples") + count("elsewhere"), 60);
    assert!(count("elsewhere") > 20);
    let message = problem(&samples, &["--code-object", "7"]);
    assert!(message.contains("no sample is of code object 7; there are 2 (60 samples)"), "{message}");
    let message = problem(&read("made-host-trap.csv"), &["--code-object", "2"]);
    assert!(message.contains("CSV files do not number code objects"), "{message}");
}

#[test]
fn samples_that_do_not_fit_are_refused_or_counted() {
    let samples = read("made-stochastic.json");
    let one = samples.replacen("\"code_object_offset\":4908", "\"code_object_offset\":99999", 1);
    assert_eq!(profile(&one)["outside"], 1);
    let all = samples.replace("\"code_object_offset\":", "\"code_object_offset\":9");
    assert!(
        problem(&all, &[])
            .contains("no sample lies at an instruction of this code object, the first is at 0x")
    );
    let text = read("made-host-trap.csv")
        .replace("\"v_", "\"w_")
        .replace("\"s_", "\"t_")
        .replace("\"global", "\"local");
    assert!(
        problem(&text, &[]).contains("this code object has none of the sampled instructions, the first is `")
    );
}

#[test]
fn broken_files_are_refused_with_the_place() {
    let csv = read("made-stochastic.csv");
    let rows = csv.lines().count();
    // Cuts the file in the middle of a cell, and between cells.
    let last = csv.trim_end().len();
    assert!(problem(&csv[..last - 10], &[]).contains(&format!("line {rows}: ")));
    assert!(problem(&csv.replacen(",4\n", "\n", 1), &[]).contains("the header has 10"));
    let json = read("made-stochastic.json");
    assert!(problem(&json[..json.len() / 2], &[]).contains("not the JSON of rocprofv3's PC sampling"));
    assert!(problem("", &[]).contains("the file is empty"));
    assert!(problem("{}", &[]).contains("there is no sample in it"));
    let missing = gcn(&["annotate", &example("sum.s"), "no-such.csv"]).failure(2);
    assert!(missing.contains("cannot read no-such.csv"), "{missing}");
}
