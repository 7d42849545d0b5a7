//! Tests code with too few waits that LLVM 22.1.8 emits: the checker rejects this code, and accepts the result of the inserter for the same
//! instructions.
//!
//! `tests/data/llvm-defects.txt.gz` has each program, LLVM's result for it, and the machine IR that LLVM was given. The programs are the
//! pairs of the rule table whose safe number is larger than LLVM's, and small control-flow graphs. If LLVM is installed, its pass
//! (`post-RA-hazard-rec` or `si-insert-waitcnts`) is run again, so that an improved version is noticed; otherwise its recorded output is
//! used.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::process::Command;

use gcn_isa::InstructionSet;
use gcn_isa::check::{Amount, CheckReport, Finding, MemoryModel, Options, check_with};
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::table::Class;
use gcn_isa::wait::{WaitOptions, insert_waits};
use gcn_isa::{Operand, Program, Target};
use gcn_test_support::llvm::tool;

use crate::golden;

/// One program.
struct Case {
    name: String,
    target: Target,
    pass: &'static str,
    program: String,
    llvm: String,
    mir: String,
}

impl Case {
    fn parse(text: &str) -> Case {
        let (head, rest) = text.split_once("\n- program\n").expect("a program");
        let (program, rest) = rest.split_once("- llvm\n").expect("LLVM's output");
        let (llvm, mir) = rest.split_once("- mir\n").expect("machine IR");
        let [name, target, pass] = head.split(' ').collect::<Vec<_>>()[..] else { panic!("{head}") };
        let pass = if pass == "hazards" { "post-RA-hazard-rec" } else { "si-insert-waitcnts" };
        let [program, llvm, mir] = [program, llvm, mir].map(str::to_owned);
        Case { name: name.to_owned(), target: target.parse().expect("a target"), pass, program, llvm, mir }
    }

    fn findings(&self, text: &str) -> Vec<Finding> {
        check(&golden::program(text, self.target)).findings
    }

    /// The result of the inserter for the program.
    fn ours(&self) -> Program {
        let mut program = golden::program(&self.program, self.target);
        insert_waits(&mut program, &WaitOptions::default());
        program
    }
}

/// Checks the program with the strict memory model, because no other information about the purpose of its barriers is available.
fn check(program: &Program) -> CheckReport {
    check_with(program, Options { memory_model: MemoryModel::Strict, ..Options::default() })
}

