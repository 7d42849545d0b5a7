//! Tests the insertion of waits for counters against the golden programs that were measured with LLVM 22, and against the independent
//! [`oracle`](super::oracle), which follows every path of a small program.

use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::wait::{
    Demand, Inserted, InsertedKind, Orders, WaitOptions, insert_wait_states, insert_waitcnt, insert_waits,
};
use gcn_isa::{InstructionSet, Program, Target};
use gcn_test_support::Random;
use gcn_test_support::env::{fuzz_seeds, fuzz_step};

use super::oracle::{Verdict, judge_counters, reached};
use super::text;

const GOLDEN: &[u8] = include_bytes!("../../data/waitcnt-golden.tsv.gz");

/// The counters of GFX9.
const COUNTERS: [Counter; 3] = [Counter::Vm, Counter::Lgkm, Counter::Exp];
pub const SET: InstructionSet = InstructionSet::GFX900;

pub fn wait_of(program: &Program, line: usize) -> Option<WaitCnt> {
    WaitCnt::of(&program.lines[line].inst)
}

pub fn set_wait(program: &mut Program, line: usize, wait: WaitCnt) {
    wait.put_into(program.lines[line].inst_mut());
}

/// Each instruction that is not an `s_waitcnt`, with the wait immediately before it.
pub fn by_instruction(program: &Program) -> Vec<(&'static str, WaitCnt)> {
    let mut wait = WaitCnt::NONE;
    let mut found = Vec::new();
    for line in 0..program.lines.len() {
        match wait_of(program, line) {
            Some(more) => wait = wait.and(more),
            None => {
                found.push((program.lines[line].inst.desc.printed, wait));
                wait = WaitCnt::NONE;
            }
        }
    }
    found
}

pub fn parts(wait: WaitCnt) -> [u8; 3] {
    COUNTERS.map(|counter| counter.of(wait).min(counter.capacity(SET)))
}

pub fn from_parts(values: [u8; 3]) -> WaitCnt {
    let parts = COUNTERS.into_iter().zip(values).filter(|(counter, value)| *value < counter.capacity(SET));
    parts.fold(WaitCnt::NONE, |wait, (counter, value)| counter.set(wait, value))
}

/// Checks that our checker finds no error with counters.
fn assert_checked(program: &Program, name: &str) {
    let report = crate::check::strict(program);
    let about_counters =
        report.findings.iter().find(|f| f.rule.starts_with("waitcnt.") || f.rule.starts_with("barrier."));
    if let Some(finding) = about_counters {
        panic!("{name}: {}\n{}", finding.message(), text::shown(program));
    }
}

/// Weakens each inserted counter value by one, separately, and checks that the oracle rejects the result.
fn assert_minimal(program: &Program, inserted: &[Inserted], name: &str) {
    let reached = reached(program);
    for i in inserted.iter().filter(|i| i.kind == InsertedKind::Waitcnt && i.count > 0 && reached[i.at]) {
        let wait = wait_of(program, i.at).expect("an s_waitcnt");
        for counter in 0..3 {
            let most = parts(WaitCnt::NONE);
            let mut weaker = parts(wait);
            if weaker[counter] == most[counter] {
                continue;
            }
            weaker[counter] += 1;
            let mut less = program.clone();
            set_wait(&mut less, i.at, from_parts(weaker));
            assert!(!crate::check::strict(&less).findings.is_empty(), "{name}: {wait:?} at {}", i.at);
            let verdict = judge_counters(&less);
            assert!(
                matches!(verdict, Verdict::Violation(..) | Verdict::TooLarge),
                "{name}: {wait:?} at {} could be {:?} in\n{}\n{:#?}",
                i.at,
                from_parts(weaker),
                text::shown(program),
                i.reasons
            );
        }
    }
}

