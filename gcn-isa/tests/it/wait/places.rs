//! Where a wait stands and what it is explained by: on the edges that bring a producer, at the call that is near, once.

use gcn_isa::hazards::RuleSet;
use gcn_isa::wait::{Inserted, WaitOptions, insert_wait_states, insert_waitcnt, insert_waits};
use gcn_isa::{Program, Target};

use super::text;

/// 16 passes: a vector instruction reads the result 18 wait states later at the earliest.
const MFMA: &str = "v_mfma_f32_32x32x2_f32 v[0:15], v16, v17, v[0:15]";

fn program(lines: &[&str]) -> Program {
    text::program(Target::GFX942, lines).unwrap()
}

/// The wait states that were inserted before each old line that has some, by that line.
fn states(lines: &[&str], options: &WaitOptions) -> Vec<(usize, u32)> {
    let mut program = program(lines);
    let mut added = 0;
    let inserted = insert_wait_states(&mut program, options);
    let before = |i: &Inserted| {
        let here = program.lines[i.at..i.at + i.count].iter();
        let states = here.map(|l| gcn_isa::hazards::wait_states(&l.inst)).sum();
        added += i.count;
        (i.at + i.count - added, states)
    };
    inserted.iter().map(before).collect()
}

/// Two loads of different counters, each used in a loop: one wait before it, with one reason for each.
#[test]
fn a_wait_that_left_a_loop_has_each_reason_once() {
    let mut program = program(&[
        "global_load_dword v0, v[2:3], off",
        "ds_read_b32 v1, v4",
        "s_mov_b32 s0, 0",
        "L1:",
        "v_mov_b32_e32 v5, v0",
        "v_mov_b32_e32 v6, v1",
        "s_cbranch_scc0 L1",
        "s_endpgm",
    ]);
    let inserted = insert_waitcnt(&mut program, &WaitOptions::default());
    let [only] = &inserted[..] else { panic!("one wait: {inserted:?}") };
    let reasons: Vec<String> = only.reasons.iter().map(ToString::to_string).collect();
    assert!(only.at == 3 && program.labels[0].at == Some(4), "{}", text::shown(&program));
    assert!(reasons.len() == 2 && reasons[0].contains("v0") && reasons[1].contains("v1"), "{reasons:?}");
}

/// Before an inner loop only what comes from outside it is waited for, not what its own last trip has left outstanding.
#[test]
fn operations_of_a_loop_are_waited_for_in_it() {
    let mut program = program(&[
        "L0:",
        "ds_read_b32 v1, v4",
        "L1:",
        "v_add_u32_e32 v5, v0, v1",
        "global_load_dword v0, v[2:3], off",
        "s_cbranch_scc0 L1",
        "s_cbranch_vccz L0",
        "s_endpgm",
    ]);
    insert_waitcnt(&mut program, &WaitOptions::default());
    let shown = text::shown(&program);
    let code = shown.lines().map(|l| l.split(';').next().unwrap_or_default().trim());
    let code: Vec<&str> = code.skip_while(|l| !l.starts_with("ds_read")).take(4).collect();
    assert_eq!(code[1..], ["s_waitcnt lgkmcnt(0)", "L1:", "s_waitcnt vmcnt(0)"], "{shown}");
}

/// Of two ways into a loop one has a matrix instruction. The other, on which a clause of loads is open, waits for nothing.
#[test]
fn only_edges_that_bring_a_producer_wait() {
    let lines = [
        "s_cbranch_scc1 L0",
        MFMA,
        "s_branch L1",
        "L0:",
        "global_load_dword v40, v[42:43], off",
        "L1:",
        "v_mov_b32_e32 v20, v0",
        "s_cbranch_vccnz L1",
        "s_endpgm",
    ];
    // 18 states, of which the branch is one.
    for xnack in [false, true] {
        let options = WaitOptions { rules: RuleSet::Safe.config(xnack), ..WaitOptions::default() };
        assert_eq!(states(&lines, &options), [(2, 17)], "{xnack}");
    }
}

/// A function that is called twice: at the second call the matrix instruction is farther away than at the first.
#[test]
fn what_a_function_returns_to_is_as_far_as_at_its_own_call() {
    let lines = [
        MFMA,
        "s_call_b64 s[30:31], L1",
        "s_nop 7",
        "s_call_b64 s[30:31], L1",
        "v_mov_b32_e32 v20, v0",
        "s_endpgm",
        "L1:",
        "s_setpc_b64 s[30:31]",
    ];
    // Between the two: call, return, eight states, call, return.
    assert_eq!(states(&lines, &WaitOptions::default()), [(4, 18 - 12)]);
}

#[test]
fn lines_have_notes_if_they_are_asked_for() {
    let noted = |notes: bool| {
        let mut program = program(&[
            "ds_read_b32 v0, v1",
            "v_mov_b32_e32 v2, v0",
            MFMA,
            "v_mov_b32_e32 v2, v0",
            "s_endpgm",
        ]);
        let inserted = insert_waits(&mut program, &WaitOptions { notes, ..WaitOptions::default() });
        (inserted.len(), program.lines.iter().filter(|l| l.note.is_some()).count())
    };
    assert_eq!(noted(false).1, 0);
    let (waits, notes) = noted(true);
    assert!(waits > 1 && notes >= waits, "{waits} {notes}");
}

/// Replay repeats a clause of one kind of memory instructions: a scalar load begins a clause of its own.
#[test]
fn a_clause_ends_where_another_kind_begins() {
    let options = WaitOptions { rules: RuleSet::Safe.config(true), ..WaitOptions::default() };
    let vector = "global_load_dword v0, v1, s[2:3]";
    let other = ["s_load_dword s4, s[6:7], 0x0", "s_load_dwordx2 s[2:3], s[6:7], 0x8"];
    assert_eq!(states(&[vector, other[0], other[1], "s_endpgm"], &options), []);
    assert_eq!(states(&["s_load_dword s4, s[2:3], 0x0", other[1], "s_endpgm"], &options), [(1, 1)]);
}
