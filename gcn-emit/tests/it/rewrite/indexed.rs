//! Tests waits for registers that an index may select: which waits remain after `--strip`, and which are reported as superfluous.

use gcn_emit::rewrite::superfluous;
use gcn_isa::hazards::RuleSet;

use super::{fixed, kernel, strip, unit, without_waits};

/// Two loads fill an array in v[2:9], and the element `v[2+s0]` is read, so both loads must be complete.
const ARRAY: [&str; 7] = [
    "global_load_dwordx4 v[2:5], v1, s[8:9]",
    "global_load_dwordx4 v[6:9], v1, s[8:9] offset:16",
    "s_waitcnt vmcnt(0)",
    "s_set_gpr_idx_on s0, gpr_idx(SRC0)",
    "v_mov_b32_e32 v34, v2",
    "s_set_gpr_idx_off",
    "s_endpgm",
];

#[test]
fn a_wait_for_both_halves_of_an_array_stays() {
    let stripped = fixed(&ARRAY, true);
    let wait = stripped.iter().position(|l| l == "s_waitcnt vmcnt(0)").expect("the wait is there");
    assert!(wait < stripped.iter().position(|l| l.starts_with("v_mov")).expect("the move is there"));
    assert_eq!(stripped.len(), ARRAY.len());
    assert!(superfluous(&unit(&kernel(&ARRAY)), RuleSet::Safe).is_empty());
}

/// Compares with the same program with the last element named, for which nothing has to be known about indices.
#[test]
fn wait_states_are_those_of_the_element_that_needs_most() {
    let named = [
        "v_mfma_f32_32x32x8_f16 v[16:31], v[32:33], v[34:35], v[16:31]",
        "s_mov_b32 s5, s0",
        "v_mov_b32_e32 v40, v31",
        "s_endpgm",
    ];
    let indexed = [named[0], "s_set_gpr_idx_on s0, gpr_idx(SRC0)", "v_mov_b32_e32 v40, v0", "s_endpgm"];
    let waits = |lines: &[&str]| -> Vec<String> {
        fixed(lines, true).into_iter().filter(|l| l.starts_with("s_nop")).collect()
    };
    assert_eq!(waits(&indexed), waits(&named));
    assert!(!waits(&named).is_empty());
    let done = fixed(&indexed, false);
    let lines: Vec<&str> = done.iter().map(String::as_str).collect();
    assert!(superfluous(&unit(&kernel(&lines)), RuleSet::Safe).is_empty());
}

/// `gcn-emit/tests/data/indexed.cl` compiled by clang 22 -O2: three instructions are between the matrix instruction and the move that reads
/// one of 32 registers. After 16 passes 19 wait states are required, after 8 passes 11 (CDNA3 ISA, case 106).
#[test]
fn what_clang_compiles() {
    for (name, text, wait) in [
        ("gfx90a", include_str!("../../data/indexed.gfx90a.s"), "s_nop 15"),
        ("gfx942", include_str!("../../data/indexed.gfx942.s"), "s_nop 7"),
    ] {
        let result = strip(name, text);
        assert_eq!(without_waits(&result.text), without_waits(text), "{name}");
        let lines: Vec<&str> = result.text.lines().map(str::trim).collect();
        let at = lines.iter().position(|l| *l == "v_mov_b32_e32 v1, v2").expect("the move is there");
        assert_eq!(lines[at - 1], wait, "{name}");
    }
}