fn cases() -> Vec<Case> {
    let mut text = String::new();
    let packed = &include_bytes!("../data/llvm-defects.txt.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
    format!("\n{text}").split("\n= ").skip(1).map(|case| Case::parse(&format!("{case}\n"))).collect()
}

/// Checks all `count` cases whose name starts with one of `names`: the checker must find too few wait states in LLVM's code, and none
/// missing in ours.
fn too_few_states(names: &[&str], count: usize) {
    let cases: Vec<Case> =
        cases().into_iter().filter(|c| names.iter().any(|n| c.name.starts_with(n))).collect();
    assert_eq!(cases.len(), count);
    for case in &cases {
        let short = |f: &Finding| match (f.need, f.have) {
            (Amount::States(need), Amount::States(have)) => have < need,
            _ => false,
        };
        let found = case.findings(&case.llvm);
        assert!(found.iter().any(short), "{} {}: accepted\n{}", case.name, case.target, case.llvm);
        accepts_ours(case);
    }
}

fn accepts_ours(case: &Case) {
    let report = check(&case.ours());
    assert!(report.is_clean(), "{} {}: {report}", case.name, case.target);
}

fn case(name: &str, target: Target) -> Case {
    cases().into_iter().find(|c| c.name == name && c.target == target).expect("a case of the data file")
}

#[test]
fn a_block_with_two_paths_is_scanned_along_the_longer_one_only() {
    too_few_states(
        &["far_first", "join_far_near", "cfg-far_first", "cfg-join_far_near", "loop_with_skip"],
        16,
    );
}

#[test]
fn the_passes_of_the_last_matrix_instruction_seen_count_whatever_its_path() {
    too_few_states(&["join_both", "branch_taken", "cfg-branch_taken"], 7);
}

#[test]
fn a_producer_nineteen_states_back_that_needs_twenty_is_missed() {
    too_few_states(&["nineteen_of_twenty"], 2);
}

#[test]
fn long_stores_with_a_scalar_offset() {
    too_few_states(&["case-9.sgpr-offset"], 8);
}

#[test]
fn different_matrix_instructions_on_one_accumulator() {
    too_few_states(&["case-102"], 17);
}

#[test]
fn conversions_to_narrow_floats_without_op_sel() {
    too_few_states(&["gfx950.cvt_scale"], 7);
}

#[test]
fn values_that_llvm_never_reads_have_no_rule() {
    too_few_states(&["case-3", "case-4", "case-5"], 24);
}

#[test]
fn loads_over_the_data_of_long_stores() {
    too_few_states(&["case-8"], 72);
}

#[test]
fn dot_products_before_matrix_instructions() {
    too_few_states(&["case-101"], 2);
}

#[test]
fn single_and_double_precision_matrix_results() {
    too_few_states(&["case-104", "case-107", "case-108"], 22);
}

#[test]
fn the_longer_f64_matrix_instruction_of_gfx950() {
    too_few_states(&["case-119", "case-120"], 5);
}

#[test]
fn accumulators_of_other_pass_counts_on_mi100() {
    too_few_states(&["mi100."], 2);
}

/// Tests a move that has the whole array as an implicit operand. LLVM examines only explicit operands.
#[test]
fn registers_that_an_index_reaches() {
    too_few_states(&["indexed."], 3);
}

/// Tests spills of a tuple of SGPRs. The first spill has the tuple as an implicit definition, and LLVM treats this as a write of the SGPR
/// that the second spill reads (case 18). The instructions do not write any SGPR, so the wait states are unnecessary, and LLVM does not
/// insert them without that operand.
#[test]
fn spills_of_scalar_tuples_wait_for_nothing() {
    for target in [Target::GFX942, Target::GFX950] {
        let states = |name| waits(&case(name, target)).into_iter().flatten().collect::<Vec<_>>();
        assert_eq!(states("spill.tuple"), [(Class::Nop, 1)]);
        assert_eq!(states("spill.single"), []);
        assert!(case("spill.tuple", target).findings(&case("spill.single", target).llvm).is_empty());
    }
}

/// Tests a defect for which LLVM has a workaround only on gfx90a.
#[test]
fn shifts_of_64_bits_by_the_last_register_of_a_block() {
    for target in [Target::GFX942, Target::GFX950] {
        let case = case("shift64", target);
        let found = case.findings(&case.llvm);
        assert!(found.iter().any(|f| f.need == Amount::OtherRegister), "{target}: {found:?}");
        // No wait avoids this defect; it can only be avoided with a copy of the amount in another register.
        let copied = "v_mov_b32_e32 v0, v15 | v_lshlrev_b64 v[0:1], v0, v[2:3] | s_endpgm";
        assert!(case.findings(copied).is_empty());
    }
}

/// Tests that LLVM drops the wait that makes a write-back visible, because it does not count the write-back.
#[test]
fn the_wait_after_a_write_back() {
    for target in [Target::GFX942, Target::GFX950] {
        let case = case("wbl2_dropped", target);
        let waits = |program: &Program| -> Vec<WaitCnt> {
            let behind = program.lines.iter().skip_while(|l| l.inst.desc.mnemonic != "buffer_wbl2");
            behind
                .filter(|l| l.inst.desc.class == Class::Waitcnt)
                .map(|l| wait_of(&l.inst.operands))
                .collect()
        };
        assert_eq!(waits(&golden::program(&case.llvm, target)), []);
        assert_eq!(waits(&case.ours()), [Counter::Vm.at(0)]);
        accepts_ours(&case);
    }
}

/// Tests code that is correct but stricter than necessary: `buffer_inv` counts as one younger operation on vmcnt.
#[test]
fn a_cache_invalidation_counts() {
    for target in [Target::GFX942, Target::GFX950] {
        let case = case("inv_not_counted", target);
        let last = |program: &Program| {
            let mut waits = program.lines.iter().filter(|l| l.inst.desc.class == Class::Waitcnt);
            waits.next_back().map(|l| Counter::Vm.of(wait_of(&l.inst.operands)))
        };
        assert_eq!(last(&golden::program(&case.llvm, target)), Some(0));
        assert_eq!(last(&case.ours()), Some(1));
        accepts_ours(&case);
    }
}

/// Tests that LLVM does not wait for the write of the previous iteration.
#[test]
fn a_barrier_in_a_loop() {
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        let case = case("barrier_in_loop", target);
        let found = case.findings(&case.llvm);
        assert!(found.iter().any(|f| f.rule == "barrier.lds"), "{target}: {found:?}");
        accepts_ours(&case);
    }
}