#[derive(Default, Debug, PartialEq, Eq)]
struct Tally {
    rows: usize,
    /// The number of rows that were not parsed because the table has no `exp` instruction.
    skipped: usize,
    /// The number of rows with the same wait before every instruction.
    equal: usize,
    /// The number of rows in which no wait is stronger than LLVM's and some wait is weaker.
    weaker: usize,
    /// The number of rows with a vector memory load that overwrites the result of a FLAT load: LLVM waits only for lgkmcnt, but we also
    /// wait for vmcnt, because FLAT may decrease either counter first.
    flat: usize,
    /// The number of rows with a stronger wait before one instruction, because LLVM waited before an earlier instruction that does not need
    /// the wait.
    elsewhere: usize,
}

/// True if some wait of `program` is not needed by the instruction that follows it.
pub fn waits_early(program: &Program) -> bool {
    (0..program.lines.len()).any(|line| {
        let Some(wait) = wait_of(program, line) else { return false };
        (0..3).any(|counter| {
            let mut weaker = parts(wait);
            weaker[counter] = parts(WaitCnt::NONE)[counter];
            let mut less = program.clone();
            set_wait(&mut less, line, from_parts(weaker));
            let at_once = matches!(judge_counters(&less), Verdict::Violation(at, _) if at == line + 1);
            from_parts(weaker) != wait && !at_once
        })
    })
}

/// True if our wait before a vector memory instruction is LLVM's wait plus vmcnt(0).
fn is_flat_overwritten(mine: &(&str, WaitCnt), llvm: &(&str, WaitCnt)) -> bool {
    mine.0.starts_with("global_") && Counter::Lgkm.of(llvm.1) == 0 && mine.1 == Counter::Vm.set(llvm.1, 0)
}

