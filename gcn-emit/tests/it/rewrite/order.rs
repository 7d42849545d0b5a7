//! `--strip` keeps what orders memory. The sequences are those of the memory model tables of LLVM's AMDGPU guide.

use super::fixed;

/// Lines that are the same after `--strip`.
fn stays(lines: &[&str]) {
    assert_eq!(fixed(lines, true), lines);
}

#[test]
fn a_release_waits_for_its_stores_and_its_loads() {
    stays(&[
        "global_store_dword v0, v1, s[0:1]",
        "buffer_wbl2 sc1",
        "s_waitcnt vmcnt(0)",
        "global_store_dword v0, v2, s[2:3] sc1",
        "s_endpgm",
    ]);
    stays(&[
        "global_load_dword v5, v0, s[0:1]",
        "s_waitcnt vmcnt(0)",
        "global_store_dword v0, v2, s[2:3] sc1",
        "s_endpgm",
    ]);
}

#[test]
fn an_acquire_waits_for_its_load() {
    stays(&["global_load_dword v5, v0, s[0:1] sc1", "s_waitcnt vmcnt(0)", "buffer_inv sc1", "s_endpgm"]);
    stays(&["ds_read_b32 v5, v0", "s_waitcnt lgkmcnt(0)", "global_load_dword v6, v0, s[0:1]", "s_endpgm"]);
}

#[test]
fn a_barrier_waits_for_what_the_original_waited_for() {
    stays(&["global_store_dword v0, v1, s[0:1]", "s_waitcnt vmcnt(0)", "s_barrier", "s_endpgm"]);
    stays(&["ds_read_b32 v5, v0", "s_waitcnt lgkmcnt(0)", "s_barrier", "s_endpgm"]);
}

#[test]
fn a_partial_wait_stays_partial() {
    stays(&[
        "global_store_dword v0, v1, s[0:1]",
        "global_store_dword v0, v1, s[2:3]",
        "s_waitcnt vmcnt(1)",
        "s_barrier",
        "s_endpgm",
    ]);
}

#[test]
fn what_nobody_can_tell_goes() {
    let gone = |lines: &[&str]| {
        let kept: Vec<&str> = lines.iter().copied().filter(|l| !l.starts_with("s_waitcnt")).collect();
        assert_eq!(fixed(lines, true), kept);
    };
    // Nothing outstanding; nothing after it; a scalar load; a second wait for the same.
    gone(&["s_waitcnt vmcnt(0) lgkmcnt(0)", "s_barrier", "s_endpgm"]);
    gone(&["global_store_dword v0, v1, s[0:1]", "s_waitcnt vmcnt(0)", "s_endpgm"]);
    gone(&["s_load_dword s8, s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "s_barrier", "s_endpgm"]);
    let lines = [
        "ds_read_b32 v5, v0",
        "s_waitcnt lgkmcnt(0)",
        "s_waitcnt lgkmcnt(0)",
        "v_mov_b32 v1, v5",
        "s_endpgm",
    ];
    assert_eq!(fixed(&lines, true).len(), lines.len() - 1);
}

#[test]
fn a_wait_that_is_stronger_than_its_reader_needs_is_weakened() {
    let lines = fixed(
        &[
            "global_load_dword v5, v0, s[0:1]",
            "global_load_dword v6, v0, s[2:3]",
            "s_waitcnt vmcnt(0)",
            "v_mov_b32 v1, v5",
            "s_endpgm",
        ],
        true,
    );
    assert_eq!(lines[2], "s_waitcnt vmcnt(1)");
}

/// Two buffers in LDS: while data arrives in one, the other is read, and barriers are passed. What is written this way waits for
/// every load into LDS somewhere, and needs no wait more.
const TWO_BUFFERS: [&str; 18] = [
    "s_mov_b32 m0, s10",
    "s_nop 0",
    "buffer_load_dword v1, s[4:7], 0 offen lds",
    "s_mov_b32 m0, s11",
    "s_nop 0",
    "loop:",
    "buffer_load_dword v2, s[4:7], 0 offen lds",
    "s_waitcnt vmcnt(1)",
    "s_barrier",
    "ds_read_b32 v3, v4",
    "s_waitcnt lgkmcnt(0)",
    "v_add_f32 v5, v5, v3",
    "s_barrier",
    "s_cbranch_scc1 loop",
    "s_waitcnt vmcnt(0)",
    "s_barrier",
    "ds_read_b32 v3, v4",
    "s_endpgm",
];

#[test]
fn buffers_in_lds_that_the_program_orders_are_not_ordered_again() {
    assert_eq!(fixed(&TWO_BUFFERS, false), TWO_BUFFERS);
    stays(&TWO_BUFFERS);
}

/// The memory model has the wait (LLVM AMDGPU guide): another wave writes what is read.
#[test]
fn a_read_of_lds_is_waited_for_before_the_barrier_that_lets_others_write() {
    let swap = ["ds_read_b32 v3, v4", "s_barrier", "ds_write_b32 v4, v5", "s_endpgm"];
    let [read, barrier, write, end] = swap;
    assert_eq!(fixed(&swap, false), [read, "s_waitcnt lgkmcnt(0)", barrier, write, end]);
    stays(&[read, "s_waitcnt lgkmcnt(0)", barrier, write, end]);
    // Nobody writes before the next barrier, at which the read is done.
    let later = [read, barrier, "s_waitcnt lgkmcnt(0)", barrier, write, end];
    assert_eq!(fixed(&later, false), later);
    stays(&later);
}

#[test]
fn a_load_into_lds_that_nothing_waits_for_is_waited_for() {
    let lines = ["buffer_load_dword v1, s[4:7], 0 offen lds", "s_barrier", "ds_read_b32 v3, v4", "s_endpgm"];
    let [load, rest @ ..] = lines;
    let [barrier, read, end] = rest;
    assert_eq!(fixed(&lines, false), [load, "s_waitcnt vmcnt(0)", barrier, read, end]);
    // One whose wait stands on another path only, too.
    let missing: Vec<&str> =
        TWO_BUFFERS.iter().copied().filter(|l| !l.starts_with("s_waitcnt vmcnt")).collect();
    let mended = fixed(&missing, false);
    assert!(mended.iter().any(|l| l.starts_with("s_waitcnt vmcnt")), "{mended:?}");
}
