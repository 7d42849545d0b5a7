//! Tests the positions and explanations of waits: on the edges that come from a producer, at the call that is near enough, and only once.

use gcn_isa::hazards::RuleSet;
use gcn_isa::wait::{Inserted, WaitOptions, insert_wait_states, insert_waitcnt, insert_waits};
use gcn_isa::{Program, Target};

use super::text;

/// An instruction with 16 passes: a vector instruction may read the result only 18 wait states later.
const MFMA: &str = "v_mfma_f32_32x32x2_f32 v[0:15], v16, v17, v[0:15]";

fn program(lines: &[&str]) -> Program {
    text::program(Target::GFX942, lines).unwrap()
}

/// The number of wait states that were inserted before each line of the original program. Lines without inserted wait states are omitted.
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

/// Tests two loads on different counters whose results are used in a loop: one wait before the loop, with one reason for each load.
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

/// Tests that the wait before an inner loop is only for operations from outside the loop. It must not be for operations that the previous
/// execution of the inner loop has left outstanding.
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

/// Tests a loop with two entries. One entry has a matrix instruction. On the other entry, a clause of loads is still open, and no wait must
/// be inserted there.
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
    // 18 wait states are required, and the branch provides one of them.
    for xnack in [false, true] {
        let options = WaitOptions { rules: RuleSet::Safe.config(xnack), ..WaitOptions::default() };
        assert_eq!(states(&lines, &options), [(2, 17)], "{xnack}");
    }
}

/// Tests a function that is called twice. At the second call, the matrix instruction is farther away than at the first.
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
    // Between the two instructions there are: a call, a return, eight wait states, a call, a return.
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

/// Tests that XNACK replay repeats a clause of one kind of memory instructions: a scalar load begins a separate clause.
#[test]
fn a_clause_ends_where_another_kind_begins() {
    let options = WaitOptions { rules: RuleSet::Safe.config(true), ..WaitOptions::default() };
    let vector = "global_load_dword v0, v1, s[2:3]";
    let other = ["s_load_dword s4, s[6:7], 0x0", "s_load_dwordx2 s[2:3], s[6:7], 0x8"];
    assert_eq!(states(&[vector, other[0], other[1], "s_endpgm"], &options), []);
    assert_eq!(states(&["s_load_dword s4, s[2:3], 0x0", other[1], "s_endpgm"], &options), [(1, 1)]);
}

/// The instructions before which waits for counters are inserted if no wait may leave its loop, with these waits.
fn waits(lines: &[&str]) -> Vec<(String, String)> {
    let mut program = program(lines);
    insert_waitcnt(&mut program, &WaitOptions { leave_loops: false, ..WaitOptions::default() });
    let shown = gcn_emit::text::print_program(&program, gcn_emit::text::Comments::None);
    let code: Vec<&str> = shown.lines().map(str::trim).filter(|l| !l.ends_with(':')).collect();
    let waiting = code.windows(2).filter_map(|pair| Some((pair[0].strip_prefix("s_waitcnt ")?, pair[1])));
    waiting.map(|(wait, at)| (at.to_owned(), wait.to_owned())).collect()
}

