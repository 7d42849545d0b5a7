//! Tests full counters: an instruction waits until the counter has room.
//!
//! The expected values were counted by hand from the capacities that AMD's emulator models (ROCm/rocm-systems, issue 11202 and pull request
//! 10926): lgkmcnt holds 15 and vmcnt holds 63, an instruction that would exceed the capacity waits before it reads its operands, and
//! operations of one type are done in order. The waits after which LLVM 22 adds no further wait were measured on its machine code pass
//! `si-insert-waitcnts`.

use gcn_isa::Target;
use gcn_isa::check::{self, Options};
use gcn_isa::hazards::{Config, Grade};

use crate::golden;

const RAW: (&str, Grade) = ("waitcnt.raw", Grade::Certain);
const FULL: (&str, Grade) = ("waitcnt.full", Grade::Cautious);
const UNORDERED: (&str, Grade) = ("waitcnt.full-unordered", Grade::Cautious);

/// The findings in `text`, which must be the same on every target.
fn found(text: &str) -> Vec<(&'static str, Grade)> {
    let of = |target| found_on(text, target);
    let [first, rest @ ..] = &Target::REPRESENTATIVES.map(of)[..] else { panic!("there are targets") };
    assert!(rest.iter().all(|r| r == first), "{first:?} {rest:?}");
    first.clone()
}

fn found_on(text: &str, target: Target) -> Vec<(&'static str, Grade)> {
    about_the_first(text, target, Options::default())
}

/// The findings about the first operation. Later operations often conflict with each other as well.
fn about_the_first(text: &str, target: Target, options: Options) -> Vec<(&'static str, Grade)> {
    let report = check::check_with(&golden::program(text, target), options);
    report.findings.iter().filter(|f| f.first == Some(0)).map(|f| (f.rule, f.grade)).collect()
}

/// A program with `first`, then `count` copies of `later`, then `last`.
fn run(first: &str, later: &str, count: usize, last: &str) -> String {
    format!("{first} | {}{last} | s_endpgm", format!("{later} | ").repeat(count))
}

const LDS: &str = "ds_read_b32 v0, v9";
const LOAD: &str = "global_load_dword v0, v[4:5], off";
const USE: &str = "v_mov_b32_e32 v2, v0";

#[test]
fn of_sixteen_lds_operations_the_first_is_done() {
    for later in ["ds_read_b32 v1, v9", "ds_write_b32 v9, v8", "ds_add_u32 v9, v8"] {
        let after = |count| found(&run(LDS, later, count, USE));
        assert_eq!(
            [14, 15, 16, 17, 40].map(after),
            [vec![RAW], vec![FULL], vec![FULL], vec![FULL], vec![FULL]]
        );
    }
    // LLVM 22 inserts this wait for any number of operations.
    assert_eq!(found(&run(LDS, "ds_read_b32 v1, v9", 17, &format!("s_waitcnt lgkmcnt(14) | {USE}"))), []);
}

#[test]
fn of_sixty_four_loads_or_stores_the_first_is_done() {
    for later in ["global_load_dword v1, v[4:5], off", "global_store_dword v[4:5], v8, off"] {
        let after = |count| found(&run(LOAD, later, count, USE));
        assert_eq!([62, 63, 64, 70].map(after), [vec![RAW], vec![FULL], vec![FULL], vec![FULL]]);
        assert_eq!(found(&run(LOAD, later, 70, &format!("s_waitcnt vmcnt(62) | {USE}"))), []);
    }
}

/// Tests the data that GDS operations send. LLVM 22 waits for expcnt(6) after seven operations, and inserts no wait after eight.
#[test]
fn gds_data_is_sent_in_order_by_llvm_only() {
    let after = |count| {
        let text = run("ds_add_u32 v9, v8 gds", "ds_add_u32 v9, v7 gds", count, "v_mov_b32_e32 v8, 0");
        found_on(&text, Target::GFX906)
    };
    let [six, seven] = [6, 7].map(after);
    assert_eq!(six.iter().map(|f| f.0).collect::<Vec<_>>(), ["waitcnt.exp-war"]);
    assert_eq!(seven, [UNORDERED]);
}

