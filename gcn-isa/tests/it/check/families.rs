//! Tests the report: the findings of each family of rules, and the words of the report.

use std::process::Command;

use gcn_emit::text::parse_inst;
use gcn_isa::InstructionSet;
use gcn_isa::check::{self, Amount, Options};
use gcn_isa::counters::Counter;
use gcn_isa::hazards::{AnyRule as _, Config, Grade, RuleSet, all};
use gcn_isa::table::Class;
use gcn_isa::{Operand, Program, Target};
use gcn_test_support::llvm::tool;

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
    // `gcn probe adopt` may raise the grade.
    let grade = all().find(|rule| rule.id == "llvm.20.packed").unwrap().grade();
    assert_eq!(Grade::ALL.map(with), Grade::ALL.map(|least| usize::from(grade >= least)));
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
    // The write of the previous iteration.
    let rotated = "L1: | s_barrier | ds_read_b32 v1, v2 | s_waitcnt lgkmcnt(0) | ds_write_b32 v2, v0 | \
                   s_cbranch_scc1 L1 | s_endpgm";
    assert_eq!(rules(rotated), ["barrier.lds"]);
}

/// Tests stores before barriers. In threadgroup split mode, clang 22 waits for stores before `s_barrier` and invalidates the vector cache
/// after it; in the other mode it does neither (memory model, release and acquire at workgroup scope).
#[test]
fn a_barrier_of_a_split_workgroup_orders_stores() {
    let found = |text: &str, splits: bool| -> Vec<(&str, Grade)> {
        let mut program = program(text);
        for line in &mut program.lines {
            line.orders_stores = splits && line.inst.desc.class == Class::Barrier;
        }
        let findings = check::check(&program).findings;
        // The rules cannot exclude that a FLAT access is to LDS.
        let others = ["waitcnt.raw", "barrier.lds"];
        findings.iter().filter(|f| !others.contains(&f.rule)).map(|f| (f.rule, f.grade)).collect()
    };
    let late = [("barrier.store", Grade::Documented)];
    let none: [(&str, Grade); 0] = [];
    let clang = "global_store_dword v[4:5], v0, off | s_waitcnt vmcnt(0) | s_barrier | buffer_inv sc0 | \
                 global_load_dword v4, v[0:1], off | s_endpgm";
    assert_eq!(found(clang, true), none);
    let without = clang.replace("s_waitcnt vmcnt(0) | ", "");
    assert_eq!(found(&without, true), late);
    assert_eq!(found(&without, false), none, "one compute unit has one vector cache");
    for store in [
        "flat_store_dword v[4:5], v0",
        "buffer_store_dword v0, v4, s[8:11], 0 offen",
        "global_atomic_add v[4:5], v0, off",
        "global_atomic_add v6, v[4:5], v0, off sc0",
    ] {
        assert_eq!(
            found(&without.replace("global_store_dword v[4:5], v0, off", store), true),
            late,
            "{store}"
        );
    }
    // Scratch memory belongs to a single lane, and a load does not change memory.
    for other in ["scratch_store_dword v4, v0, off", "global_load_dword v0, v[4:5], off"] {
        assert_eq!(
            found(&without.replace("global_store_dword v[4:5], v0, off", other), true),
            none,
            "{other}"
        );
    }
    // A later barrier publishes the store, and memory is not accessed before that barrier. If no access follows at all, there is no
    // evidence.
    let twice = without.replace("s_barrier", "s_barrier | s_waitcnt vmcnt(0) | s_barrier");
    assert_eq!(found(&twice, true), none);
    let last = "global_store_dword v[4:5], v0, off | s_barrier | s_endpgm";
    assert_eq!(found(last, true), [("barrier.store", Grade::Cautious)]);
    // The store is on one path only, or is the store of the previous iteration.
    let path = "s_cbranch_scc1 L1 | global_store_dword v[4:5], v0, off | L1: | s_barrier | global_load_dword v4, v[0:1], off | s_endpgm";
    assert_eq!(found(path, true), late);
    let rotated = "L1: | s_barrier | global_load_dword v4, v[0:1], off | s_waitcnt vmcnt(0) | \
                   global_store_dword v[0:1], v4, off | s_cbranch_scc1 L1 | s_endpgm";
    assert_eq!(found(rotated, true), late);
}

