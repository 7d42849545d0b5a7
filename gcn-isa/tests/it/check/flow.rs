//! Tests calls, functions, jumps to unknown targets, and undecodable bytes.

use gcn_isa::InstructionSet;
use gcn_isa::check::{self, Amount, Caveat, Finding};
use gcn_isa::counters::WaitCnt;
use gcn_isa::hazards::Grade;
use gcn_isa::program::{Entry, EntryKind};
use gcn_isa::{Program, Target};

use crate::golden;

fn program(text: &str) -> Program {
    golden::program(text, Target::GFX942)
}

fn function(text: &str) -> Program {
    let mut program = program(text);
    program.entries = vec![Entry { at: 0, kind: EntryKind::Function }];
    program
}

fn findings(program: &Program) -> Vec<Finding> {
    check::check(program).findings
}

fn rules(program: &Program) -> Vec<&'static str> {
    findings(program).iter().map(|f| f.rule).collect()
}

#[test]
fn a_function_waits_for_its_caller_before_it_touches_registers() {
    let body = "v_mov_b32_e32 v1, v0 | s_setpc_b64 s[30:31]";
    let [finding] = &findings(&function(body))[..] else { panic!() };
    assert_eq!(
        (finding.rule, finding.grade, finding.first, finding.second),
        ("call.entry", Grade::Cautious, None, 0)
    );
    assert_eq!(finding.need, Amount::Wait(WaitCnt::all(InstructionSet::GFX942).on(InstructionSet::GFX942)));
    let waits = |wait: &str| rules(&function(&format!("s_waitcnt {wait} | {body}")));
    assert_eq!(waits("vmcnt(0) expcnt(0) lgkmcnt(0)"), [""; 0]);
    assert_eq!(waits("vmcnt(0) expcnt(0)"), ["call.entry"]);
    assert_eq!(waits("vmcnt(0) lgkmcnt(0)"), ["call.entry"]);
    assert_eq!(waits("vmcnt(1) expcnt(0) lgkmcnt(0)"), ["call.entry"]);
    // The dispatcher leaves no operation outstanding.
    assert_eq!(rules(&program(body)), [""; 0]);
    // Instructions without registers may precede the wait, and only scalar loads write scalar registers.
    assert_eq!(
        rules(&function("s_nop 0 | s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0) | v_mov_b32_e32 v1, v0")),
        [""; 0]
    );
    assert_eq!(rules(&function("s_waitcnt lgkmcnt(0) | s_mov_b32 s0, 0 | s_endpgm")), [""; 0]);
}

#[test]
fn a_function_returns_with_nothing_outstanding() {
    let wait = "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)";
    let store = "global_store_dword v[2:3], v0, off";
    assert_eq!(rules(&function(&format!("{wait} | {store} | s_setpc_b64 s[30:31]"))), ["call.exit"]);
    assert_eq!(
        rules(&function(&format!("{wait} | {store} | s_waitcnt vmcnt(0) | s_setpc_b64 s[30:31]"))),
        [""; 0]
    );
    // A jump to another location, for example to another function, needs no wait.
    assert_eq!(rules(&function(&format!("{wait} | {store} | s_setpc_b64 s[4:5]"))), [""; 0]);
}

/// Tests `global_inv` before a return. LLVM 22 returns after `global_inv` without a wait, but inserts a wait if a load is also outstanding.
#[test]
fn a_function_returns_while_a_cache_is_invalidated() {
    let wait = "s_wait_loadcnt_dscnt 0x0 | s_wait_expcnt 0x0 | s_wait_samplecnt 0x0 | s_wait_bvhcnt 0x0 | s_wait_kmcnt 0x0";
    let (load, inv) = ("global_load_b32 v1, v[2:3], off", "global_inv scope:SCOPE_DEV");
    let (back, leave) = ("global_wb scope:SCOPE_SYS", "s_setpc_b64 s[30:31]");
    let asked = |body: &[&str]| {
        let mut program = golden::program(&[&[wait], body, &[leave]].concat().join(" | "), Target::GFX1201);
        program.entries = vec![Entry { at: 0, kind: EntryKind::Function }];
        rules(&program)
    };
    assert_eq!(asked(&[inv]), [""; 0]);
    assert_eq!(asked(&[back]), [""; 0]);
    assert_eq!(asked(&[load, inv]), ["call.exit"]);
    assert_eq!(asked(&[inv, load]), ["call.exit"]);
    assert_eq!(asked(&[load, inv, "s_wait_loadcnt 0x0"]), [""; 0]);
    assert_eq!(asked(&[load, "s_wait_loadcnt 0x0", inv]), [""; 0]);
}

