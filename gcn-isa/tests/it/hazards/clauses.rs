//! Tests memory clauses under XNACK against LLVM 22 (`post-RA-hazard-rec` on gfx90a). `s_nop` marks the position at which LLVM inserts one.

use gcn_isa::Target;
use gcn_isa::check::check_with;
use gcn_isa::hazards::RuleSet;
use gcn_isa::table::Class;
use gcn_isa::wait::{WaitOptions, insert_wait_states};

use crate::golden;

const CLAUSES: [&str; 11] = [
    // The load overwrites the address of the load before the previous one.
    "global_load_dword v5, v[0:1], off | global_load_dword v6, v[2:3], off | s_nop 0 | \
     global_load_dword v0, v[10:11], off",
    // Another instruction between the loads ends the clause.
    "global_load_dword v5, v[0:1], off | v_mov_b32_e32 v20, v21 | global_load_dword v0, v[10:11], off",
    "global_load_dword v5, v[0:1], off | s_mov_b32 s20, s21 | global_load_dword v0, v[10:11], off",
    "global_load_dword v5, v[0:1], off | ds_read_b32 v20, v21 | global_load_dword v0, v[10:11], off",
    // LDS instructions do not form clauses.
    "ds_read_b32 v20, v21 | ds_read_b32 v21, v22",
    // A load that overwrites its own address must be in a separate clause.
    "s_load_dwordx2 s[4:5], s[4:5], 0x0 | s_nop 0 | s_load_dword s10, s[12:13], 0x0",
    // Only a clause with a result is interrupted: the store and the load stay in one clause, and the next instruction does not.
    "global_store_dword v[0:1], v5, off | global_load_dword v0, v[10:11], off | s_nop 0 | \
     global_load_dword v20, v[12:13], off",
    // A label does not end a clause.
    "global_load_dword v5, v[0:1], off | L1: | s_nop 0 | global_load_dword v0, v[10:11], off | s_cbranch_scc1 L1",
    // A store follows a load.
    "global_load_dword v5, v[0:1], off | v_mov_b32_e32 v30, 1 | global_store_dword v[10:11], v7, off",
    "s_load_dword s8, s[44:45], 0x0 | s_mov_b32 s44, 1 | s_load_dword s9, s[8:9], 0x0",
    "s_load_dword s8, s[44:45], 0x0 | s_dcache_inv | s_nop 0 | s_load_dword s44, s[10:11], 0x0",
];

#[test]
fn clauses_are_broken_where_llvm_breaks_them() {
    let target = Target::GFX90A;
    let rules = RuleSet::Safe.config(true);
    for text in CLAUSES {
        let broken = golden::program(&format!("{text} | s_endpgm"), target);
        let bare = text.replace("s_nop 0 | ", "");
        let mut ours = golden::program(&format!("{bare} | s_endpgm"), target);
        let clauses = |program| {
            let options = gcn_isa::check::Options { rules, ..Default::default() };
            let findings = check_with(program, options).findings;
            findings.into_iter().filter(|f| f.rule == "xnack.clause").count()
        };
        assert_eq!(clauses(&ours), usize::from(bare != text), "{bare}");
        assert_eq!(clauses(&broken), 0, "{text}");
        insert_wait_states(&mut ours, &WaitOptions { rules, ..WaitOptions::default() });
        let nops = |program: &gcn_isa::Program| {
            let lines = program.lines.iter().map(|l| l.inst.desc.class == Class::Nop);
            lines.collect::<Vec<_>>()
        };
        assert_eq!(nops(&ours), nops(&broken), "{text}");
        // Without replay, no clause is interrupted.
        let mut off = golden::program(&format!("{bare} | s_endpgm"), target);
        assert_eq!(insert_wait_states(&mut off, &WaitOptions::default()), [], "{bare}");
    }
}

/// Tests that a finding names the earlier instruction that the rule concerns, even if another instruction is closer to the second one.
#[test]
fn a_finding_names_the_instruction_that_conflicts() {
    let found = |text: &str, rules| -> Vec<(Option<usize>, usize)> {
        let options = gcn_isa::check::Options { rules, ..Default::default() };
        let program = golden::program(text, Target::GFX90A);
        let findings = check_with(&program, options).findings.into_iter();
        findings.filter(|f| f.rule == "xnack.clause").map(|f| (f.first, f.second)).collect()
    };
    let rules = RuleSet::Safe.config(true);
    // The third load overwrites the address of the first load, or reads the result of the first load.
    for third in ["global_load_dword v0, v[10:11], off", "global_load_dword v20, v[4:5], off"] {
        let text = format!(
            "global_load_dword v5, v[0:1], off | global_load_dword v6, v[2:3], off | {third} | s_endpgm"
        );
        assert_eq!(found(&text, rules), [(Some(0), 2)], "{third}");
        assert_eq!(found(&text, rules.without("xnack.clause").unwrap()), [], "{third}");
    } // Control falls into the middle of a clause: LLVM breaks this one before the third load.
    let text = "global_load_dword v5, v[0:1], off | L1: | global_load_dword v6, v[2:3], off | \
                global_load_dword v0, v[10:11], off | s_cbranch_scc1 L1 | s_endpgm";
    assert_eq!(found(text, rules), [(Some(0), 2)]);
}
