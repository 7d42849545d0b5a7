//! `gcn rules`, and `docs/hazards.md`, which it writes. `GCN_BLESS=1 cargo test -p gcn-cli docs` writes the page anew.

use crate::gcn;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/hazards.md");

#[test]
fn the_docs_of_the_rules_are_current() {
    let fresh = gcn(&["rules", "--markdown"]).text();
    if std::env::var_os("GCN_BLESS").is_some() {
        std::fs::write(PAGE, &fresh).expect("docs/hazards.md can be written");
    }
    let page = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(page == fresh, "docs/hazards.md is out of date: GCN_BLESS=1 cargo test -p gcn-cli docs");
}

/// Numbers of CDNA3 ISA table 37, case 106: 5, 7, 11 and 19 wait states after 2, 4, 8 and 16 passes.
#[test]
fn a_rule_is_told_in_full() {
    let text = gcn(&["rules", "cdna3.106", "--target", "gfx942"]).text();
    assert!(text.contains("passes + 3 = 5 after 2, 7 after 4, 11 after 8, 19 after 16 passes"), "{text}");
    for part in
        ["read after write (RAW)", "CDNA3 ISA table 37", "XDL", "manual asks for it; LLVM asks for it"]
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
        assert!(rule["rule_sets"].as_array().is_some_and(|s| s[0] == "safe"), "{id}");
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
    assert!(error.contains("gfx90a, gfx942, gfx950"), "{error}");
    gcn(&["rules", "--markdown", "--json"]).failure(2);
}
