//! Counters of RDNA: programs with the waits that LLVM 22 inserts, and single questions about pairs of operations.

use gcn_isa::Target;
use gcn_isa::check::{Options, check_with};
use gcn_isa::counters::WaitCnt;
use gcn_isa::hazards::{Config, Grade};
use gcn_isa::wait::{Orders, WaitOptions, insert_waitcnt};

use super::counters::by_instruction;
use super::text;

const GOLDEN: [&[u8]; 2] = [
    include_bytes!("../../data/rdna/waitcnt-golden.tsv.gz"),
    include_bytes!("../../data/rdna/waitcnt-golden-gfx1010.tsv.gz"),
];
const ORDER: &[u8] = include_bytes!("../../data/rdna/waitcnt-order.tsv.gz");

/// LLVM leaves waits in loops, and barriers to fences.
fn as_llvm() -> WaitOptions {
    WaitOptions { barrier_orders: Orders::empty(), leave_loops: false, ..WaitOptions::default() }
}

#[derive(Default, Debug, PartialEq, Eq)]
struct Tally {
    rows: usize,
    /// The same wait before every instruction.
    equal: usize,
    /// Nowhere stronger than LLVM, somewhere weaker.
    weaker: usize,
    /// Somewhere stronger.
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

/// On straight code every wait is LLVM's. The others are programs with branches: a wait in a loop serves an operation before it, for
/// which LLVM waits again (weaker), or LLVM waits before a loop for what the loop does not need at once (stronger).
#[test]
fn golden_programs_wait_as_llvm() {
    let (mut straight, mut branching) = (Tally::default(), Tally::default());
    for row in GOLDEN.iter().flat_map(|file| text::rows(file)) {
        let [target, kind, program, golden] = &row[..] else { panic!("four columns: {row:?}") };
        let target: Target = target.parse().expect("a target");
        let parse = |text: &str| {
            text::program(target, &text::cell(text)).unwrap_or_else(|e| panic!("{target} {kind}: {e}"))
        };
        let (mut ours, golden) = (parse(program), parse(golden));
        insert_waitcnt(&mut ours, &as_llvm());
        let (mine, llvm) = (by_instruction(&ours), by_instruction(&golden));
        assert_eq!(mine.len(), llvm.len(), "{target} {kind}");
        if program.contains("branch") { &mut branching } else { &mut straight }.add(&mine, &llvm);
    }
    assert_eq!(straight, Tally { rows: 449, equal: 449, weaker: 0, stronger: 0 });
    assert_eq!(branching, Tally { rows: 1111, equal: 1077, weaker: 18, stronger: 16 });
}

/// What a use of a result, its overwriting, or the use of the first of two waits for. After a GWS instruction LLVM waits for it, whatever
/// follows, which serves as the wait for what stood before.
#[test]
fn pairs_of_operations_wait_as_llvm() {
    let mut tally = Tally::default();
    for row in text::rows(ORDER) {
        let [target, question, first, second, waits, program, ..] = &row[..] else { panic!("{row:?}") };
        let target: Target = target.parse().expect("a target");
        let name = format!("{target} {question}: {first}, {second}");
        let parse = |lines: &[&str]| text::program(target, lines).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut ours = parse(&text::cell(program));
        insert_waitcnt(&mut ours, &as_llvm());
        let mine = by_instruction(&ours).last().map_or(WaitCnt::NONE, |last| last.1);
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
    assert_eq!(tally.rows, 3295);
}

/// The rules that `check` finds broken, and the number of waits that are inserted, at a grade.
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

/// Triton 3.9 has such loads for RDNA 3 and 4 without a wait between them, LLVM 22 waits. Before RDNA 3 the second load reads the half that
/// it leaves.
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
        // Both loads are of one kind, so that the first can be done alone.
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
