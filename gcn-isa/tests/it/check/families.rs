//! The report: what it says, in which words.

use gcn_isa::InstructionSet;
use gcn_isa::check::{self, Amount, Options};
use gcn_isa::counters::Counter;
use gcn_isa::hazards::{Config, Grade, RuleSet};
use gcn_isa::{Program, Target};

use crate::golden;

fn program(text: &str) -> Program {
    golden::program(text, Target::GFX942)
}

#[test]
fn a_short_distance_is_explained() {
    let report = check::check(&program(
        "v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[102:103], 0 | s_nop 3 | v_mov_b32_e32 v20, v3 | s_endpgm",
    ));
    assert_eq!(
        report.to_string(),
        "line 0 `v_mfma_f32_32x32x8_f16`, then line 2 `v_mov_b32_e32` on v3: needs 11 wait states, has 4 \
         [cdna3.106, certain]; put `s_nop 6` or 7 independent instructions before line 2\n\
         gfx942: 4 instructions, 1 finding"
    );
}

#[test]
fn a_missing_wait_is_explained_with_its_path() {
    let report = check::check(&program(
        "global_load_dword v0, v[40:41], off | s_cbranch_scc1 L2 | s_waitcnt vmcnt(0) | L2: | \
         v_mov_b32_e32 v20, v0 | s_endpgm",
    ));
    let [finding] = &report.findings[..] else { panic!("{report}") };
    assert_eq!(finding.path, [3]);
    assert_eq!(
        finding.to_string(),
        "line 0 `global_load_dword`, then line 3 `v_mov_b32_e32` on v0: needs `s_waitcnt vmcnt(0)`, nothing on this \
         path is that strong (by way of line 3) [waitcnt.raw, certain]; put `s_waitcnt vmcnt(0)` before line 3"
    );
}

#[test]
fn a_loop_is_named_as_the_path() {
    let report = check::check(&program(
        "L1: | v_mov_b32_e32 v20, v3 | s_nop 15 | s_nop 15 | \
         v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[102:103], 0 | s_cbranch_scc1 L1 | s_endpgm",
    ));
    let [finding] = &report.findings[..] else { panic!("{report}") };
    assert_eq!((finding.first, finding.second), (Some(3), 0));
    assert_eq!(finding.path, [0]);
    assert_eq!((finding.need, finding.have), (Amount::States(11), Amount::States(1)));
}

#[test]
fn a_long_wait_takes_two_nops() {
    let report = check::check(&program(
        "v_mfma_f32_32x32x4_2b_f16 v[0:31], v[100:101], v[102:103], 0 | v_mov_b32_e32 v40, v3 | s_endpgm",
    ));
    let [finding] = &report.findings[..] else { panic!("{report}") };
    assert_eq!(finding.remedy(), "put `s_nop 15` and `s_nop 2` or 19 independent instructions before line 1");
}

#[test]
fn a_flat_result_needs_both_counters() {
    let report = check::check(&program("flat_load_dword v0, v[40:41] | v_mov_b32_e32 v20, v0 | s_endpgm"));
    let [finding] = &report.findings[..] else { panic!("{report}") };
    assert_eq!(
        finding.need,
        Amount::Wait(Counter::Lgkm.set(Counter::Vm.at(0), 0).on(InstructionSet::GFX942))
    );
}

#[test]
fn rule_sets_choose_what_is_found() {
    let packed = program("v_pk_mul_f32 v[0:1], v[2:3], v[4:5] | v_mov_b32_e32 v9, v0 | s_endpgm");
    let with = |at_least| {
        let rules = Config::at_least(at_least);
        check::check_with(&packed, Options { rules, ..Options::default() }).findings.len()
    };
    assert_eq!((with(Grade::Cautious), with(Grade::Documented)), (1, 0));
}

#[test]
fn unknown_exits_are_named() {
    let report = check::check(&program("s_setpc_b64 s[4:5]"));
    assert!(report.is_clean());
    assert_eq!(report.unknown_exits, [0]);
}

