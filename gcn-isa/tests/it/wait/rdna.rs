//! Tests the counters of RDNA: programs with the waits that LLVM 22 inserts, and separate questions about pairs of operations.

use gcn_isa::Target;
use gcn_isa::check::{Options, check, check_with};
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::hazards::{Config, Grade};
use gcn_isa::wait::{Orders, WaitOptions, insert_waitcnt};

use super::counters::by_instruction;
use super::text;
use crate::golden::of_mir;

const GOLDEN: [&[u8]; 3] = [
    include_bytes!("../../data/rdna/waitcnt-golden.tsv.gz"),
    include_bytes!("../../data/rdna/waitcnt-golden-gfx1250.tsv.gz"),
    include_bytes!("../../data/rdna/waitcnt-golden-gfx1010.tsv.gz"),
];
const ORDER: [&[u8]; 2] = [
    include_bytes!("../../data/rdna/waitcnt-order.tsv.gz"),
    include_bytes!("../../data/rdna/waitcnt-order-gfx1250.tsv.gz"),
];

/// The target with this name. It may be a target whose objects no command accepts.
fn target(name: &str) -> Target {
    Target::KNOWN.into_iter().find(|target| target.name() == name).expect("a target")
}

/// The part of a wait that concerns copies to LDS.
fn copies_of(wait: WaitCnt) -> WaitCnt {
    let copies = [Counter::Async, Counter::Tensor].into_iter();
    copies.fold(WaitCnt::NONE, |part, counter| counter.set(part, counter.of(wait)))
}

/// Options that match LLVM, which leaves waits in loops and leaves the effect of barriers to fences.
fn as_llvm() -> WaitOptions {
    WaitOptions { barrier_orders: Orders::empty(), leave_loops: false, ..WaitOptions::default() }
}

#[derive(Default, Debug, PartialEq, Eq)]
struct Tally {
    rows: usize,
    /// The number of rows with the same wait before every instruction.
    equal: usize,
    /// The number of rows in which no wait is stronger than LLVM's and some wait is weaker.
    weaker: usize,
    /// The number of rows in which some wait is stronger.
    stronger: usize,
}

impl Tally {
    fn add(&mut self, mine: &[(&str, WaitCnt)], llvm: &[(&str, WaitCnt)]) {
        self.rows += 1;
        if mine == llvm {
            self.equal += 1;
        } else if mine.iter().zip(llvm).all(|(m, l)| m.1.and(l.1) == l.1) {
            self.weaker += 1;
        } else {
            self.stronger += 1;
        }
    }
}

/// Tests that on straight code every wait is equal to LLVM's. The other rows are programs with branches. There, a wait in a loop may serve
/// an operation before the loop, for which LLVM waits again (weaker), or LLVM may wait before a loop for operations that the loop does not
/// need at once (stronger).
#[test]
fn golden_programs_wait_as_llvm() {
    let (mut straight, mut branching) = (Tally::default(), Tally::default());
    let mut copies = 0;
    for row in GOLDEN.iter().flat_map(|file| text::rows(file)) {
        let [target, kind, program, golden] = &row[..] else { panic!("four columns: {row:?}") };
        // LLVM releases the registers of kernels that end while stores are outstanding.
        let golden = golden.replace("s_sendmsg sendmsg(MSG_DEALLOC_VGPRS) | s_endpgm", "s_endpgm");
        let target = self::target(target);
        let parse = |text: &str| {
            text::program(target, &text::cell(text)).unwrap_or_else(|e| panic!("{target} {kind}: {e}"))
        };
        let (mut ours, golden) = (parse(program), parse(&golden));
        insert_waitcnt(&mut ours, &as_llvm());
        let (mut mine, llvm) = (by_instruction(&ours), by_instruction(&golden));
        // LLVM 22 does not wait for copies between memory and LDS.
        for wait in mine.iter_mut().map(|(_, wait)| wait).filter(|wait| !copies_of(**wait).is_none()) {
            copies += 1;
            *wait = wait.without(copies_of(*wait));
        }
        assert_eq!(mine.len(), llvm.len(), "{target} {kind}");
        if program.contains("branch") { &mut branching } else { &mut straight }.add(&mine, &llvm);
    }
    assert_eq!(copies, 138);
    // Weaker: a load that returns proves that older stores have read their operands. LLVM relies on this only if no store is outstanding.
    assert_eq!(straight, Tally { rows: 580, equal: 559, weaker: 21, stronger: 0 });
    assert_eq!(branching, Tally { rows: 1322, equal: 1241, weaker: 62, stronger: 19 });
}

