//! Tests the counts of evidence on programs that are small enough to count by hand. The required wait states are those of the CDNA3 manual,
//! table 11 (cases 18 to 21) and table 37 (case 106: 7 wait states after 4 passes).

use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_isa::evidence::{self, Evidence};
use gcn_isa::hazards::{Config, Counts};

fn counted(lines: &[&str]) -> Evidence {
    let program = parse_program(&lines.join("\n"), Target::GFX942, "test").expect("a program");
    evidence::of(&program, Config::default())
}

/// The counts (kept, exact, nops, broken, covered) of a rule.
fn tally(lines: &[&str], rule: &str) -> (u64, u64, u64, u64, u64) {
    let c: Counts = counted(lines).get(rule).copied().unwrap_or_default();
    assert_eq!(c.objects, u64::from(c.broken > 0));
    (c.kept, c.exact, c.nops, c.broken, c.covered)
}

const RCP: &str = "v_rcp_f32_e32 v0, v1";
const USE: &str = "v_mov_b32_e32 v2, v0";
const MFMA: &str = "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]";
const OTHER_MFMA: &str = "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[8:11]";

#[test]
fn a_site_is_broken_kept_exactly_or_too_far_to_matter() {
    assert_eq!(tally(&[RCP, USE], "cdna3.21"), (0, 0, 0, 1, 0));
    assert_eq!(tally(&[RCP, "s_mov_b32 s0, 0", USE], "cdna3.21"), (1, 1, 0, 0, 0));
    // The window is twice the requirement, so an instruction two wait states away is not counted.
    assert_eq!(tally(&[RCP, "s_mov_b32 s0, 0", "s_mov_b32 s1, 0", USE], "cdna3.21"), (0, 0, 0, 0, 0));
}

#[test]
fn what_only_nops_keep_is_counted_by_itself() {
    assert_eq!(tally(&[RCP, "s_nop 0", USE], "cdna3.21"), (1, 1, 1, 0, 0));
    assert_eq!(tally(&[MFMA, "s_nop 6", USE], "cdna3.106"), (1, 1, 1, 0, 0));
    assert_eq!(tally(&[MFMA, "s_nop 7", USE], "cdna3.106"), (1, 0, 1, 0, 0));
    let filled = ["s_mov_b32 s0, 0"; 7];
    let with_nop = [&[MFMA][..], &filled, &["s_nop 0", USE]].concat();
    assert_eq!(tally(&with_nop, "cdna3.106"), (1, 0, 0, 0, 0), "enough without the s_nop");
}

#[test]
fn a_broken_site_is_covered_by_passes_or_a_branch() {
    // There are two instructions in between, but each takes four passes.
    assert_eq!(tally(&[MFMA, OTHER_MFMA, OTHER_MFMA, USE], "cdna3.106"), (0, 0, 0, 1, 1));
    assert_eq!(tally(&[MFMA, OTHER_MFMA, USE], "cdna3.106"), (0, 0, 0, 1, 0));
    let branch = [MFMA, "s_cbranch_scc0 .L", "s_mov_b32 s0, 0", ".L:", USE];
    assert_eq!(tally(&branch, "cdna3.106"), (0, 0, 0, 1, 1));
}

#[test]
fn the_shortest_path_decides() {
    let join = [RCP, "s_cbranch_scc0 .L", "s_nop 7", ".L:", USE];
    assert_eq!(tally(&join, "cdna3.21"), (1, 1, 0, 0, 0), "the branch is one state");
    let around = ["s_mov_b32 s0, 0", ".L:", USE, RCP, "s_cbranch_scc0 .L", "s_endpgm"];
    assert_eq!(tally(&around, "cdna3.21"), (1, 1, 0, 0, 0), "by the back edge");
}

#[test]
fn of_several_first_instructions_the_one_that_falls_shortest_counts() {
    // The older instruction is far enough away, but the younger one is not: one site.
    assert_eq!(tally(&[MFMA, "s_nop 5", MFMA, "s_nop 1", USE], "cdna3.106"), (0, 0, 0, 1, 0));
}

#[test]
fn a_result_that_is_overwritten_in_between_makes_no_site() {
    let read = ["v_readlane_b32 s4, v3, 0", "s_and_b32 s4, s4, 1", "v_mov_b32_e32 v2, s4"];
    assert_eq!(tally(&read, "cdna3.18"), (0, 0, 0, 0, 0));
    let kept = ["v_readlane_b32 s4, v3, 0", "s_and_b32 s5, s5, 1", "v_mov_b32_e32 v2, s4"];
    assert_eq!(tally(&kept, "cdna3.18"), (0, 0, 0, 1, 0));
    // The instruction is on only one of two paths.
    let join = [RCP, "s_cbranch_scc0 .L", "v_mov_b32_e32 v0, 0", ".L:", USE];
    assert_eq!(tally(&join, "cdna3.21"), (1, 1, 0, 0, 0));
    let both = [RCP, "v_mov_b32_e32 v0, 0", "s_cbranch_scc0 .L", "s_mov_b32 s0, 0", ".L:", USE];
    assert_eq!(tally(&both, "cdna3.21"), (0, 0, 0, 0, 0));
}

#[test]
fn counter_rules_count_operations() {
    let load = "global_load_dword v0, v[4:5], off";
    assert_eq!(tally(&[load, USE], "waitcnt.raw"), (0, 0, 0, 1, 0));
    assert_eq!(tally(&[load, "s_waitcnt vmcnt(0)", USE, USE], "waitcnt.raw"), (1, 0, 0, 0, 0));
    let overwritten = [load, "s_waitcnt vmcnt(0)", "v_mov_b32_e32 v0, 0", USE];
    assert_eq!(tally(&overwritten, "waitcnt.waw"), (1, 0, 0, 0, 0));
    assert_eq!(tally(&overwritten, "waitcnt.raw"), (0, 0, 0, 0, 0));
    let barrier = ["ds_write_b32 v0, v1", "s_waitcnt lgkmcnt(0)", "s_barrier", "s_barrier", "s_endpgm"];
    assert_eq!(tally(&barrier, "barrier.lds"), (1, 0, 0, 0, 0));
}

#[test]
fn programs_add_up() {
    let (one, two) = (counted(&[RCP, USE]), counted(&[RCP, "s_nop 0", USE]));
    let mut sum = Evidence::new();
    evidence::add(&mut sum, &one);
    evidence::add(&mut sum, &one);
    evidence::add(&mut sum, &two);
    let counts = sum["cdna3.21"];
    assert_eq!((counts.broken, counts.kept, counts.objects), (2, 1, 2));
}