/// Tests global wave sync. clang 22 inserts a wait for every counter directly after each of its instructions.
#[test]
fn global_wave_sync_is_done_before_memory_and_barriers() {
    let found = |text: &str, target: Target| -> Vec<&str> {
        check::check(&golden::program(text, target)).findings.iter().map(|f| f.rule).collect()
    };
    for target in [Target::GFX900, Target::GFX908, Target::GFX90A, Target::GFX942] {
        for after in
            ["global_load_dword v4, v[0:1], off", "ds_read_b32 v4, v6", "s_load_dword s4, s[8:9], 0x0"]
        {
            let text = |wait: &str| format!("ds_gws_barrier v2 gds | {wait}{after} | s_endpgm");
            assert_eq!(found(&text(""), target), ["waitcnt.gws"], "{target} {after}");
            assert_eq!(found(&text("s_waitcnt lgkmcnt(0) | "), target), [""; 0]);
        }
        let barrier = "ds_gws_barrier v2 gds | s_barrier | s_endpgm";
        assert!(found(barrier, target).contains(&"waitcnt.gws"), "{target}");
        let several = "ds_gws_init v2 gds | ds_gws_barrier v2 gds | v_mov_b32 v3, v4 | s_endpgm";
        assert_eq!(found(several, target), [""; 0], "they are in order");
    }
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

/// Tests branches after writes of half of VCC. LLVM 22 inserts `s_mov_b64 vcc, vcc` before the branches of the first list. It inserts
/// nothing before those of the second list, except for one; that branch has two paths to it, which LLVM does not examine.
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
        // The write is on one of two paths, or on the back edge.
        let join = "s_cbranch_scc0 L0 | s_mov_b32 vcc_lo, s4 | L0: | s_cbranch_vccz L1 | L1: | s_endpgm";
        assert_eq!(found(join, target), [("llvm.vccz-half", Some(1), 2)]);
        let back = "L0: | s_cbranch_vccz L1 | s_mov_b32 vcc_hi, s4 | s_branch L0 | L1: | s_endpgm";
        assert_eq!(found(back, target), [("llvm.vccz-half", Some(1), 0)]);
        let rules = Config::default().without("llvm.vccz-half").unwrap();
        let options = check::Options { rules, ..check::Options::default() };
        assert_eq!(check::check_with(&golden::program(join, target), options).findings, []);
    }
    // LLVM's `partialVCCWritesUpdateVCCZ`: from GFX10 on, a write of half of VCC is enough, and with a wave size of 32, this half is the
    // whole VCC.
    for target in [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1201] {
        let half = "s_mov_b32 vcc_lo, s4 | s_cbranch_vccz L0 | v_nop | L0: | s_endpgm";
        assert_eq!(found(half, target), [], "{target}");
    }
}

/// Tests a result that another instruction overwrites. LLVM 22 inserts `s_nop 10` before the last instruction and nothing before the middle
/// one, because only the second instruction's result is read. The 16 passes of the first instruction would require more wait states.
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
    // LLVM 22.1.8 has a workaround only for gfx90a; later versions also have it for these two targets.
    assert_eq!(rules(shift, Target::GFX942), ["llvm.shift64"]);
    assert_eq!(rules(shift, Target::GFX950), ["llvm.shift64"]);
    assert_eq!(rules(shift, Target::GFX908), [""; 0]);
    assert_eq!(rules("v_lshlrev_b64 v[0:1], v14, v[2:3] | s_endpgm", Target::GFX90A), [""; 0]);
    let more = "v_mov_b32_e32 v16, 0 | v_lshlrev_b64 v[0:1], v15, v[2:3] | s_endpgm";
    assert_eq!(rules(more, Target::GFX90A), [""; 0]);
}

#[test]
fn a_multiply_add_overwrites_a_source_only_where_llvm_lets_it() {
    let finds = |program: &Program| {
        check::check(program).findings.iter().any(|f| f.rule == "llvm.mad-forward" && f.reg.is_some())
    };
    let apart = "v_mad_u64_u32 v[0:1], null, v2, v3, v[4:5] | s_endpgm";
    let addend = "v_mad_u64_u32 v[0:1], null, v2, v3, v[0:1] | s_endpgm";
    let factor = "v_mad_i64_i32 v[0:1], null, v2, v1, 0 | s_endpgm";
    let found = |target| [apart, addend, factor].map(|text| finds(&golden::program(text, target)));
    assert_eq!(found(Target::GFX1100), [false, true, true]);
    assert_eq!(found(Target::GFX1151), [false; 3]);
    assert_eq!(found(Target::GFX1030), [false; 3]);

    // In this function all arguments of the multiply-adds die, so that LLVM reuses their registers if it may.
    let Some(llc) = tool("llc") else { return };
    let ir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("multiply-add.ll");
    let function = "define amdgpu_ps float @f(i32 %a, i32 %b, i32 %c) {\n%m = mul i32 %a, %b\n%s = add i32 %m, %c\n\
                    %r = bitcast i32 %s to float\nret float %r\n}\n";
    std::fs::write(&ir, function).unwrap();
    let mut judged = 0;
    for target in Target::KNOWN.into_iter().filter(|t| t.is_first_of_its_set()) {
        let mut command = Command::new(&llc);
        command.args(["-mtriple=amdgcn", "-o", "-", &format!("-mcpu={target}")]).arg(&ir);
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let Some(line) =
            text.lines().map(str::trim).find(|line| line.starts_with("v_mad_") && line.contains("64_"))
        else {
            continue;
        };
        let inst = parse_inst(line, target).unwrap();
        let result = inst.operand("vdst").and_then(Operand::reg).unwrap();
        let overwrites = inst.reads().iter().any(|read| read.reg.overlaps(result));
        assert_eq!(inst.desc.writes_early(target), !overwrites, "{target}: {line}");
        judged += 1;
    }
    assert!(judged > 5);
}

/// Tests that the time is linear in the number of instructions, for ten thousand instructions in one block and in many blocks.
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

/// Tests a backward walk over more paths than the checker searches linearly ([`check`] uses an index then). The walk must still go around
/// the loop and return to the block where it began, which contains the first instruction after the second.
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
    // The shortest path from the first to the second instruction has two branches. An XDL result with 8 passes requires 11 wait states.
    let report = check::check(&golden::program(&text, Target::GFX942));
    let found: Vec<_> = report.findings.iter().map(|f| (f.rule, f.first, f.second, f.have)).collect();
    assert_eq!(found, [("cdna3.106", Some(1), 0, Amount::States(2))]);
}
