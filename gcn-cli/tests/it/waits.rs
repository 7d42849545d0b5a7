//! Tests `gcn explain` and `gcn mutate`.

use crate::{gcn_with, two_kernels};

/// A kernel with a wait for a load, a wait that nothing needs, and a missing wait.
const KERNEL: &str = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942:xnack-\"\nk:\n\tds_read_b32 v0, v1\n\ts_waitcnt lgkmcnt(0)\n\tv_mov_b32 v2, v0\n\ts_nop 3\n\tds_read_b32 v4, v1\n\tv_mov_b32 v5, v4\n\ts_endpgm\n";

#[test]
fn each_wait_has_its_reason() {
    let listing = gcn_with(&["explain", "-", "--writers"], KERNEL.as_bytes()).text();
    let line = |part: &str| {
        listing.lines().find(|l| l.contains(part)).unwrap_or_else(|| panic!("{part}: {listing}"))
    };
    assert!(
        line("s_waitcnt lgkmcnt(0)")
            .contains("waitcnt.raw: v0 of ds_read_b32 (line 3), then v_mov_b32_e32 (line 5)")
    );
    assert!(line("s_nop 3").contains("not needed by any rule"));
    assert!(line("v_mov_b32 v5, v4").contains("missing: waitcnt.raw"));
    assert!(line("v4 <- ").contains("v4 <- ds_read_b32 (line 7)"));
    assert!(line("of 2 waits").contains("1 are needed, 0 order memory, 1 are not needed; 1 are missing"));
    let report = gcn_with(&["explain", "-", "--json"], KERNEL.as_bytes()).text();
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["waits"][1]["verdict"], "not-needed");
    assert_eq!(report["missing"][0]["line"], 8);
}

#[test]
fn superfluous_waits_of_assembly_and_objects_are_listed() {
    let listing = gcn_with(&["mutate", "-"], KERNEL.as_bytes()).text();
    assert!(listing.starts_with("<stdin>:6: `s_nop 3` is not needed\n"), "{listing}");
    assert!(listing.ends_with("2 waits, 1 not needed, 0 stronger than needed\n"), "{listing}");
    let report = gcn_with(&["mutate", "-", "--json"], &two_kernels()).text();
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((&report[0]["waits"], &report[0]["superfluous"]), (&1.into(), &serde_json::json!([])));
}
