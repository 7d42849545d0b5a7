//! Tests the `func NAME:` format.

use gcn_emit::rewrite::{Only, Options, fix_functions};

#[test]
fn each_function_is_read_by_itself() {
    let text = "func a:\nv_mov_b32 v0, v1\n=== skipped\nnonsense\n\nfunc b:\ns_branch nowhere\nfunc c:\ns_nop 0 x\nfunc d:\n";
    let fixed = fix_functions(text, "gfx90a".parse().unwrap(), &Options::default());
    let names: Vec<&str> = fixed.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    assert_eq!(fixed[0].result.as_deref(), Ok("s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\nv_mov_b32 v0, v1\n"));
    assert!(fixed[1].result.as_ref().unwrap_err().to_string().contains("`nowhere` is not defined"));
    assert!(fixed[2].result.as_ref().unwrap_err().to_string().contains("c (line 8):1"));
    assert_eq!(fixed[3].result.as_deref(), Ok(""));
}

#[test]
fn the_entry_wait_stands_before_a_loop_to_the_first_instruction() {
    let options = Options { only: Some(Only::Counters), ..Options::default() };
    let fixed = fix_functions(
        "func f:\nL1:\nv_mov_b32 v0, v1\ns_cbranch_scc0 L1\n",
        "gfx942".parse().unwrap(),
        &options,
    );
    let text = fixed[0].result.as_deref().unwrap();
    assert_eq!(text, "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\nL1:\nv_mov_b32 v0, v1\ns_cbranch_scc0 L1\n");
}

#[test]
fn xnack_decides_about_clauses() {
    // With XNACK on, LLVM 22 separates a load from one that overwrites its address (rules.tsv, xnack.clause).
    let text = "func f:\nglobal_load_dword v0, v[2:3], off\nglobal_load_dword v2, v[4:5], off\n";
    let options = Options { only: Some(Only::WaitStates), ..Options::default() };
    let nops = |target: &str| {
        let fixed = fix_functions(text, target.parse().unwrap(), &options);
        fixed[0].result.as_deref().unwrap().matches("s_nop").count()
    };
    assert_eq!((nops("gfx90a:xnack+"), nops("gfx90a:xnack-")), (1, 0));
    assert_eq!(nops("gfx90a"), nops("gfx90a:xnack+"));
}