#[test]
fn behind_a_call_nothing_is_outstanding() {
    let load = "global_load_dword v0, v[2:3], off";
    assert_eq!(
        rules(&program(&format!("{load} | s_swappc_b64 s[30:31], s[4:5] | v_mov_b32_e32 v1, v0 | s_endpgm"))),
        [""; 0]
    );
    // The operation remains outstanding in the called function.
    let callee = format!(
        "{load} | s_call_b64 s[30:31], F | s_endpgm | F: | v_mov_b32_e32 v1, v0 | s_setpc_b64 s[30:31]"
    );
    assert_eq!(rules(&program(&callee)), ["waitcnt.raw", "call.exit"]);
}

/// Tests that only the return has a finding. The wait at the return serves every caller, so the first use after the call has no separate
/// finding.
#[test]
fn what_a_function_leaves_outstanding_is_found_once() {
    let text = "s_call_b64 s[30:31], F | v_mov_b32_e32 v1, v0 | s_endpgm | F: | global_load_dword v0, v[2:3], off | \
                s_setpc_b64 s[30:31]";
    assert_eq!(rules(&program(text)), ["call.exit"]);
}

#[test]
fn a_jump_to_an_unknown_place_goes_to_every_unknown_place() {
    let load = "global_load_dword v0, v[2:3], off";
    let text = format!("{load} | s_setpc_b64 s[4:5] | v_mov_b32_e32 v1, v0 | s_endpgm");
    let [finding] = &findings(&program(&text))[..] else { panic!("{:?}", findings(&program(&text))) };
    assert_eq!((finding.rule, finding.grade, finding.second), ("waitcnt.raw", Grade::Cautious, 2));
    assert_eq!((finding.caveat, &finding.path[..]), (Some(Caveat::UnknownJump), &[2][..]));
    // A label that no branch names may be the destination of the jump; a label that a branch names is a known target.
    let label =
        format!("s_cbranch_scc1 A | {load} | s_setpc_b64 s[4:5] | A: | v_mov_b32_e32 v1, v0 | s_endpgm");
    assert_eq!(rules(&program(&label)), [""; 0]);
    let named = format!(
        "{load} | s_setpc_b64 s[4:5] | s_endpgm | A: | s_nop 0 | B: | v_mov_b32_e32 v1, v0 | s_endpgm"
    );
    assert_eq!(rules(&program(&named)), ["waitcnt.raw"]);
    // Wait states are also checked across the jump.
    let matrix = "v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[102:103], 0 | s_setpc_b64 s[4:5] | \
                  v_mov_b32_e32 v20, v3 | s_endpgm";
    let [finding] = &findings(&program(matrix))[..] else { panic!() };
    assert_eq!(
        (finding.rule, finding.grade, finding.have),
        ("cdna3.106", Grade::Cautious, Amount::States(1))
    );
    // An unknown return may lead to the instruction after any call.
    let returned = "s_swappc_b64 s[30:31], s[4:5] | v_mov_b32_e32 v20, v3 | s_endpgm | \
                    v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[102:103], 0 | s_setpc_b64 s[30:31]";
    assert_eq!(rules(&program(returned)), ["cdna3.106"]);
}