/// Tests a wait for an LDS read that is followed by a load from memory into LDS and another LDS read. LLVM counts the load on lgkmcnt, too,
/// but it is on vmcnt only (LLVM pull request 179305), so the wait is too weak. With a load to a register it is right.
#[test]
fn a_load_to_lds_does_not_count_as_an_lds_operation() {
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        for (load, mir, count, is_too_weak) in [
            (
                if target == Target::GFX90A {
                    "global_load_dword v[2:3], off lds"
                } else {
                    "global_load_lds_dword v[2:3], off"
                },
                "GLOBAL_LOAD_LDS_DWORD $vgpr2_vgpr3, 0, 0, implicit $m0, implicit $exec",
                2,
                true,
            ),
            (
                "global_load_dword v6, v[2:3], off",
                "$vgpr6 = GLOBAL_LOAD_DWORD $vgpr2_vgpr3, 0, 0, implicit $exec",
                1,
                false,
            ),
        ] {
            let program = |wait: &str| {
                format!(
                    "ds_read_b32 v1, v0\n{load}\nds_read_b32 v4, v0\n{wait}v_mov_b32_e32 v5, v1\ns_endpgm\n"
                )
            };
            let read = |to| format!("    ${to} = DS_READ_B32_gfx9 $vgpr0, 0, 0, implicit $exec\n");
            let case = Case {
                name: "lds_dma".to_owned(),
                target,
                pass: "si-insert-waitcnts",
                program: program(""),
                llvm: format!("s_waitcnt 0\n{}", program(&format!("s_waitcnt lgkmcnt({count})\n"))),
                mir: format!(
                    "  bb.0:\n{}    {mir}\n{}    $vgpr5 = V_MOV_B32_e32 $vgpr1, implicit $exec\n    S_ENDPGM 0\n",
                    read("vgpr1"),
                    read("vgpr4")
                ),
            };
            let found = case.findings(&case.llvm);
            assert_eq!(found.iter().any(|f| f.rule == "waitcnt.raw"), is_too_weak, "{target}: {found:?}");
            accepts_ours(&case);
            if tool("llc").is_some() {
                let now = run_llvm(target, case.pass, &[(0, &case)]);
                assert_eq!(now.get("f0"), Some(&waits(&case)), "{target}");
            }
        }
    }
}

fn wait_of(operands: &[Operand]) -> WaitCnt {
    match operands.first() {
        Some(Operand::Imm(imm)) => WaitCnt::of_immediate(InstructionSet::GFX900, *imm as u16),
        other => panic!("{other:?}"),
    }
}

/// The waits of a program in order, with `None` for every other instruction.
type Waits = Vec<Option<(Class, i64)>>;

fn waits(case: &Case) -> Waits {
    let program = golden::program(&case.llvm, case.target);
    let wait = |class, operands: &[Operand]| match (class, operands.first()) {
        (Class::Nop | Class::Waitcnt, Some(Operand::Imm(imm))) => Some((class, *imm)),
        _ => None,
    };
    program.lines.iter().map(|l| wait(l.inst.desc.class, &l.inst.operands)).collect()
}