#[test]
fn a_barrier_orders_lds() {
    let rules =
        |text: &str| -> Vec<&str> { super::strict(&program(text)).findings.iter().map(|f| f.rule).collect() };
    assert_eq!(rules("ds_write_b32 v0, v1 | s_barrier | s_endpgm"), ["barrier.lds"]);
    assert_eq!(rules("ds_write_b32 v0, v1 | s_waitcnt lgkmcnt(0) | s_barrier | s_endpgm"), [""; 0]);
    assert_eq!(rules("ds_read_b32 v0, v1 | s_barrier | s_endpgm"), ["barrier.lds-read"]);
    assert_eq!(rules("ds_read_b32 v0, v1 | s_waitcnt lgkmcnt(0) | s_barrier | s_endpgm"), [""; 0]);
    // An access that reads and writes counts as a write; lane permutations do not access memory.
    assert_eq!(rules("ds_add_rtn_u32 v0, v1, v2 | s_barrier | s_endpgm"), ["barrier.lds"]);
    assert_eq!(rules("ds_bpermute_b32 v0, v1, v2 | s_barrier | s_endpgm"), [""; 0]);
    assert_eq!(rules("flat_load_dword v0, v[2:3] | s_barrier | s_endpgm"), ["barrier.lds-read"]);
    assert_eq!(rules("global_load_dword v0, v[2:3], off | s_barrier | s_endpgm"), [""; 0]);
    assert_eq!(rules("s_load_dword s4, s[8:9], 0x0 | s_barrier | s_endpgm"), [""; 0]);
    assert_eq!(
        rules("ds_write_b32 v0, v1 | ds_read_b32 v2, v3 | s_waitcnt lgkmcnt(1) | s_barrier | s_endpgm"),
        ["barrier.lds-read"]
    );
    assert_eq!(
        rules("ds_read_b32 v0, v1 | ds_write_b32 v2, v3 | s_waitcnt lgkmcnt(1) | s_barrier | s_endpgm"),
        ["barrier.lds"]
    );
    let mut passing = program("ds_read_b32 v0, v1 | s_barrier | s_endpgm");
    passing.lines[1].reads_pass = true;
    assert!(super::strict(&passing).is_clean());
    assert_eq!(rules("global_load_lds_dword v[2:3], off | s_barrier | s_endpgm"), ["barrier.lds-dma"]);
    assert_eq!(rules("global_store_dword v[2:3], v0, off | s_barrier | s_endpgm"), [""; 0]);
    // The write of the iteration before.
    let rotated = "L1: | s_barrier | ds_read_b32 v1, v2 | s_waitcnt lgkmcnt(0) | ds_write_b32 v2, v0 | \
                   s_cbranch_scc1 L1 | s_endpgm";
    assert_eq!(rules(rotated), ["barrier.lds"]);
}

#[test]
fn early_targets_need_every_counter_at_zero_before_a_barrier() {
    let check = |text: &str| {
        let findings = check::check(&golden::program(text, Target::GFX908)).findings;
        findings.iter().map(|f| (f.rule, f.need)).collect::<Vec<_>>()
    };
    let vm = Amount::Wait(Counter::Vm.at(0).on(InstructionSet::GFX908));
    assert_eq!(
        check("global_store_dword v[2:3], v0, off | s_barrier | s_endpgm"),
        [("barrier.counters", vm)]
    );
    assert_eq!(check("global_store_dword v[2:3], v0, off | s_waitcnt vmcnt(0) | s_barrier | s_endpgm"), []);
}

/// LLVM 22 puts `s_mov_b64 vcc, vcc` before the branches of the first list, and nothing before those of the second but one, whose
/// two ways in it does not look at.
#[test]
fn vccz_is_stale_behind_half_of_vcc() {
    let found = |text: &str, target| -> Vec<(&str, Option<usize>, usize)> {
        check::check(&golden::program(text, target))
            .findings
            .iter()
            .map(|f| (f.rule, f.first, f.second))
            .collect()
    };
    for target in Target::REPRESENTATIVES {
        for text in [
            "s_mov_b32 vcc_lo, s4 | s_cbranch_vccz L0 | v_nop | L0: | s_endpgm",
            "v_readfirstlane_b32 vcc_hi, v1 | s_cbranch_vccnz L0 | v_nop | L0: | s_endpgm",
        ] {
            assert_eq!(found(text, target), [("llvm.vccz-half", Some(0), 1)], "{target}");
        }
        for text in [
            "s_mov_b64 vcc, s[4:5] | s_cbranch_vccnz L0 | v_nop | L0: | s_endpgm",
            "s_mov_b32 vcc_lo, s4 | v_cmp_eq_u32 vcc, v0, v1 | s_cbranch_vccnz L0 | v_nop | L0: | s_endpgm",
            "s_mov_b32 vcc_lo, s4 | s_cbranch_scc0 L0 | s_mov_b64 vcc, s[4:5] | s_branch L1 | L0: | \
             s_mov_b64 vcc, vcc | L1: | s_cbranch_vccnz L1 | s_endpgm",
        ] {
            assert_eq!(found(text, target), [], "{target}");
        }
        // One of two ways, and the way back.
        let join = "s_cbranch_scc0 L0 | s_mov_b32 vcc_lo, s4 | L0: | s_cbranch_vccz L1 | L1: | s_endpgm";
        assert_eq!(found(join, target), [("llvm.vccz-half", Some(1), 2)]);
        let back = "L0: | s_cbranch_vccz L1 | s_mov_b32 vcc_hi, s4 | s_branch L0 | L1: | s_endpgm";
        assert_eq!(found(back, target), [("llvm.vccz-half", Some(1), 0)]);
        let rules = Config::default().without("llvm.vccz-half").unwrap();
        let options = check::Options { rules, ..check::Options::default() };
        assert_eq!(check::check_with(&golden::program(join, target), options).findings, []);
    }
}