#[test]
fn what_cannot_be_read_leads_anywhere() {
    let mut program = program(
        "global_load_dword v0, v[2:3], off | s_nop 0 | v_mov_b32_e32 v1, v0 | s_branch A | A: | v_mov_b32_e32 v2, v0 | s_endpgm",
    );
    assert_eq!(rules(&program), ["waitcnt.raw", "waitcnt.raw"]);
    program.gaps = vec![2];
    let found = findings(&program);
    assert!(found.iter().all(|f| f.caveat == Some(Caveat::UnknownJump)), "{found:?}");
    assert_eq!(found.len(), 2);
    assert_eq!(check::check(&program).unknown_exits, [1]);
    // The code after the end of the program is unknown, and control does not return from it.
    program.gaps = vec![1];
    program.lines[0].inst = golden::inst("s_endpgm", Target::GFX942).into();
    assert!(findings(&program).is_empty());
}

#[test]
fn functions_are_checked_where_the_kernel_does_not_lead() {
    let text = "s_endpgm | s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0) | global_load_dword v0, v[2:3], off | \
                v_mov_b32_e32 v1, v0 | s_setpc_b64 s[30:31]";
    let mut program = program(text);
    assert_eq!(rules(&program), [""; 0]);
    program.entries =
        vec![Entry { at: 0, kind: EntryKind::Kernel }, Entry { at: 1, kind: EntryKind::Function }];
    assert_eq!(rules(&program), ["waitcnt.raw", "call.exit"]);
}

fn caveats(text: &str) -> Vec<(usize, Option<Caveat>)> {
    findings(&program(text)).iter().map(|f| (f.second, f.caveat)).collect()
}

/// Tests paths that need several branches to go a particular way. Such a path may be infeasible, because the condition of the first branch
/// may exclude that of the second.
#[test]
fn a_path_by_several_choices_is_less_sure() {
    let load = "global_load_dword v0, v[2:3], off";
    let read = "v_mov_b32_e32 v1, v0";
    let wait = "s_waitcnt vmcnt(0)";
    // The load may be skipped, and so may the wait.
    let two = format!(
        "s_cbranch_scc1 A | {load} | A: | s_nop 0 | s_cbranch_vccz B | {wait} | B: | s_cbranch_scc0 C | {wait} | C: | {read} | s_endpgm"
    );
    assert_eq!(caveats(&two), [(7, Some(Caveat::Branches))]);
    let one = format!("{load} | s_cbranch_scc1 A | {wait} | A: | {read} | s_endpgm");
    assert_eq!(caveats(&one), [(3, None)]);
    // Branches both of whose paths lead to the same violation are not choices.
    let alike = format!(
        "{load} | s_cbranch_scc1 A | s_nop 0 | A: | s_cbranch_scc0 B | s_nop 1 | B: | s_cbranch_vccz C | {wait} | C: | {read} | s_endpgm"
    );
    assert_eq!(caveats(&alike), [(7, None)]);
    // Every path to the read contains the load. A branch that leaves this path for another target is then not a choice, but a branch that
    // skips a wait is a choice.
    let leave = "s_cbranch_scc1 D | s_nop 0 | s_cbranch_vccz D";
    let guards = format!("{load} | {leave} | {read} | D: | s_endpgm");
    assert_eq!(caveats(&guards), [(4, None)]);
    let skipped = format!("s_cbranch_scc0 A | {load} | A: | {leave} | {read} | D: | s_endpgm");
    assert_eq!(caveats(&skipped), [(5, Some(Caveat::Branches))]);
    let waits = format!(
        "{load} | {leave} | s_cbranch_execz A | {wait} | A: | s_cbranch_vccnz B | {wait} | B: | {read} | D: | s_endpgm"
    );
    assert_eq!(caveats(&waits), [(8, Some(Caveat::Branches))]);
    // The exit of a loop is not a choice, because loops end.
    let loops = format!(
        "{load} | A: | s_nop 0 | s_cbranch_scc1 A | B: | s_nop 1 | s_cbranch_scc1 B | C: | s_nop 1 | s_cbranch_scc1 C | {read} | s_endpgm"
    );
    assert_eq!(caveats(&loops), [(7, None)]);
    // The path from the end of a loop to its start is one choice, regardless of the load's position in the loop.
    let around = format!("A: | {read} | {load} | s_cbranch_scc1 A | s_endpgm");
    assert_eq!(caveats(&around), [(0, None)]);
}