/// The waits in machine IR, function by function.
fn waits_of_mir(text: &str) -> HashMap<String, Waits> {
    let mut functions = HashMap::new();
    let (mut name, mut in_body) = ("", false);
    for line in text.lines() {
        if let Some(new) = line.strip_prefix("name:") {
            name = new.trim();
        }
        in_body = line.starts_with("body:") || in_body && !line.starts_with("...");
        let Some(body) = line.strip_prefix("    ").map(str::trim).filter(|_| in_body) else { continue };
        if body.is_empty() || body.starts_with("successors") || body.starts_with("liveins") {
            continue;
        }
        let operation = body.split_once(" = ").map_or(body, |parts| parts.1);
        let mut words = operation.split([' ', ',']);
        let class = match words.next() {
            Some("S_NOP") => Some(Class::Nop),
            Some("S_WAITCNT") => Some(Class::Waitcnt),
            _ => None,
        };
        let wait = class.and_then(|c| Some((c, words.next()?.parse().ok()?)));
        functions.entry(name.to_owned()).or_insert_with(Vec::new).push(wait);
    }
    functions
}

/// LLVM's result for the machine IR of `cases`, which must all have the same target and pass.
fn run_llvm(target: Target, pass: &str, cases: &[(usize, &Case)]) -> HashMap<String, Waits> {
    let mut mir = String::new();
    for (number, case) in cases {
        let _ = write!(mir, "---\nname: f{number}\ntracksRegLiveness: false\nbody: |\n{}...\n", case.mir);
    }
    let path =
        std::env::temp_dir().join(format!("gcn-isa-defects-{}-{target}-{pass}.mir", std::process::id()));
    std::fs::write(&path, mir).expect("a temporary file");
    let out = Command::new("llc-22")
        .args(["-mtriple=amdgcn-amd-amdhsa", &format!("-mcpu={target}"), &format!("-run-pass={pass}")])
        .args(["-verify-machineinstrs=0", "-o", "-"])
        .arg(&path)
        .output()
        .expect("llc-22 runs");
    let _ = std::fs::remove_file(&path);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    waits_of_mir(&String::from_utf8_lossy(&out.stdout))
}

#[test]
fn llvm_still_does_this() {
    if tool("llc").is_none() {
        return;
    }
    let cases = cases();
    for target in Target::REPRESENTATIVES {
        for pass in ["post-RA-hazard-rec", "si-insert-waitcnts"] {
            let mine = cases.iter().enumerate().filter(|(_, c)| c.target == target && c.pass == pass);
            let mine: Vec<(usize, &Case)> = mine.collect();
            if mine.is_empty() {
                continue;
            }
            let now = run_llvm(target, pass, &mine);
            for (number, case) in mine {
                let now = now.get(&format!("f{number}"));
                assert_eq!(now, Some(&waits(case)), "{} {target}\n{}", case.name, case.llvm);
            }
        }
    }
}

/// A program of RDNA 4, as text and as machine IR. The vector ALU reads `{mask}`, writes it, and reads it again after `{other}` was read.
const TEMPORARY: [&str; 2] = [
    "v_mov_b32_e32 v21, s{mask}
     v_cmp_lt_u32_e64 s{mask}, 39, v23
     s_mul_i32 s9, {other}, 0x1e00
     v_cndmask_b32_e64 v4, v4, 0, s{mask}
     s_endpgm",
    "--- |
  define amdgpu_kernel void @f() { ret void }
...
---
name: f
tracksRegLiveness: false
body: |
  bb.0:
    $vgpr21 = V_MOV_B32_e32 $sgpr{mask}, implicit $exec
    $sgpr{mask} = V_CMP_LT_U32_e64 39, $vgpr23, implicit $exec
    $sgpr9 = S_MUL_I32 ${mir}, 7680
    $vgpr4 = V_CNDMASK_B32_e64 0, $vgpr4, 0, 0, $sgpr{mask}, implicit $exec
    S_ENDPGM 0
...
",
];