/// A loop whose first instruction waits, from the second iteration on, for the scalar load of the previous iteration. This wait is for
/// everything, so the load of s4 is never outstanding after it. The loop contains an inner loop, a use of s4, `before` ahead of that use
/// and `after` following it; `end` follows the loop.
fn trips(before: &[&'static str], after: &[&'static str], end: &[&'static str]) -> Vec<&'static str> {
    let head = ["s_load_dword s4, s[0:1], 0x0", "L0:", "s_mov_b32 s20, s8"];
    let inner = ["L1:", "s_nop 0", "s_cbranch_scc0 L1"];
    let tail = ["s_load_dword s8, s[0:1], 0x4", "s_cbranch_vccz L0"];
    [&head, &inner, before, &["s_mov_b32 s21, s4"], after, &tail, end, &["s_endpgm"]].concat()
}

/// The first line of the loop of [`trips`], with its wait.
fn first() -> (String, String) {
    ("s_mov_b32 s20, s8".into(), "lgkmcnt(0)".into())
}

/// Tests that a load found outstanding only on the first visit does not remain so. On the first visit of the outer loop, the load of s4 is
/// outstanding, and the inner loop would propagate this forever.
#[test]
fn what_went_round_a_loop_before_its_wait_was_found_is_forgotten() {
    assert_eq!(waits(&trips(&[], &[], &[])), [first()]);
}

/// Tests that a wait is moved to after the loop, where it executes ten times less often, if no instruction at the original position needs
/// it.
#[test]
fn a_wait_that_only_a_colder_place_needs_moves_there() {
    let lines = trips(&["s_load_dword s6, s[0:1], 0x8"], &[], &["s_mov_b32 s22, s6"]);
    let after = ("s_mov_b32 s22, s6".into(), "lgkmcnt(0)".into());
    assert_eq!(waits(&lines), [first(), after]);
}

/// Tests the same program with a third operation: the moved wait also covers an operation that is used in the block after the loop.
#[test]
fn a_wait_that_has_moved_makes_one_after_it_unnecessary() {
    let end = [
        "s_load_dword s10, s[0:1], 0xc",
        "s_mov_b32 s22, s6",
        "s_load_dword s6, s[0:1], 0x10",
        "s_cbranch_scc1 L3",
        "L3:",
        "s_mov_b32 s23, s10",
    ];
    let after = ("s_mov_b32 s22, s6".into(), "lgkmcnt(0)".into());
    assert_eq!(waits(&trips(&["s_load_dword s6, s[0:1], 0x8"], &[], &end)), [first(), after]);
}

/// Tests that a wait is not moved into a loop within the loop.
#[test]
fn a_wait_that_a_hotter_place_needs_stays() {
    let inner = ["L2:", "s_mov_b32 s22, s6", "s_cbranch_scc1 L2"];
    let lines = trips(&["s_load_dword s6, s[0:1], 0x8"], &inner, &[]);
    let stays = ("s_mov_b32 s21, s4".into(), "lgkmcnt(0)".into());
    assert_eq!(waits(&lines), [first(), stays]);
}

/// Tests an inner loop that needs the older of two reads. The younger read may stay outstanding.
#[test]
fn a_wait_for_a_later_place_is_no_stronger_than_that_needs() {
    let inner = ["L2:", "v_mov_b32_e32 v3, v1", "s_cbranch_scc1 L2"];
    let lines = trips(&["ds_read_b32 v1, v0", "ds_read_b32 v2, v0"], &inner, &[]);
    let one_left = ("s_mov_b32 s21, s4".into(), "lgkmcnt(1)".into());
    assert_eq!(waits(&lines), [first(), one_left]);
}

/// Tests that one wait for 0 is inserted instead of two waits for 9 and 8. The two waits would stall for less time, but need one more
/// instruction.
#[test]
fn one_wait_is_better_than_two_weaker_ones() {
    let more = [
        "ds_read_b32 v10, v0",
        "ds_read_b32 v11, v0",
        "ds_read_b32 v12, v0",
        "ds_read_b32 v13, v0",
        "ds_read_b32 v14, v0",
        "ds_read_b32 v15, v0",
        "ds_read_b32 v16, v0",
        "ds_read_b32 v17, v0",
        "v_mov_b32_e32 v3, v1",
        "v_mov_b32_e32 v4, v2",
    ];
    let lines = trips(&["ds_read_b32 v1, v0", "ds_read_b32 v2, v0"], &more, &[]);
    let stays = ("s_mov_b32 s21, s4".into(), "lgkmcnt(0)".into());
    assert_eq!(waits(&lines), [first(), stays]);
}
