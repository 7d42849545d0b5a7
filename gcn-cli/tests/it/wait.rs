//! Tests `gcn wait`. The expected immediates are LLVM's (`llvm-mc -show-encoding`); the layout is that of LLVM's AMDGPU guide.

use crate::gcn;

/// Waits, with the immediates that LLVM encodes.
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
    // As separate arguments, without quotation marks.
    assert_eq!(json(&["wait", "--json", "vmcnt(4)", "lgkmcnt(0)"])["immediate"], 0x74);
    assert_eq!(json(&["wait", "0x0074", "--json"])["immediate"], 0x74);
}

#[test]
fn the_text_says_what_is_waited_for() {
    let text = gcn(&["wait", "3952", "--target", "gfx90a"]).text();
    assert!(text.starts_with("s_waitcnt vmcnt(0)\n  immediate 3952 (0x0f70) on gfx90a\n"), "{text}");
    assert!(text.contains("vmcnt     0 of 63: until nothing is outstanding"), "{text}");
    assert!(text.contains("lgkmcnt  15 of 15: not waited for"), "{text}");
    // Bits 7, 12 and 13 do not belong to any counter.
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
    assert!(error.contains("instructions of their own") && error.contains("s_wait_loadcnt"), "{error}");
    for wait in ["s_waitcnt vmcnt(0)", "s_waitcnt 0"] {
        let error = gcn(&["wait", wait, "--target", "gfx1201"]).failure(1);
        assert!(error.contains("`s_waitcnt` waits for nothing on gfx1201"), "{error}");
        assert!(error.contains("s_wait_loadcnt") && error.contains("dscnt"), "{error}");
    }
}

/// The immediates of `s_waitcnt vmcnt(4) lgkmcnt(2)` according to llvm-mc 22 (`-show-encoding`).
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

/// Instructions with LLVM's immediates (`llvm-mc-22 -show-encoding`), and the counters for which they wait.
const INSTRUCTIONS: [(&str, &str, u16, &str); 14] = [
    ("gfx1201", "s_wait_loadcnt 0x3e", 0x3e, "loadcnt=62"),
    ("gfx1201", "s_wait_loadcnt 0x3f", 0x3f, ""),
    ("gfx1201", "s_wait_kmcnt 0x0", 0, "kmcnt=0"),
    ("gfx1201", "s_wait_expcnt 0x0", 0, "expcnt=0"),
    ("gfx1201", "s_wait_bvhcnt 0x0", 0, "bvhcnt=0"),
    ("gfx1201", "s_wait_loadcnt_dscnt 0x101", 0x101, "loadcnt=1 dscnt=1"),
    ("gfx1201", "s_wait_storecnt_dscnt 0x3f02", 0x3f02, "dscnt=2"),
    ("gfx1201", "s_wait_alu depctr_va_vdst(0)", 0x0f9f, "depctr_va_vdst=0"),
    ("gfx1201", "s_wait_alu depctr_vm_vsrc(0)", 0xff83, "depctr_vm_vsrc=0"),
    ("gfx1201", "s_wait_alu depctr_sa_sdst(0)", 0xff9e, "depctr_sa_sdst=0"),
    ("gfx1100", "s_waitcnt_depctr depctr_va_vcc(0)", 0xff9d, "depctr_va_vcc=0"),
    ("gfx1030", "s_waitcnt_vscnt null, 0x0", 0, "vscnt=0"),
    ("gfx1151", "s_waitcnt_lgkmcnt null, 0x3", 3, "lgkmcnt=3"),
    ("gfx1010", "s_waitcnt_expcnt null, 0x0", 0, "expcnt=0"),
];

#[test]
fn instructions_of_rdna_are_read_and_written() {
    for (target, text, immediate, waits) in INSTRUCTIONS {
        let read = json(&["wait", text, "--target", target, "--json"]);
        assert_eq!((&read["text"], &read["immediate"]), (&text.into(), &immediate.into()));
        assert_eq!(read["unused_bits"], 0);
        let counters = read["counters"].as_array().expect("counters").iter();
        let waited = counters.filter(|c| c["waits"] == true);
        let waited: Vec<String> =
            waited.map(|c| format!("{}={}", c["counter"].as_str().expect("a name"), c["value"])).collect();
        assert_eq!(waited.join(" "), waits, "{text}");
        // The same instruction with its immediate as a number.
        let mnemonic = text.split(' ').next().expect("a mnemonic");
        let null = if text.contains("null") { " null," } else { "" };
        let number = format!("{mnemonic}{null} {immediate:#x}");
        assert_eq!(json(&["wait", &number, "--target", target, "--json"]), read);
    }
    let of_counters = |text| gcn(&["wait", text, "--target", "gfx1201"]).text();
    assert!(of_counters("loadcnt(3) dscnt(0)").starts_with("s_wait_loadcnt_dscnt 0x300\n"));
    assert!(of_counters("storecnt(1), kmcnt(0)").contains("s_wait_storecnt 0x1\n"));
    let of_rdna3 = |text| gcn(&["wait", text, "--target", "gfx1100"]).text();
    assert!(of_rdna3("vscnt(2)").starts_with("s_waitcnt_vscnt null, 0x2\n"));
    let both = of_rdna3("vscnt(0) vmcnt(4)");
    assert!(both.contains("s_waitcnt vmcnt(4)\n") && both.contains("s_waitcnt_vscnt null, 0x0\n"), "{both}");
    assert!(of_rdna3("depctr_va_vdst(0)").contains("immediate 3999 (0x0f9f)"));
    assert!(of_counters("depctr_sa_sdst(0)").starts_with("s_wait_alu depctr_sa_sdst(0)\n"));
    for (given, message) in [
        ("vmcnt(0)", "`vmcnt(0)` is not a counter of gfx12"),
        ("loadcnt(64)", "loadcnt is from 0 to 63"),
        ("5", "write which, as in `s_wait_loadcnt 0x5`"),
        ("s_nop 0", "is no instruction that waits"),
    ] {
        let error = gcn(&["wait", given, "--target", "gfx1201"]).failure(1);
        assert!(error.contains(message), "{error}");
    }
    assert!(
        gcn(&["wait", "loadcnt(0) kmcnt(0)", "--target", "gfx1201", "--json"])
            .failure(1)
            .contains("ask for one")
    );
}