/// Tests scalar reads of a trap temporary. LLVM treats them as reads of the first pair of SGPRs and therefore assumes that they end the
/// hazard of this pair.
#[test]
fn a_trap_temporary_is_taken_for_s0() {
    for (mask, other, mir, waits) in
        [("0", "ttmp9", "ttmp9", false), ("0", "s12", "sgpr12", true), ("4", "ttmp9", "ttmp9", true)]
    {
        let [text, ir] =
            TEMPORARY.map(|t| t.replace("{mask}", mask).replace("{other}", other).replace("{mir}", mir));
        let program = gcn_emit::text::parse_program(&text, Target::GFX1201, "f").expect("the text is read");
        let found = gcn_isa::check::check(&program).findings;
        assert!(found.iter().any(|f| f.rule == "rdna.read-sgpr.valu-result"), "{found:?}");
        if let Some(text) = assembled(&format!("ttmp-{mask}-{other}"), &ir) {
            assert!(text.contains("v_cndmask_b32"), "{text}");
            assert_eq!(text.contains("s_wait_alu"), waits, "s{mask}, {other}:\n{text}");
        }
    }
}

/// The output of LLVM's passes for machine IR of RDNA 4, from the hazard pass on, if LLVM is installed.
fn assembled(name: &str, ir: &str) -> Option<String> {
    let llc = tool("llc")?;
    let path = std::env::temp_dir().join(format!("gcn-isa-{name}-{}.mir", std::process::id()));
    std::fs::write(&path, ir).expect("a temporary file");
    let out = Command::new(llc)
        .args(["-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx1201", "-start-before=post-RA-hazard-rec"])
        .args(["-verify-machineinstrs=0", "-o", "-"])
        .arg(&path)
        .output()
        .expect("llc runs");
    let _ = std::fs::remove_file(&path);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Some(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// A program of RDNA 4, as text and as machine IR. The vector ALU reads VCC, the scalar ALU writes it on one of two paths and reads it
/// where the paths meet. `{compare}` is the vector instruction before the paths separate.
const JOINED: [&str; 2] = [
    "v_cndmask_b32_e64 v1, v2, v3, vcc_lo
     {compare}
     s_cbranch_execz .Ljoin
     s_or_b32 vcc_lo, s2, s3
     .Ljoin:
     s_and_saveexec_b32 s2, vcc_lo
     s_endpgm",
    "--- |
  define amdgpu_kernel void @f() { ret void }
...
---
name: f
tracksRegLiveness: false
body: |
  bb.0:
    successors: %bb.1, %bb.2
    $vgpr1 = V_CNDMASK_B32_e64 0, $vgpr2, 0, $vgpr3, $vcc_lo, implicit $exec
    {compare}
    S_CBRANCH_EXECZ %bb.2, implicit $exec
  bb.1:
    successors: %bb.2
    $vcc_lo = S_OR_B32 $sgpr2, $sgpr3, implicit-def $scc
  bb.2:
    $sgpr2 = S_AND_SAVEEXEC_B32 $vcc_lo, implicit-def $exec, implicit-def $scc, implicit $exec
    S_ENDPGM 0
...
",
];

/// Tests a scalar read after one path on which the vector ALU wrote VCC and another on which the scalar ALU did. The read makes LLVM forget
/// both writes.
#[test]
fn a_compare_on_one_way_hides_a_scalar_write_on_the_other() {
    let compare =
        ("v_cmp_lt_u32_e64 vcc_lo, 15, v13", "$vcc_lo = V_CMP_LT_U32_e64 15, $vgpr13, implicit $exec");
    let none = ("v_mov_b32_e32 v4, v13", "$vgpr4 = V_MOV_B32_e32 $vgpr13, implicit $exec");
    for (compare, waits) in [(compare, false), (none, true)] {
        let text = JOINED[0].replace("{compare}", compare.0);
        let ir = JOINED[1].replace("{compare}", compare.1);
        let program = gcn_emit::text::parse_program(&text, Target::GFX1201, "f").expect("the text is read");
        let found = gcn_isa::check::check(&program).findings;
        assert_eq!(found.iter().map(|f| f.rule).collect::<Vec<_>>(), ["rdna.read-vcc.salu"], "{found:?}");
        if let Some(text) = assembled(&format!("joined-{waits}"), &ir) {
            assert!(text.contains("s_and_saveexec_b32"), "{text}");
            assert_eq!(text.contains("s_wait_alu"), waits, "{}:\n{text}", compare.0);
        }
    }
}