/// Tests that no wait is stronger than LLVM's if waits are not moved out of loops, and if barriers order no accesses on the targets where
/// LLVM leaves that order to fences.
#[test]
fn golden_programs_wait_no_more_than_llvm() {
    let options =
        WaitOptions { barrier_orders: Orders::empty(), leave_loops: false, ..WaitOptions::default() };
    let mut tally = Tally::default();
    for row in text::rows(GOLDEN) {
        let [target, kind, program, golden] = &row[..] else { panic!("four columns: {row:?}") };
        let target: Target = target.parse().unwrap();
        tally.rows += 1;
        if program.contains("exp mrt") {
            tally.skipped += 1;
            continue;
        }
        let name = format!("{target} {kind}");
        let parse = |t: &str| text::program(target, &text::cell(t)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (mut ours, golden) = (parse(program), parse(golden));
        insert_waitcnt(&mut ours, &options);
        let (mine, llvm) = (by_instruction(&ours), by_instruction(&golden));
        assert_eq!(mine.len(), llvm.len(), "{name}");
        if mine == llvm {
            tally.equal += 1;
        } else if mine.iter().zip(&llvm).all(|(m, l)| m.1.and(l.1) == l.1) {
            tally.weaker += 1;
        } else if mine.iter().zip(&llvm).all(|(m, l)| m.1.and(l.1) == l.1 || is_flat_overwritten(m, l)) {
            tally.flat += 1;
        } else {
            let both = || format!("{name}\n{}\nLLVM\n{}", text::shown(&ours), text::shown(&golden));
            assert!(waits_early(&golden), "{}", both());
            tally.elsewhere += 1;
        }
    }
    println!("{tally:?}");
    assert_eq!(tally, Tally { rows: 520, skipped: 11, equal: 501, weaker: 6, flat: 1, elsewhere: 1 });
}

/// Tests the default options: barriers order LDS accesses, and waits are moved out of loops.
#[test]
fn golden_programs_are_sufficient_and_minimal() {
    let mut too_large = 0;
    for row in text::rows(GOLDEN).into_iter().step_by(fuzz_step(1)) {
        let target: Target = row[0].parse().unwrap();
        if row[2].contains("exp mrt") {
            continue;
        }
        let name = format!("{target} {}", row[1]);
        let mut program = text::program(target, &text::cell(&row[2])).unwrap();
        let inserted = insert_waitcnt(&mut program, &WaitOptions::default());
        let shown = || text::shown(&program);
        assert_checked(&program, &name);
        match judge_counters(&program) {
            Verdict::Clean => assert_minimal(&program, &inserted, &name),
            Verdict::TooLarge => too_large += 1,
            other => panic!("{name}: {other:?}\n{}", shown()),
        }
    }
    println!("{too_large} programs too large to follow");
    assert!(too_large < 10);
}

pub const PALETTE: [&str; 30] = [
    "global_load_dword v0, v[40:41], off",
    "global_load_dword v1, v[40:41], off",
    "global_load_dwordx4 v[0:3], v[40:41], off",
    "global_store_dword v[40:41], v1, off",
    "global_load_short_d16 v0, v[40:41], off",
    "flat_load_dword v2, v[40:41]",
    "flat_store_dword v[40:41], v2",
    "ds_read_b32 v0, v42",
    "ds_read_b32 v1, v42",
    "ds_read_b64 v[2:3], v42",
    "ds_write_b32 v42, v0",
    "ds_bpermute_b32 v3, v42, v43",
    "s_load_dword s4, s[28:29], 0x0",
    "s_load_dwordx2 s[4:5], s[28:29], 0x0",
    "s_mov_b32 s6, s4",
    "s_mov_b32 s5, 0",
    "v_mov_b32_e32 v20, v0",
    "v_mov_b32_e32 v21, v1",
    "v_add_f32_e32 v20, v2, v3",
    "v_mov_b32_e32 v0, 0",
    "v_mov_b32_e32 v2, s4",
    "v_nop",
    "s_barrier",
    "buffer_load_dword v42, s[24:27], 0 offen lds",
    "s_sendmsg sendmsg(MSG_INTERRUPT)",
    "s_waitcnt vmcnt(1)",
    "s_waitcnt lgkmcnt(0)",
    "s_waitcnt vmcnt(0) lgkmcnt(2)",
    "global_atomic_add v[40:41], v1, off",
    "ds_add_rtn_u32 v1, v42, v43",
];

/// A program of up to `blocks` blocks with branches to arbitrary blocks.
pub fn random_program(rng: &mut Random, target: Target, palette: &[&str], blocks: usize) -> Program {
    let blocks = 1 + rng.below(blocks);
    // Programs with few kinds of instructions have longer queues.
    let sorts = 3 + rng.below(palette.len() - 3);
    let chosen: Vec<&str> = (0..sorts).map(|_| *rng.pick(palette)).collect();
    let mut lines: Vec<String> = Vec::new();
    for b in 0..blocks {
        lines.push(format!("L{b}:"));
        for _ in 0..rng.below(7) {
            lines.push((*rng.pick(&chosen)).to_owned());
        }
        match rng.below(4) {
            0 => lines.push(format!("s_branch L{}", rng.below(blocks))),
            1 | 2 => lines.push(format!("s_cbranch_scc1 L{}", rng.below(blocks))),
            _ => {}
        }
    }
    lines.push("s_endpgm".into());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    text::program(target, &lines).unwrap_or_else(|e| panic!("{e}\n{}", lines.join("\n")))
}

#[test]
fn random_programs_are_sufficient_and_minimal() {
    let (mut waits, mut too_large) = (0, 0);
    for seed in fuzz_seeds(1, 250) {
        let mut rng = Random::new(seed);
        let target = [Target::GFX908, Target::GFX90A, Target::GFX942][rng.below(3)];
        let palette: Vec<&str> =
            PALETTE.iter().copied().filter(|p| target != Target::GFX942 || !p.ends_with("lds")).collect();
        let mut program = random_program(&mut rng, target, &palette, 6);
        let options = WaitOptions { leave_loops: rng.one_in(2), ..WaitOptions::default() };
        let inserted = insert_waitcnt(&mut program, &options);
        let name = format!("seed {seed} {target}");
        assert_checked(&program, &name);
        match judge_counters(&program) {
            Verdict::Clean => {}
            Verdict::TooLarge => {
                too_large += 1;
                continue;
            }
            other => panic!("{name}: {other:?}\n{}", text::shown(&program)),
        }
        waits += inserted.len();
        assert_minimal(&program, &inserted, &name);
        // A second run must not change anything.
        let again = insert_waitcnt(&mut program.clone(), &options);
        assert_eq!(again, [], "{name}");
    }
    println!("{waits} waits, {too_large} programs too large to follow");
    assert!(too_large * 20 <= waits, "{too_large} of {waits}");
}

/// The program with its waits, as one text per line, without labels.
fn with_waits(target: Target, lines: &[&str], options: &WaitOptions) -> (Vec<String>, Vec<Inserted>) {
    let mut program = text::program(target, lines).unwrap();
    let inserted = insert_waits(&mut program, options);
    let shown = |l: &gcn_isa::Line| {
        gcn_emit::text::InstText { inst: &l.inst, target, program: Some(&program) }.to_string()
    };
    (program.lines.iter().map(shown).collect(), inserted)
}

#[test]
fn what_only_the_preheader_loaded_is_waited_for_there() {
    let lines = [
        "global_load_dword v0, v[40:41], off",
        "global_load_dword v1, v[40:41], off",
        "L1:",
        "v_add_f32_e32 v20, v0, v20",
        "s_cbranch_scc0 L1",
        "v_mov_b32_e32 v21, v1",
        "s_endpgm",
    ];
    let mut program = text::program(Target::GFX942, &lines).unwrap();
    let inserted = insert_waits(&mut program, &WaitOptions::default());
    assert_eq!(
        // The printer may align the text in columns, which does not matter here.
        text::shown(&program)
            .lines()
            .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>(),
        [
            "global_load_dword v0, v[40:41], off",
            "global_load_dword v1, v[40:41], off",
            "s_waitcnt vmcnt(1) ; vmcnt(1): v0 loaded by global_load_dword at line 0 is read by v_add_f32_e32",
            "L1:",
            "v_add_f32_e32 v20, v0, v20",
            "s_cbranch_scc0 L1",
            "s_waitcnt vmcnt(0) ; vmcnt(0): v1 loaded by global_load_dword at line 1 is read by v_mov_b32_e32",
            "v_mov_b32_e32 v21, v1",
            "s_endpgm",
        ]
    );
    let [first, second] = &inserted[..] else { panic!("two waits: {inserted:?}") };
    assert_eq!((first.at, first.count, second.at), (2, 1, 5));
    assert_eq!((first.reasons[0].producer, first.reasons[0].consumer), (Some(0), 3));
}

#[test]
fn a_branch_into_the_loop_waits_before_the_branch() {
    let lines = [
        "global_load_dword v0, v[40:41], off",
        "s_branch L1",
        "L0:",
        "s_endpgm",
        "L1:",
        "v_add_f32_e32 v20, v0, v20",
        "s_cbranch_scc0 L1",
        "s_branch L0",
    ];
    let (shown, _) = with_waits(Target::GFX942, &lines, &WaitOptions::default());
    assert_eq!(shown[..3], ["global_load_dword v0, v[40:41], off", "s_waitcnt vmcnt(0)", "s_branch L1"]);
    assert_eq!(shown.len(), lines.len() - 2 + 1);
}

#[test]
fn a_wait_that_the_loop_needs_anyway_stays_in_it() {
    let lines = [
        "global_load_dword v0, v[40:41], off",
        "L1:",
        "v_mov_b32_e32 v20, v0",
        "global_load_dword v0, v[40:41], off",
        "s_cbranch_scc0 L1",
        "s_endpgm",
    ];
    let (shown, _) = with_waits(Target::GFX942, &lines, &WaitOptions::default());
    assert_eq!(shown[1..3], ["s_waitcnt vmcnt(0)", "v_mov_b32_e32 v20, v0"]);
    assert_eq!(shown.len(), 6);
}

/// Tests `v = l[255 - i]; barrier(); l[i] = i`. The memory model of the LLVM AMDGPU guide and clang 22 wait for the read before the
/// barrier.
#[test]
fn a_barrier_waits_for_reads_of_lds_that_nothing_has_waited_for() {
    let inserted = |lines: &[&str], target| with_waits(target, lines, &WaitOptions::default());
    let swap = ["ds_read_b32 v0, v42", "s_barrier", "ds_write_b32 v43, v44", "s_endpgm"];
    for target in Target::REPRESENTATIVES {
        let (shown, reasons) = inserted(&swap, target);
        assert_eq!(shown[1], "s_waitcnt lgkmcnt(0)", "{target}");
        let rule = if target < Target::GFX90A { "barrier.counters" } else { "barrier.lds-read" };
        assert_eq!((reasons.len(), reasons[0].reasons[0].rule), (1, rule), "{target}");
    }
    // If the value is needed before the barrier, one wait serves both purposes.
    let used =
        ["ds_read_b32 v0, v42", "v_mov_b32_e32 v1, v0", "s_barrier", "ds_write_b32 v43, v44", "s_endpgm"];
    let (shown, _) = inserted(&used, Target::GFX942);
    assert_eq!(shown.iter().filter(|l| l.starts_with("s_waitcnt")).count(), 1, "{shown:?}");
    assert_eq!(shown[1], "s_waitcnt lgkmcnt(0)");
    // Global loads and exchanges between lanes may be outstanding.
    let others =
        ["global_load_dword v0, v[2:3], off", "ds_bpermute_b32 v1, v42, v43", "s_barrier", "s_endpgm"];
    assert_eq!(inserted(&others, Target::GFX942).0.len(), 4);
}

#[test]
fn the_wait_before_a_barrier_is_carried_round_the_loop() {
    let lines = [
        "L1:",
        "s_barrier",
        "ds_read_b32 v0, v42",
        "ds_write_b32 v43, v44",
        "ds_read_b32 v1, v42",
        "s_cbranch_scc0 L1",
        "s_endpgm",
    ];
    let (shown, inserted) = with_waits(Target::GFX942, &lines, &WaitOptions::default());
    assert_eq!(shown[..2], ["s_waitcnt lgkmcnt(0)", "s_barrier"]);
    assert_eq!(inserted[0].reasons[0].rule, "barrier.lds-read");
    // If reads need not be done, one younger LDS operation may be outstanding, because LDS operations complete in order.
    let writes = WaitOptions { barrier_orders: Orders::LDS_WRITES, ..WaitOptions::default() };
    let (shown, inserted) = with_waits(Target::GFX942, &lines, &writes);
    assert_eq!(shown[..2], ["s_waitcnt lgkmcnt(1)", "s_barrier"]);
    assert_eq!(inserted[0].reasons[0].rule, "barrier.lds");
    let none = WaitOptions { barrier_orders: Orders::empty(), ..WaitOptions::default() };
    assert_eq!(with_waits(Target::GFX942, &lines, &none).0[0], "s_barrier");
}

#[test]
fn global_wave_sync_is_waited_for() {
    for (after, waits) in
        [("global_load_dword v1, v[2:3], off", true), ("s_barrier", true), ("v_mov_b32 v1, v2", false)]
    {
        let (shown, inserted) = with_waits(
            Target::GFX942,
            &["ds_gws_barrier v0 gds", after, "s_endpgm"],
            &WaitOptions::default(),
        );
        assert_eq!(shown.contains(&"s_waitcnt lgkmcnt(0)".to_owned()), waits, "{shown:?}");
        assert_eq!(inserted.first().map(|i| i.reasons[0].rule), waits.then_some("waitcnt.gws"));
    }
}

#[test]
fn a_wait_that_is_there_is_strengthened() {
    let lines = [
        "global_load_dword v0, v[40:41], off",
        "ds_read_b32 v1, v42",
        "s_waitcnt lgkmcnt(0)",
        "v_add_f32_e32 v20, v0, v1",
        "s_endpgm",
    ];
    let (shown, inserted) = with_waits(Target::GFX942, &lines, &WaitOptions::default());
    assert_eq!(shown[2..4], ["s_waitcnt vmcnt(0) lgkmcnt(0)", "v_add_f32_e32 v20, v0, v1"]);
    assert_eq!((inserted.len(), inserted[0].count, inserted[0].at), (1, 0, 2));
    let present = Demand::Count { counter: gcn_isa::wait::Counter::Vm, needed: 0, present: 63 };
    assert_eq!(inserted[0].reasons[0].demand, present);
}

#[test]
fn a_function_waits_for_its_caller_and_before_it_returns() {
    let lines = ["global_load_dword v0, v[40:41], off", "s_setpc_b64 s[30:31]"];
    let options = WaitOptions { callable: true, ..WaitOptions::default() };
    let (shown, _) = with_waits(Target::GFX942, &lines, &options);
    let expected = [
        "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)",
        "global_load_dword v0, v[40:41], off",
        "s_waitcnt vmcnt(0)",
        "s_setpc_b64 s[30:31]",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn an_empty_program_needs_nothing() {
    let mut program = Program::new(Target::GFX942, "empty");
    assert_eq!(insert_waits(&mut program, &WaitOptions { callable: true, ..WaitOptions::default() }), []);
}

/// Tests that the time grows with the size of the program, for many blocks with loops nested up to three levels deep and for one long
/// block.
#[test]
#[ignore = "a measurement; run with --release --nocapture"]
fn a_million_instructions() {
    let mut rng = Random::new(7);
    let mut lines: Vec<String> = Vec::new();
    let palette: Vec<&str> = PALETTE.iter().copied().filter(|p| !p.ends_with("lds")).collect();
    for block in 0..40_000 {
        lines.push(format!("L{block}:"));
        for _ in 0..12 {
            lines.push((*rng.pick(&palette)).to_owned());
        }
        match block % 8 {
            3 | 5 | 7 => lines.push(format!("s_cbranch_scc1 L{}", block - rng.below(4))),
            1 => lines.push(format!("s_cbranch_scc0 L{}", block + 1 + rng.below(3))),
            _ => {}
        }
    }
    lines.push("L40000:".into());
    lines.push("L40001:".into());
    lines.push("L40002:".into());
    for _ in 0..500_000 {
        lines.push((*rng.pick(&palette)).to_owned());
    }
    lines.push("s_endpgm".into());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut program = text::program(Target::GFX942, &lines).unwrap();
    println!("{} lines", program.lines.len());
    let start = std::time::Instant::now();
    let inserted = insert_waitcnt(&mut program, &WaitOptions::default());
    println!("{} s_waitcnt in {:?}", inserted.len(), start.elapsed());
    let start = std::time::Instant::now();
    let inserted = insert_wait_states(&mut program, &WaitOptions::default());
    println!("{} s_nop in {:?}", inserted.len(), start.elapsed());
}

/// Tests that the checker accepts waits of both kinds together, and that the reported positions and lines refer to the resulting program.
#[test]
fn both_kinds_of_waits_together_satisfy_the_checker() {
    let palette: Vec<&str> = PALETTE
        .iter()
        .chain(&super::states::PALETTE)
        .copied()
        .filter(|p| !p.ends_with("lds") && !p.starts_with("s_waitcnt"))
        .collect();
    let mut kinds = [0, 0];
    for seed in fuzz_seeds(1, 1000) {
        let mut program = random_program(&mut Random::new(seed), Target::GFX942, &palette, 8);
        let before = program.clone();
        let inserted = insert_waits(&mut program, &WaitOptions::default());
        let report = crate::check::strict(&program);
        assert!(report.is_clean(), "seed {seed}: {:?}\n{}", report.findings, text::shown(&program));
        let mut rest = program.lines.clone();
        for i in inserted.iter().rev() {
            kinds[usize::from(i.kind == InsertedKind::WaitStates)] += 1;
            for reason in &i.reasons {
                assert!(program.lines[reason.consumer].note.is_none(), "seed {seed}: {reason}");
                assert!(
                    reason.producer.is_none_or(|p| program.lines[p].note.is_none()),
                    "seed {seed}: {reason}"
                );
            }
            assert!(
                !i.reasons.is_empty(),
                "seed {seed}: a wait without a reason at {}\n{}",
                i.at,
                text::shown(&program)
            );
            rest.drain(i.at..i.at + i.count);
        }
        assert_eq!(rest, before.lines, "seed {seed}");
    }
    assert!(kinds[0] > kinds[1] && kinds[1] > 0, "{kinds:?}");
}