/// Tests the waits for a use of a result, for an overwritten result, and for the use of the first of two results. After a GWS instruction,
/// LLVM always waits for that instruction, and this wait also serves the earlier operation.
#[test]
fn pairs_of_operations_wait_as_llvm() {
    let mut tally = Tally::default();
    for row in ORDER.iter().flat_map(|file| text::rows(file)) {
        let [target, question, first, second, waits, program, ..] = &row[..] else { panic!("{row:?}") };
        let target = self::target(target);
        let name = format!("{target} {question}: {first}, {second}");
        let parse = |lines: &[&str]| text::program(target, lines).unwrap_or_else(|e| panic!("{name}: {e}"));
        let statements: Vec<&str> = text::cell(program).into_iter().map(of_mir).collect();
        let mut ours = parse(&statements);
        insert_waitcnt(&mut ours, &as_llvm());
        let waited = by_instruction(&ours);
        // The second instruction itself waits, because it overwrites SCC, the result of the first.
        let both_write_scc = first == second && second.contains("(SCC)");
        let of_second = waited.iter().rev().nth(1).filter(|_| both_write_scc);
        let mine = waited.last().into_iter().chain(of_second).fold(WaitCnt::NONE, |all, w| all.and(w.1));
        let mine = mine.without(copies_of(mine));
        let listed = waits.split(';').map(str::trim).filter(|wait| !wait.is_empty() && *wait != "none");
        let llvm = parse(&listed.collect::<Vec<_>>());
        let llvm = llvm.lines.iter().filter_map(|l| WaitCnt::of(&l.inst)).fold(WaitCnt::NONE, WaitCnt::and);
        if second == "GWS" {
            assert!(mine.and(llvm) == llvm, "{name}: {mine:?}, LLVM {llvm:?}");
        } else {
            assert_eq!(mine, llvm, "{name}");
        }
        tally.rows += 1;
    }
    assert_eq!(tally.rows, 8300);
}

/// Tests the waits for SCC that an instruction on barriers writes late. LLVM 22 (`llc -run-pass=si-insert-waitcnts`, the same on gfx1201 and
/// gfx1250) waits for kmcnt 0 before SCC is read or overwritten, unless an `s_barrier_wait` of the same barrier comes between, and the
/// instruction gave the barrier's number as a constant.
#[test]
fn scc_that_barriers_write_late() {
    let read = "s_cselect_b32 s0, 1, 0";
    let first = "s_barrier_signal_isfirst -1";
    let load = "s_load_b32 s8, s[2:3], 0x0";
    let cases: [(&[&str], usize); 17] = [
        (&[first, read], 1),
        (&[first, "s_mov_b32 s0, src_scc"], 1),
        (&[first, "s_cmp_eq_u32 s0, s1"], 1),
        (&[first, "s_add_co_u32 s0, s1, s2"], 1),
        (&[first, "s_mov_b32 s0, 1"], 0),
        (&[first, "s_barrier_wait -1", read], 0),
        (&[first, "s_barrier_wait 1", read], 1),
        (&["s_barrier_signal_isfirst 1", "s_barrier_wait 1", read], 0),
        (&["s_barrier_signal_isfirst m0", "s_barrier_wait -1", read], 1),
        (&[first, first, read], 2),
        (&[first, load, read], 1),
        (&[first, load, "s_barrier_wait -1", "s_mov_b32 s9, s8"], 1),
        (&["s_barrier_leave", read], 1),
        (&["s_barrier_leave", "s_barrier_wait -1", read], 1),
        (&["s_get_barrier_state s4, -1", read], 0),
        (&[first, "s_cbranch_scc1 L1", "L1:"], 1),
        (&[first, "s_cbranch_vccz L1", "s_barrier_wait -1", "L1:", read], 1),
    ];
    for target in [Target::GFX1201, Target::GFX1250] {
        for (lines, waits) in cases {
            let lines = [lines, &["s_endpgm"][..]].concat();
            let mut program = text::program(target, &lines).unwrap_or_else(|e| panic!("{e}"));
            let found = check(&program).findings.len();
            assert_eq!(found > 0, waits > 0, "{target} {lines:?}");
            let before = program.lines.len();
            insert_waitcnt(&mut program, &as_llvm());
            let waited = program.lines.iter().filter_map(|line| WaitCnt::of(&line.inst));
            assert!(waited.into_iter().all(|wait| wait == Counter::Km.at(0)), "{target} {lines:?}");
            assert_eq!(program.lines.len() - before, waits, "{target} {lines:?}");
            assert!(check(&program).is_clean(), "{target} {lines:?}");
        }
    }
}

