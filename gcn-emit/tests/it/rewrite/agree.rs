//! Tests `fix` and `check` under the same rules: after `fix`, `check` finds nothing, and no wait is superfluous.

use gcn_emit::rewrite::{Options, RewriteError, fix};
use gcn_emit::target_id::TargetId;
use gcn_isa::check::{self, check_with};
use gcn_isa::hazards::{Config, RuleSet};
use gcn_test_support::Random;
use gcn_test_support::env::fuzz_count;

use super::unit;

const BODY: [&str; 16] = [
    "v_mfma_f32_32x32x8_f16 v[0:15], v[32:33], v[34:35], v[0:15]",
    "v_mov_b32 v40, v0",
    "v_add_u32 v0, v40, v41",
    "global_load_dword v0, v[2:3], off",
    "global_load_dwordx4 v[40:43], v[2:3], off",
    "global_store_dwordx4 v[2:3], v[40:43], off",
    "ds_read_b32 v41, v42",
    "s_load_dword s20, s[8:9], 0x0",
    "s_add_u32 s21, s20, 1",
    "v_readfirstlane_b32 s22, v41",
    "v_mov_b32 v42, s20",
    "s_waitcnt vmcnt(0)",
    "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)",
    "s_nop 3",
    "s_nop 0",
    "v_cmp_eq_u32 vcc, v0, v1",
];

/// Random functions that call each other, jump to unknown places and branch.
fn random(rng: &mut Random) -> String {
    let functions = 1 + rng.below(4);
    let mut text = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n".to_owned();
    for f in 0..=functions {
        text += &format!(".type f{f},@function\nf{f}:\n");
        for i in 0..3 + rng.below(6) {
            text += &match rng.below(9) {
                0 => {
                    let g = rng.below(functions + 1);
                    format!(
                        "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, f{g}@rel32@lo+4\ns_addc_u32 s5, s5, f{g}@rel32@hi+12\n\
                         s_swappc_b64 s[30:31], s[4:5]\n"
                    )
                }
                1 => "s_swappc_b64 s[30:31], s[6:7]\n".to_owned(),
                2 => format!("s_cbranch_scc1 .L{f}_{i}\n{}\n.L{f}_{i}:\n", BODY[rng.below(BODY.len())]),
                _ => format!("{}\n", BODY[rng.below(BODY.len())]),
            };
        }
        text += ["s_setpc_b64 s[30:31]\n", "s_setpc_b64 s[6:7]\n", "s_endpgm\n"][rng.below(3)];
    }
    text
}

/// The number of findings of `check`.
fn findings(text: &str, rules: Config) -> usize {
    let options = check::Options { rules, ..check::Options::default() };
    let count = |code: &gcn_emit::code::Code| {
        let report = check_with(&code.program, options);
        report.findings.len() + report.omitted()
    };
    unit(text).sections.iter().map(count).sum()
}

fn agree(name: &str, text: &str) -> bool {
    let mut changed = false;
    for rules in RuleSet::ALL {
        for xnack in [false, true] {
            let options = Options { rules: rules.into(), xnack: Some(xnack), ..Options::default() };
            let fixed = match fix("k.s", text, &options) {
                Err(RewriteError::OwnAddress { .. } | RewriteError::Bytes { .. }) => return false,
                fixed => fixed.unwrap_or_else(|e| panic!("{name}: {e}")),
            };
            let config = rules.config(xnack);
            let (before, after) = (findings(text, config), findings(&fixed.text, config));
            assert_eq!(after, 0, "{name}: {rules}, XNACK {xnack}: not enough\n{}", fixed.text);
            assert_eq!(
                before == 0,
                fixed.text == text,
                "{name}: {rules}, XNACK {xnack}: {before} findings, {} changes\n{text}\n{}",
                fixed.changes.len(),
                fixed.text
            );
            changed |= before > 0;
        }
    }
    changed
}

#[test]
fn fix_does_what_check_asks_for() {
    let mut changed = 0;
    let seeds = fuzz_count(120);
    for seed in 0..seeds {
        let text = random(&mut Random::new(seed));
        changed += u64::from(agree(&format!("seed {seed}"), &text));
    }
    assert!(changed * 5 > seeds * 4, "{changed}");
}

/// The second load overwrites the address of the first, which XNACK replay would execute again.
#[test]
fn xnack_is_what_the_option_says_or_else_the_target_id() {
    let text = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\ns_load_dword s4, s[0:1], 0x0\ns_load_dwordx2 s[0:1], s[0:1], 0x8\ns_endpgm\n";
    let waits = |xnack: Option<bool>, target: &str| {
        let target = Some(target.parse().unwrap());
        let fixed = fix("k.s", text, &Options { target, xnack, ..Options::default() }).unwrap();
        fixed.text.contains("s_nop 0")
    };
    assert!(waits(None, "gfx942"));
    assert!(!waits(None, "gfx942:xnack-"));
    assert!(waits(Some(true), "gfx942:xnack-"));
    assert!(!waits(Some(false), "gfx942"));
}

/// A target ID may set features that the file leaves open, but must not contradict the file.
#[test]
fn a_narrower_target_id_is_accepted() {
    let text = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\ns_load_dwordx2 s[0:1], s[0:1], 0x4\ns_endpgm\n";
    let with = |id: &str| {
        let target: TargetId = id.parse().unwrap();
        fix("k.s", text, &Options { target: Some(target), ..Options::default() })
            .map(|f| f.target_id.to_string())
    };
    for id in ["gfx942", "gfx942:xnack-", "gfx942:xnack+", "gfx942:sramecc+:xnack-"] {
        assert_eq!(with(id).unwrap(), id);
    }
    assert!(with("gfx90a").unwrap_err().to_string().contains("gfx90a"));
    let narrow = text.replace("--gfx942", "--gfx942:xnack-");
    let target = Some("gfx942:xnack+".parse().unwrap());
    assert!(fix("k.s", &narrow, &Options { target, ..Options::default() }).is_err());
}
