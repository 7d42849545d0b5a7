//! Tests `gcn rules`, and `docs/hazards.md`, which it generates. `GCN_BLESS=1 cargo test -p gcn-tools docs` updates the page.

use gcn_test_support::stored::assert_current;

use crate::gcn;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/hazards.md");

#[test]
fn the_docs_of_the_rules_are_current() {
    let fresh = gcn(&["rules", "--markdown"]).text();
    assert_current(PAGE, &fresh);
}

/// The numbers are those of CDNA3 ISA table 37, case 106: 5, 7, 11 and 19 wait states after 2, 4, 8 and 16 passes.
#[test]
fn a_rule_is_told_in_full() {
    let text = gcn(&["rules", "cdna3.106", "--target", "gfx942"]).text();
    assert!(text.contains("passes + 3 = 5 after 2, 7 after 4, 11 after 8, 19 after 16 passes"), "{text}");
    for part in
        ["read after write (RAW)", "CDNA3 ISA table 37", "XDL", "manual requires it; LLVM requires it"]
    {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert_eq!(text.lines().filter(|l| !l.starts_with(' ')).count(), 1, "an exact name is one rule:\n{text}");
}

#[test]
fn json_has_every_rule_and_the_targets_differ() {
    let rules = |arguments: &[&str]| -> Vec<serde_json::Value> {
        serde_json::from_str(&gcn(arguments).text()).expect("a JSON array")
    };
    let all = rules(&["rules", "--json"]);
    let listed = gcn(&["rules"]).text();
    for rule in &all {
        let id = rule["id"].as_str().expect("a name");
        assert!(listed.contains(&format!("  {id} ")), "{id}");
        assert!(rule["citation"].as_str().is_some_and(|c| !c.is_empty()), "{id}");
        // A wait that LLVM inserts where the hazard cannot occur is in LLVM's rule set only.
        assert!(rule["rule_sets"].as_array().is_some_and(|s| s[0] == "safe" || s[..] == ["llvm"]), "{id}");
    }
    let ids = |rules: &[serde_json::Value]| rules.iter().map(|r| r["id"].to_string()).collect::<Vec<_>>();
    let early = ids(&rules(&["rules", "--json", "--target", "gfx900"]));
    assert!(early.len() < all.len());
    assert!(
        early.iter().all(|id| !id.contains("cdna3.10") || id == "\"cdna3.10\""),
        "no matrix rules on gfx900"
    );
    let counters = rules(&["rules", "--json", "waitcnt", "barrier"]);
    assert!(ids(&counters).contains(&"\"waitcnt.raw\"".to_owned()));
    assert!(counters.iter().all(|r| r["pair"].is_null()));
}

#[test]
fn a_wrong_rule_gets_the_nearest() {
    assert!(gcn(&["rules", "mi100.mfma-srrc"]).failure(1).contains("`mi100.mfma-srcc`"));
    let error = gcn(&["rules", "cdna3.106", "--target", "gfx900"]).failure(1);
    assert!(error.contains("gfx90a, gfx942, gfx9-4-generic, gfx950"), "{error}");
    gcn(&["rules", "--markdown", "--json"]).failure(2);
}

/// The wait states before an f64 result is stored: 26 by extrapolation, 18 by CDNA3 ISA table 37 and by LLVM on gfx950.
#[test]
fn rule_sets_and_single_rules_are_chosen_alike_by_every_command() {
    let source = b"v_mfma_f64_16x16x4_f64 v[8:15], v[0:1], v[2:3], v[8:15]\nglobal_store_dword v[4:5], v8, off\ns_endpgm\n";
    let states = |more: &[&str]| {
        let fixed = crate::gcn_with(&[&["fix", "-", "--target", "gfx950"], more].concat(), source).text();
        let nops = fixed.lines().filter_map(|l| l.trim().strip_prefix("s_nop "));
        nops.map(|n| n.parse::<u32>().expect("a number") + 1).sum::<u32>()
    };
    assert_eq!(states(&[]), 26);
    for set in ["fast", "manual", "llvm"] {
        assert_eq!(states(&["--rules", set]), 18, "{set}");
    }
    assert_eq!(states(&["--rules", "llvm", "--with", "cdna3.120.gfx950"]), 26);
    assert_eq!(states(&["--without", "cdna3.120.gfx950", "--without", "cdna3.120"]), 0);
    for command in ["fix", "check", "explain", "mutate", "evidence"] {
        let run = |more: &[&str]| {
            crate::gcn_with(
                &[&[command, "-", "--target", "gfx950", "--rules", "fast"], more].concat(),
                source,
            )
        };
        let error = run(&["--without", "cdna3.12O"]).failure(2);
        assert!(error.contains("there is no rule `cdna3.12O`; near it are cdna3.12, "), "{command}: {error}");
    }
    let found =
        |more: &[&str]| crate::gcn_with(&[&["check", "-", "--target", "gfx950"], more].concat(), source).out;
    assert!(String::from_utf8_lossy(&found(&[])).contains("cdna3.120.gfx950"));
    assert!(!String::from_utf8_lossy(&found(&["--rules", "fast"])).contains("cdna3.120.gfx950"));
}
