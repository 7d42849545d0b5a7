//! Tests `gcn fix`.

use crate::{TWO_KERNELS, gcn_with};

/// A kernel that lacks a wait and has a superfluous one.
const LACKS: &str = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942:xnack-\"\nk:\n\tds_read_b32 v0, v1\n\ts_nop 3\n\tv_mov_b32 v2, v0\n\ts_endpgm\n";

#[test]
fn the_text_goes_out_and_the_totals_to_standard_error() {
    let run = gcn_with(&["fix", "-"], LACKS.as_bytes());
    assert!(run.err.contains("1 waits inserted, 0 changed, 0 removed"), "{}", run.err);
    assert!(run.text().contains("\ts_nop 3\n\ts_waitcnt lgkmcnt(0)\n\tv_mov_b32 v2, v0\n"));
    let run = gcn_with(&["fix", "-", "--strip"], LACKS.as_bytes());
    assert!(run.err.contains("1 waits inserted, 0 changed, 1 removed"), "{}", run.err);
    assert_eq!(run.text(), LACKS.replace("s_nop 3", "s_waitcnt lgkmcnt(0)"));
}

#[test]
fn what_lacks_nothing_stays() {
    assert_eq!(gcn_with(&["fix", "-"], TWO_KERNELS.as_bytes()).text(), TWO_KERNELS);
    assert_eq!(gcn_with(&["fix", "-", "--strip"], TWO_KERNELS.as_bytes()).text(), TWO_KERNELS);
}

#[test]
fn json_and_totals() {
    let report = gcn_with(&["fix", "-", "--strip", "--json"], LACKS.as_bytes()).text();
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((&report["before"]["wait_states"], &report["after"]["wait_states"]), (&4.into(), &0.into()));
    let actions: Vec<_> =
        report["changes"].as_array().expect("a list").iter().map(|c| c["action"].clone()).collect();
    assert!(actions.contains(&"removed".into()) && actions.contains(&"inserted".into()), "{actions:?}");
    let table = gcn_with(&["fix", "-", "--strip", "--stats"], LACKS.as_bytes()).text();
    assert!(table.contains("<stdin>") && table.contains("4 -> 0"), "{table}");
}

#[test]
fn functions_that_cannot_be_read_do_not_stop_the_rest() {
    let text = b"func a:\nnonsense\n\nfunc b:\nds_read_b32 v0, v1\nv_mov_b32 v2, v0\n";
    let run = gcn_with(&["fix", "--target", "gfx90a", "--functions", "-", "--only", "counters"], text);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("a (line 1):1:1") && run.err.contains("1 of 2 functions"), "{}", run.err);
    let out = String::from_utf8(run.out).expect("UTF-8");
    assert_eq!(
        out,
        "func b:\ns_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\nds_read_b32 v0, v1\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, v0\n\n"
    );
}

#[test]
fn errors_are_shown_as_the_assembler_shows_them() {
    let error = gcn_with(&["fix", "-", "--target", "gfx942"], b"s_nopp 1\n").failure(1);
    assert!(error.contains("<stdin>:1:1") && error.contains("s_nop"), "{error}");
    gcn_with(&["fix", "a.s", "b.s"], b"").failure(2);
}

#[test]
fn xnack_and_narrower_target_ids_are_accepted() {
    let text = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\nk:\n\ts_load_dword s4, s[0:1], 0x0\n\ts_load_dwordx2 s[0:1], s[0:1], 0x8\n\ts_endpgm\n";
    let waits = |options: &[&str]| {
        let args: Vec<&str> = ["fix", "-"].iter().chain(options).copied().collect();
        gcn_with(&args, text.as_bytes()).text().contains("s_nop 0")
    };
    assert!(waits(&[]));
    assert!(!waits(&["--target", "gfx942:xnack-"]));
    assert!(waits(&["--target", "gfx942:xnack-", "--xnack", "on"]));
    assert!(!waits(&["--xnack", "off"]));
}

