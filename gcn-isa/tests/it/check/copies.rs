//! Tests asynchronous copies (gfx12.5) in programs with several buffers, in which a wait for a copy may come an iteration later.
//!
//! The programs are right or wrong by LLVM's documentation of asynchronous operations: an operation is complete at a wait that leaves at
//! most as many younger operations outstanding as the program has started since.

use gcn_isa::check::{self, Amount, Finding};
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::{Program, Target};

use crate::golden;

const LOAD: &str = "waitcnt.async-lds";
const STORE: &str = "waitcnt.async-lds-read";

fn program(text: &str) -> Program {
    golden::program(text, Target::GFX1250)
}

fn findings(text: &str) -> Vec<Finding> {
    check::check(&program(text)).findings
}

/// The rule of each finding with its two lines and the value of asynccnt that it needs.
fn found(text: &str) -> Vec<(&'static str, usize, usize, u8)> {
    let value = |need| match need {
        Amount::Wait(wait) => Counter::Async.of(wait.wait),
        _ => u8::MAX,
    };
    findings(text).iter().map(|f| (f.rule, f.first.unwrap_or(0), f.second, value(f.need))).collect()
}

const COPY: &str = "global_load_async_to_lds_b32";

/// While a copy fills one buffer, the loop reads the other. `between` stands between the copy and the read, `after` after the read, and
/// `end` after the loop. The copy in the loop is line 2; a wait for it completes the copy before the loop, too.
fn double_buffer(change: &str, between: &str, after: &str, end: &str) -> String {
    format!(
        "{COPY} v1, v[20:21], off | L1: | {change} | {COPY} v3, v[20:21], off | {between} | ds_load_b32 v6, v1 | {after} | \
         s_wait_dscnt 0x0 | v_mov_b32_e32 v1, v3 | s_cbranch_scc1 L1 | {end} | s_endpgm"
    )
}

/// Three ways to go from one buffer to the next.
const CHANGES: [&str; 3] =
    ["v_xor_b32_e32 v3, 0x400, v1", "v_sub_nc_u32_e32 v3, 0x400, v1", "v_add_nc_u32_e32 v3, 0x400, v1"];

#[test]
fn the_wait_of_the_next_iteration_serves_a_copy() {
    for change in CHANGES {
        let ask = |between, after, end| found(&double_buffer(change, between, after, end));
        assert_eq!(ask("s_wait_asynccnt 0x1", "s_nop 0", "s_nop 0"), []);
        assert_eq!(ask("s_wait_asynccnt 0x1", "s_nop 0", "s_wait_asynccnt 0x0 | ds_load_b32 v7, v1"), []);
        // After the loop, nothing has been copied since the last copy.
        let last = ask("s_wait_asynccnt 0x1", "s_nop 0", "ds_load_b32 v7, v1");
        assert_eq!(last, [(LOAD, 2, 9, 0)], "{change}");
        // Of two outstanding copies, this wait completes none.
        let weak = ask("s_wait_asynccnt 0x2", "s_nop 0", "s_nop 0");
        assert_eq!(weak, [(LOAD, 2, 4, 1)], "{change}");
        let late = ask("s_nop 0", "s_wait_asynccnt 0x1", "s_nop 0");
        assert_eq!(late, [(LOAD, 2, 4, 1)], "{change}");
        let one_path = ask("s_cbranch_vccz L2 | s_wait_asynccnt 0x1 | L2:", "s_nop 0", "s_nop 0");
        assert_eq!(one_path, [(LOAD, 2, 5, 1)], "{change}");
        let none = ask("s_nop 0", "s_nop 0", "s_nop 0");
        assert_eq!(none, [(LOAD, 2, 4, 1)], "{change}");
    }
}

/// The addresses are loaded, so nothing is known about them: the finding depends on the waits alone.
#[test]
fn unknown_addresses_may_be_those_of_several_buffers() {
    let ask = |wait: &str| {
        found(&format!(
            "L1: | ds_load_2addr_b32 v[10:11], v9 | s_wait_dscnt 0x0 | {COPY} v10, v[20:21], off | {wait} | \
             ds_load_b32 v6, v11 | s_wait_dscnt 0x0 | s_cbranch_scc1 L1 | s_endpgm"
        ))
    };
    assert_eq!(ask("s_wait_asynccnt 0x1"), []);
    assert_eq!(ask("s_nop 0"), [(LOAD, 2, 0, 0)]);
    // Control never comes back to the copy with a wait that completes it.
    let once = format!("{COPY} v10, v[20:21], off | s_wait_asynccnt 0x1 | ds_load_b32 v6, v11 | s_endpgm");
    assert_eq!(found(&once), [(LOAD, 0, 2, 0)]);
}