/// Tests that the instruction waits before it reads its operands.
#[test]
fn the_instruction_that_is_held_up_may_use_the_result() {
    let last = "ds_read_b32 v2, v0";
    assert_eq!(found(&run(LDS, "ds_read_b32 v1, v9", 13, last)), [RAW]);
    assert_eq!(found(&run(LDS, "ds_read_b32 v1, v9", 14, last)), [FULL]);
    // A load of one dword counts as one, and a larger load counts as two.
    let scalar =
        |bits: &str, count| found(&run(LDS, "ds_read_b32 v1, v9", count, &format!("{bits} | {USE}")));
    let (one, two) = ("s_load_dword s4, s[8:9], 0x0", "s_load_dwordx2 s[4:5], s[8:9], 0x0");
    assert_eq!([scalar(one, 13), scalar(one, 14)], [vec![RAW], vec![FULL]]);
    assert_eq!([scalar(two, 12), scalar(two, 13)], [vec![RAW], vec![FULL]]);
}

/// Tests that room on one counter proves nothing about another counter.
#[test]
fn each_counter_has_its_own_room() {
    assert_eq!(found(&run(LDS, "global_load_dword v1, v[4:5], off", 80, USE)), [RAW]);
    assert_eq!(found(&run(LOAD, "ds_read_b32 v1, v9", 80, USE)), [RAW]);
}

/// Tests scalar loads: one of them is done, but it is unknown which one.
#[test]
fn what_has_no_order_is_not_done() {
    let scalar = |load: &str| run(load, "s_load_dwordx2 s[4:5], s[8:9], 0x0", 20, "s_mov_b32 s2, s6");
    assert_eq!(found(&scalar("s_load_dword s6, s[8:9], 0x0")), [RAW]);
    assert_eq!(found(&run(LDS, "s_load_dword s4, s[8:9], 0x0", 20, USE)), [RAW]);
    assert_eq!(
        found(&run("s_load_dword s6, s[8:9], 0x0", "ds_read_b32 v1, v9", 20, "s_mov_b32 s2, s6")),
        [RAW]
    );
    // Operations of its own type must follow; operations of other types do not matter.
    let mixed = |count: usize| {
        let later = "ds_read_b32 v1, v9 | s_load_dword s4, s[8:9], 0x0";
        found(&run(LDS, later, count, USE))
    };
    // The read, 14 more operations and the last scalar load are 16 operations.
    assert_eq!([mixed(13), mixed(14)], [vec![RAW], vec![FULL]]);
}

/// Tests that FLAT operations to memory do not fill lgkmcnt. They leave the counter at once, so they prove nothing about an LDS read. LLVM
/// 22 assumes that the read is done after 15 of them and any `s_waitcnt`.
#[test]
fn flat_operations_fill_a_counter_for_flat_operations_at_most() {
    let flat = "flat_load_dword v1, v[4:5] | s_waitcnt vmcnt(0)";
    let first = "flat_load_dword v0, v[4:5] | s_waitcnt vmcnt(0)";
    assert_eq!([14, 15].map(|n| found(&run(first, flat, n, USE))), [vec![RAW], vec![UNORDERED]]);
    assert_eq!(found(&run(LDS, flat, 20, USE)), [RAW]);
    assert_eq!(found(&run(LOAD, "flat_load_dword v1, v[4:5] | s_waitcnt lgkmcnt(0)", 80, USE)), [RAW]);
}

/// Tests that an operation is not considered done if one path does not fill the counter.
#[test]
fn every_path_has_to_be_held_up() {
    let reads = |count: usize| "ds_read_b32 v1, v9 | ".repeat(count);
    let text = |skipped: usize, always: usize| {
        format!("{LDS} | s_cbranch_scc1 L0 | {}L0: {}{USE} | s_endpgm", reads(skipped), reads(always))
    };
    let text = |skipped, always| text(skipped, always).replace("L0: ", "\nL0:\n");
    assert_eq!(found(&text(15, 0)), [RAW]);
    assert_eq!(found(&text(15, 14)), [RAW]);
    assert_eq!(found(&text(15, 15)), [FULL]);
    // In a loop, the first load is done before its use, and before the next iteration overwrites its result.
    let rotating = format!("L0:\n{LDS} | {}s_cbranch_scc1 L0 | {USE} | s_endpgm", reads(15));
    assert_eq!(found(&rotating), [FULL, FULL]);
}

/// Tests that a wait is required as long as the rule that doubts the stall is enabled.
#[test]
fn who_leaves_out_cautious_rules_trusts_the_stall() {
    let rules = Config::at_least(Grade::Documented);
    let text = run(LDS, "ds_read_b32 v1, v9", 15, USE);
    assert_eq!(about_the_first(&text, Target::GFX942, Options { rules, ..Options::default() }), []);
}
