//! `gcn wait`. The immediates are LLVM's (`llvm-mc -show-encoding`), the layout is that of the LLVM AMDGPU
//! guide.

use crate::gcn;

/// Waits with LLVM's immediates.
const WAITS: [(&str, u16); 8] = [
    ("vmcnt(0)", 0x0f70),
    ("lgkmcnt(0)", 0xc07f),
    ("expcnt(0)", 0xcf0f),
    ("vmcnt(0) lgkmcnt(0)", 0x0070),
    ("vmcnt(0) expcnt(0) lgkmcnt(0)", 0x0000),
    ("vmcnt(4) lgkmcnt(0)", 0x0074),
    ("vmcnt(16) expcnt(5)", 0x4f50),
    ("vmcnt(62) lgkmcnt(14)", 0xce7e),
];

fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&gcn(arguments).text()).expect("JSON")
}

#[test]
fn immediates_and_counters_both_ways() {
    for target in ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"] {
        for (text, immediate) in WAITS {
            let encoded = json(&["wait", text, "--target", target, "--json"]);
            assert_eq!(encoded["immediate"], immediate, "{text}");
            let decoded = json(&["wait", &immediate.to_string(), "--target", target, "--json"]);
            assert_eq!(decoded["text"], format!("s_waitcnt {text}"));
            assert_eq!(decoded, encoded);
        }
    }
}

#[test]
fn every_spelling_of_a_list_is_taken() {
    for text in [
        "vmcnt(4) lgkmcnt(0)",
        "vmcnt(4) & lgkmcnt(0)",
        "lgkmcnt(0), vmcnt(4)",
        "s_waitcnt vmcnt(4)&lgkmcnt(0)",
    ] {
        assert_eq!(json(&["wait", text, "--json"])["immediate"], 0x74, "{text}");
    }
    // Without quotation marks.
    assert_eq!(json(&["wait", "--json", "vmcnt(4)", "lgkmcnt(0)"])["immediate"], 0x74);
    assert_eq!(json(&["wait", "0x0074", "--json"])["immediate"], 0x74);
}

#[test]
fn the_text_says_what_is_waited_for() {
    let text = gcn(&["wait", "3952", "--target", "gfx90a"]).text();
    assert!(text.starts_with("s_waitcnt vmcnt(0)\n  immediate 3952 (0x0f70) on gfx90a\n"), "{text}");
    assert!(text.contains("vmcnt     0 of 63: until nothing is outstanding"), "{text}");
    assert!(text.contains("lgkmcnt  15 of 15: not waited for"), "{text}");
    // Bits 7, 12 and 13 belong to no counter.
    assert!(gcn(&["wait", "0x3ff0"]).text().contains("bits 0x3080 are set but unused"));
}

#[test]
fn what_is_out_of_range_is_refused_with_the_range() {
    for (wait, range) in
        [("vmcnt(64)", "63"), ("lgkmcnt(16)", "15"), ("expcnt(8)", "7"), ("65536", "65535"), ("-1", "65535")]
    {
        let error = gcn(&["wait", wait]).failure(1);
        assert!(error.contains(range), "{error}");
    }
    let error = gcn(&["wait", "vscnt(0)"]).failure(1);
    assert!(error.contains("vmcnt, expcnt and lgkmcnt"), "{error}");
    gcn(&["wait", "0x"]).failure(1);
    gcn(&["wait", ""]).failure(1);
    gcn(&["wait"]).failure(2);
    let error = gcn(&["wait", "0", "--target", "gfx1201"]).failure(1);
    assert!(error.contains("no `s_waitcnt`") && error.contains("s_wait_loadcnt"), "{error}");
}

/// The immediates of `s_waitcnt vmcnt(4) lgkmcnt(2)`; llvm-mc 22 -show-encoding.
const RDNA: [(&str, u16); 2] = [("gfx1030", 0x0274), ("gfx1100", 0x1027)];

#[test]
fn rdna_has_its_own_immediates() {
    for (target, immediate) in RDNA {
        assert_eq!(
            json(&["wait", "vmcnt(4) lgkmcnt(2)", "--target", target, "--json"])["immediate"],
            immediate
        );
        let decoded = json(&["wait", &immediate.to_string(), "--target", target, "--json"]);
        assert_eq!(decoded["text"], "s_waitcnt vmcnt(4) lgkmcnt(2)");
        assert_eq!(decoded["unused_bits"], 0);
    }
}