/// Asynchronous copies get a wait before LDS is read or written too early, in the wave itself or by another wave after a barrier.
#[test]
fn asynchronous_copies_are_waited_for() {
    let head = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx1250\"\nk:\n";
    let load = "\tglobal_load_async_to_lds_b32 v4, v[2:3], off\n";
    let store = "\tglobal_store_async_from_lds_b32 v[2:3], v4, off\n";
    let barrier = "\ts_barrier_signal -1\n\ts_barrier_wait -1\n";
    let (read, write) =
        ("\tds_load_b32 v5, v4\n\ts_wait_dscnt 0x0\n\tv_mov_b32_e32 v6, v5\n", "\tds_store_b32 v4, v1\n");
    let wait = "\ts_wait_asynccnt 0x0\n";
    for (copy, then) in [
        (load, read.to_owned()),
        (store, write.to_owned()),
        (load, format!("{barrier}{read}")),
        (store, format!("{barrier}{write}")),
    ] {
        let text = format!("{head}{copy}{then}\ts_endpgm\n");
        let fixed = gcn_with(&["fix", "-"], text.as_bytes()).text();
        assert_eq!(fixed, format!("{head}{copy}{wait}{then}\ts_endpgm\n"));
        assert_eq!(gcn_with(&["fix", "-"], fixed.as_bytes()).text(), fixed);
    }
    for text in [format!("{head}{store}{read}\ts_endpgm\n"), format!("{head}{load}\ts_endpgm\n")] {
        assert_eq!(gcn_with(&["fix", "-"], text.as_bytes()).text(), text, "no wait is needed");
    }
}

/// On gfx90a, a 64-bit shift whose shift amount is in the last VGPR reads past it. As in LLVM 22 (test `lshl64-hazard.mir`), that register
/// is swapped with another one, or a register pair with another pair if source or result is the pair that contains it.
#[test]
fn amounts_of_shifts_change_places() {
    let head = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\nk:\n";
    let fixed = |shift: &str| gcn_with(&["fix", "-"], format!("{head}\t{shift}\n\ts_endpgm\n").as_bytes());
    let run = fixed("v_lshlrev_b64 v[4:5], v7, v[0:1]");
    assert!(run.err.contains(":3: llvm.shift64: v2 and v7 change places around it"), "{}", run.err);
    let swap = "\tv_swap_b32 v2, v7\n";
    assert_eq!(run.text(), format!("{head}{swap}\tv_lshlrev_b64 v[4:5], v2, v[0:1]\n{swap}\ts_endpgm\n"));
    for (shift, moved) in [
        ("v_lshrrev_b64 v[4:5], v7, v[6:7]", "v_lshrrev_b64 v[4:5], v1, v[0:1]"),
        ("v_ashrrev_i64 v[6:7], v7, v[0:1]", "v_ashrrev_i64 v[2:3], v3, v[0:1]"),
        ("v_ashrrev_i64 v[6:7], v7, v[6:7]", "v_ashrrev_i64 v[0:1], v1, v[0:1]"),
    ] {
        let text = fixed(shift).text();
        assert!(text.contains(moved) && text.matches("v_swap_b32").count() == 4, "{text}");
        let check = gcn_with(&["check", "--level", "cautious", "-"], text.as_bytes());
        let said = String::from_utf8_lossy(&check.out);
        assert!(!said.contains("llvm.shift64"), "{said}");
    }
    // The rule is not in this rule set.
    let shift = format!("{head}\tv_lshlrev_b64 v[4:5], v7, v[0:1]\n\ts_endpgm\n");
    assert_eq!(gcn_with(&["fix", "-", "--rules", "certain"], shift.as_bytes()).text(), shift);
    // Code from a macro is not changed; a message reports it.
    let inside = format!("{head}.macro m\n\tv_lshlrev_b64 v[4:5], v7, v[0:1]\n.endm\n\tm\n\ts_endpgm\n");
    let run = gcn_with(&["fix", "-"], inside.as_bytes());
    assert!(run.err.contains("warning[llvm.shift64]: no wait mends this:"), "{}", run.err);
    assert_eq!(run.text(), inside);
}