/// The bytes of a copy are those at its address, plus its offset.
#[test]
fn an_access_beside_the_copy_is_none_of_its_bytes() {
    let copy = "global_load_async_to_lds_b64 v1, v[20:21], off offset:8";
    let ask = |read: &str| {
        let served = "s_wait_asynccnt 0x0 | ds_load_b32 v7, v1";
        found(&format!("{copy} | {read} | s_wait_dscnt 0x0 | {served} | s_wait_dscnt 0x0 | s_endpgm"))
    };
    for read in
        ["ds_load_b32 v6, v1 offset:8", "ds_load_b32 v6, v1 offset:12", "ds_load_b64 v[6:7], v1 offset:4"]
    {
        assert_eq!(ask(read), [(LOAD, 0, 1, 0)], "{read}");
    }
    for read in ["ds_load_b32 v6, v1 offset:4", "ds_load_b32 v6, v1 offset:16", "ds_load_b32 v6, v2 offset:8"]
    {
        assert_eq!(ask(read), [], "{read}");
    }
}

#[test]
fn a_buffer_is_written_again_after_its_copy_to_memory() {
    let ask = |change: &str, wait: &str| {
        found(&format!(
            "L1: | {wait} | ds_store_b32 v1, v2 | s_wait_dscnt 0x0 | \
             global_store_async_from_lds_b32 v[20:21], v1, off | {change} | s_cbranch_scc1 L1 | s_endpgm"
        ))
    };
    for change in ["v_xor_b32_e32 v1, 0x400, v1", "v_sub_nc_u32_e32 v1, 0x400, v1"] {
        assert_eq!(ask(change, "s_wait_asynccnt 0x1"), [], "{change}");
        assert_eq!(ask(change, "s_wait_asynccnt 0x2"), [(STORE, 3, 1, 1)], "{change}");
        assert_eq!(ask(change, "s_wait_dscnt 0x0"), [(STORE, 3, 1, 1)], "{change}");
    }
    assert_eq!(ask("s_nop 0", "s_wait_asynccnt 0x1"), [(STORE, 3, 1, 0)]);
}

/// A wait repairs every wrong program, and right ones need none.
#[test]
fn the_inserter_agrees() {
    for (wait, lines) in [("s_wait_asynccnt 0x1", 0), ("s_wait_asynccnt 0x2", 1), ("s_nop 0", 1)] {
        let mut program = program(&double_buffer(CHANGES[0], wait, "s_nop 0", "s_nop 0"));
        let marked = check::unordered_lds_accesses(&program);
        assert_eq!(marked.is_empty(), lines == 0, "{wait}: {marked:?}");
        let order = gcn_isa::wait::LdsOrder::OfLines(marked);
        let options = gcn_isa::wait::WaitOptions { lds_order: order, ..Default::default() };
        gcn_isa::wait::insert_waitcnt(&mut program, &options);
        let zero = |line: &&gcn_isa::program::Line| WaitCnt::of(&line.inst) == Some(Counter::Async.at(0));
        assert_eq!(program.lines.iter().filter(zero).count(), lines, "{wait}");
        assert!(check::check(&program).is_clean(), "{wait}");
    }
}

/// LLVM documents that an arrival takes part in the waits of other waves (AMDGPU Execution Synchronization): they may pass the barrier as
/// soon as all waves have arrived. What a wave waits for between its arrival and its own wait therefore comes too late for them.
#[test]
fn a_wait_after_the_arrival_at_a_barrier_comes_too_late() {
    let rules = |text: &str| findings(text).iter().map(|f| (f.rule, f.second)).collect::<Vec<_>>();
    let ask = |first: &str, before: &str, between: &str| {
        rules(&format!(
            "{first} | {before} | s_barrier_signal -1 | {between} | s_barrier_wait -1 | ds_load_b32 v6, v11 | ds_store_b32 v12, v13 | \
             s_wait_dscnt 0x0 | s_endpgm"
        ))
    };
    for (first, wait, rule) in [
        ("global_load_async_to_lds_b32 v10, v[20:21], off", "s_wait_asynccnt 0x0", "barrier.lds-dma"),
        ("ds_store_b32 v10, v2", "s_wait_dscnt 0x0", "barrier.lds"),
        ("ds_load_b32 v7, v10", "s_wait_dscnt 0x0", "barrier.lds-read"),
    ] {
        assert_eq!(ask(first, wait, "s_nop 0"), [], "{first}");
        assert_eq!(ask(first, "s_nop 0", wait), [(rule, 2)], "{first}");
    }
}