/// LLVM 22 puts `s_nop 10` before the last instruction, and nothing before the one in the middle: the result that is read is the
/// second one's alone. The first one's 16 passes would ask for more.
#[test]
fn an_overwritten_matrix_result_binds_nobody() {
    let program = golden::program(
        "v_mfma_f32_32x32x2_f32 v[0:15], v20, v21, v[0:15] | v_mfma_f32_32x32x8_f16 v[0:15], v[22:23], v[24:25], v[0:15] | \
         s_nop 10 | v_mov_b32_e32 v30, v0 | s_endpgm",
        Target::GFX942,
    );
    let options = check::Options { rules: RuleSet::Llvm.config(false), ..check::Options::default() };
    assert_eq!(check::check_with(&program, options).findings, []);
}

#[test]
fn the_shift_erratum() {
    let rules = |text: &str, target| -> Vec<&str> {
        check::check(&golden::program(text, target)).findings.iter().map(|f| f.rule).collect()
    };
    let shift = "v_lshlrev_b64 v[0:1], v15, v[2:3] | s_endpgm";
    assert_eq!(rules(shift, Target::GFX90A), ["llvm.shift64"]);
    // LLVM 22.1.8 works around it on gfx90a only, later versions on these two as well.
    assert_eq!(rules(shift, Target::GFX942), ["llvm.shift64"]);
    assert_eq!(rules(shift, Target::GFX950), ["llvm.shift64"]);
    assert_eq!(rules(shift, Target::GFX908), [""; 0]);
    assert_eq!(rules("v_lshlrev_b64 v[0:1], v14, v[2:3] | s_endpgm", Target::GFX90A), [""; 0]);
    let more = "v_mov_b32_e32 v16, 0 | v_lshlrev_b64 v[0:1], v15, v[2:3] | s_endpgm";
    assert_eq!(rules(more, Target::GFX90A), [""; 0]);
}

/// Linear in the number of instructions: ten thousand of them in one block, and in many.
#[test]
fn long_programs_are_checked() {
    let body = "global_load_dword v0, v[40:41], off\nds_read_b32 v1, v42\ns_waitcnt vmcnt(0) lgkmcnt(0)\n\
                v_add_f32_e32 v2, v0, v1\nv_mfma_f32_32x32x8_f16 v[4:19], v[100:101], v[102:103], v[4:19]\n";
    let straight = body.repeat(2000) + "s_endpgm";
    assert!(check::check(&program(&straight)).is_clean());
    let branchy: String =
        (0..2000).map(|i| format!("L{i}:\n{body}s_cbranch_scc1 L{}\n", i / 2)).collect::<String>()
            + "s_endpgm";
    assert!(check::check(&program(&branchy)).is_clean());
}

/// A walk back along more paths than are searched one by one ([`check`] keeps an index of them then) still comes round the loop
/// to the block where it began: there is the first instruction, after the second one.
#[test]
fn a_loop_with_many_ways_round_is_walked_whole() {
    const WAYS: usize = 40;
    let mut text =
        "L0: | v_mov_b32_e32 v60, v0 | v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], 0".to_owned();
    for way in 1..=WAYS {
        text += &format!(" | s_cbranch_scc1 W{way}");
    }
    text += " | s_endpgm";
    for way in 1..=WAYS {
        text += &format!(" | W{way}: | s_branch L0");
    }
    // From the first to the second instruction by the shortest way: two branches, of the 11 states of an XDL of 8 passes.
    let report = check::check(&golden::program(&text, Target::GFX942));
    let found: Vec<_> = report.findings.iter().map(|f| (f.rule, f.first, f.second, f.have)).collect();
    assert_eq!(found, [("cdna3.106", Some(1), 0, Amount::States(2))]);
}