/// The rules that `check` finds broken with a given minimum grade, and the number of waits that are inserted with this grade.
fn at_grade(target: Target, lines: &[&str], grade: Grade) -> (Vec<&'static str>, usize) {
    let program = text::program(target, lines).unwrap_or_else(|e| panic!("{e}"));
    let rules = Config::at_least(grade);
    let report = check_with(&program, Options { rules, ..Options::default() });
    let mut waited = program.clone();
    insert_waitcnt(&mut waited, &WaitOptions { rules, ..WaitOptions::default() });
    let report_after = check_with(&waited, Options { rules, ..Options::default() });
    assert!(report_after.is_clean(), "{report_after}");
    (report.findings.iter().map(|f| f.rule).collect(), waited.lines.len() - program.lines.len())
}

/// Tests loads of register halves. For RDNA 3 and 4, Triton 3.9 emits such loads without a wait between them, and LLVM 22 inserts a wait.
/// Before RDNA 3, the second load reads the half that it does not overwrite.
#[test]
fn halves_of_a_register_are_registers_from_rdna_3_on() {
    let loads = |lower: &str, upper: &str, read: &str| {
        [format!("{lower} v1, v2"), format!("{upper} v1, v2 offset:16"), read.to_owned(), "s_endpgm".into()]
    };
    let (low, high) = ("ds_load_u8_d16", "ds_load_u8_d16_hi");
    let whole = "v_mov_b32_e32 v3, v1";
    for target in [Target::GFX1100, Target::GFX1151, Target::GFX1201] {
        let ask = |lines: [String; 4], grade| {
            at_grade(target, &lines.iter().map(String::as_str).collect::<Vec<_>>(), grade)
        };
        let documented = |lines| ask(lines, Grade::Documented);
        assert_eq!(documented(loads(low, high, whole)), (vec!["waitcnt.raw", "waitcnt.raw"], 1));
        assert_eq!(documented(loads(high, low, whole)).1, 1);
        assert_eq!(documented(loads(low, low, whole)).1, 2, "the same half");
        assert_eq!(documented(loads("ds_load_b32", high, whole)).1, 2, "all of it");
        let upper = "ds_store_b16_d16_hi v2, v1";
        let lower = "ds_store_b16 v2, v1";
        // Both loads are of the same kind, so it is possible that only the first one is done.
        assert_eq!(documented(loads(low, high, lower)), (vec!["waitcnt.raw"], 1));
        assert_eq!(documented(loads(low, high, upper)), (vec!["waitcnt.raw"], 1));
        let cautious = ask(loads(low, high, whole), Grade::Cautious);
        assert_eq!(cautious.0[0], "waitcnt.half");
        assert_eq!(cautious.1, 2, "as LLVM 22 waits");
        let alu = ["global_load_d16_b16 v1, v[2:3], off", "v_add_f16_e64 v4.l, v1.h, v1.h", "s_endpgm"];
        if target != Target::GFX1201 {
            assert_eq!(at_grade(target, &alu, Grade::Documented), (vec![], 0));
            assert_eq!(at_grade(target, &alu, Grade::Cautious), (vec!["waitcnt.half"], 1));
        }
    }
    let older = ["ds_read_u8_d16 v1, v2", "ds_read_u8_d16_hi v1, v2 offset:16", "s_endpgm"];
    assert_eq!(at_grade(Target::GFX1030, &older, Grade::Documented).1, 1);
}

/// Tests copies to LDS that bypass registers, for which LLVM 22 inserts no waits. An instruction that reads LDS needs a wait. If there are
/// several copies, the wait covers only the copy that is read and the older ones.
#[test]
fn copies_to_lds_are_waited_for() {
    let copy = "global_load_async_to_lds_b32 v5, v[2:3], off";
    let tensor = "tensor_load_to_lds s[40:43], s[48:55]";
    for (first, rule, waits) in
        [(copy, "waitcnt.async-lds", Counter::Async), (tensor, "waitcnt.async-lds", Counter::Tensor)]
    {
        let lines = [first, "ds_load_b32 v1, v5", "s_endpgm"];
        assert_eq!(at_grade(Target::GFX1250, &lines, Grade::Documented), (vec![rule], 1), "{first}");
        let mut program = text::program(Target::GFX1250, &lines).unwrap();
        insert_waitcnt(&mut program, &WaitOptions::default());
        let waited =
            program.lines.iter().filter_map(|line| WaitCnt::of(&line.inst)).fold(WaitCnt::NONE, WaitCnt::and);
        assert_eq!(waited, waits.at(0));
    }
    let waited = [copy, "s_wait_asynccnt 0x0", "ds_load_b32 v1, v5", "s_endpgm"];
    assert_eq!(at_grade(Target::GFX1250, &waited, Grade::Documented), (vec![], 0));
    let other = [copy, "s_wait_loadcnt 0x0", "s_wait_tensorcnt 0x0", "ds_load_b32 v1, v5", "s_endpgm"];
    assert_eq!(at_grade(Target::GFX1250, &other, Grade::Documented), (vec!["waitcnt.async-lds"], 1));
}

/// A copy from LDS reads LDS at any time until it is done (LLVM's documentation of asynchronous operations: only a wait orders the operation
/// before later accesses).
#[test]
fn copies_from_lds_are_waited_for_before_lds_is_written() {
    let rule = "waitcnt.async-lds-read";
    let copy = "global_store_async_from_lds_b32 v[2:3], v5, off";
    let tensor = "tensor_store_from_lds s[40:43], s[48:55]";
    let write = "ds_store_b32 v5, v1";
    for (first, waits) in [(copy, Counter::Async), (tensor, Counter::Tensor)] {
        for write in [write, "ds_add_u32 v5, v1"] {
            let lines = [first, write, "s_endpgm"];
            assert_eq!(at_grade(Target::GFX1250, &lines, Grade::Documented), (vec![rule], 1), "{first}");
            let mut program = text::program(Target::GFX1250, &lines).unwrap();
            insert_waitcnt(&mut program, &WaitOptions::default());
            assert_eq!(WaitCnt::of(&program.lines[1].inst), Some(waits.at(0)));
            let early = text::program(Target::GFX1250, &lines).unwrap();
            assert_eq!(gcn_isa::check::unordered_lds_accesses(&early), [0], "`gcn fix` waits for these");
            assert!(gcn_isa::check::unordered_lds_accesses(&program).is_empty());
        }
        let read = [first, "ds_load_b32 v1, v5", "s_endpgm"];
        assert_eq!(at_grade(Target::GFX1250, &read, Grade::Documented), (vec![], 0));
    }
    let waited = [copy, "s_wait_asynccnt 0x0", write, "s_endpgm"];
    assert_eq!(at_grade(Target::GFX1250, &waited, Grade::Documented), (vec![], 0));
    let other = [copy, "s_wait_storecnt 0x0", "s_wait_dscnt 0x0", write, "s_endpgm"];
    assert_eq!(at_grade(Target::GFX1250, &other, Grade::Documented), (vec![rule], 1));
    // The younger copy may still read while the older one, which is waited for, is done.
    let younger = [copy, copy, "s_wait_asynccnt 0x1", write, "s_endpgm"];
    assert_eq!(at_grade(Target::GFX1250, &younger, Grade::Documented).0, vec![rule]);
}

/// Tests operands that memory instructions have yet to read. Results, memory instructions of other kinds, and xcnt prove that the operands
/// have been read.
#[test]
fn operands_are_read_before_they_change() {
    let store = "global_store_b32 v[2:3], v4, off";
    let over = "v_mov_b32_e32 v4, 0";
    let found = |lines: &[&str]| at_grade(Target::GFX1250, lines, Grade::Cautious);
    let war = || (vec!["waitcnt.operand-war"], 1);
    assert_eq!(found(&[store, over, "s_endpgm"]), war());
    assert_eq!(found(&[store, "s_wait_xcnt 0x0", over, "s_endpgm"]), (vec![], 0));
    // Operands are read in order, so one younger instruction may still have to read its operands.
    assert_eq!(
        found(&[store, "global_store_b32 v[2:3], v6, off", "s_wait_xcnt 0x1", over, "s_endpgm"]),
        (vec![], 0)
    );
    assert_eq!(
        found(&[store, "global_store_b32 v[2:3], v6, off", "s_wait_xcnt 0x2", over, "s_endpgm"]),
        (vec!["waitcnt.operand-war"], 0)
    );
    // A later load that has returned proves it; a load that is not waited for does not.
    assert_eq!(
        found(&[store, "global_load_b32 v5, v[2:3], off", "s_wait_loadcnt 0x0", over, "s_endpgm"]),
        (vec![], 0)
    );
    assert_eq!(found(&[store, "global_load_b32 v5, v[2:3], off", over, "s_endpgm"]), war());
    // An earlier load does not prove it.
    assert_eq!(
        found(&["global_load_b32 v5, v[2:3], off", store, "s_wait_loadcnt 0x0", over, "s_endpgm"]),
        war()
    );
    // Scalar memory instructions start only after vector memory instructions have read their operands.
    let scalar = "s_load_b32 s4, s[6:7], 0x0";
    assert_eq!(found(&[store, scalar, over, "s_endpgm"]), (vec![], 0));
    // The reverse holds too, so the scalar load does not make a wait for one younger instruction too weak: LLVM 22 inserts `s_wait_xcnt 1`.
    let younger = "global_store_b32 v[2:3], v6, off";
    assert_eq!(found(&[scalar, store, younger, "s_wait_xcnt 0x1", over, "s_endpgm"]), (vec![], 0));
    // On the other path, nothing proves it.
    let branches =
        [store, "s_cbranch_scc0 L1", "s_wait_storecnt 0x0", "s_wait_xcnt 0x0", "L1:", over, "s_endpgm"];
    assert_eq!(found(&branches), war());
}
