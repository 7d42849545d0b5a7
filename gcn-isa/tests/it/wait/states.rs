//! Tests wait states against the golden programs, which state what each dependent pair needs, and against the independent
//! [`oracle`](super::oracle), which follows every path of a small program.

use gcn_isa::wait::{Inserted, InsertedKind, WaitOptions, insert_wait_states};
use gcn_isa::{Operand, Program, Target};
use gcn_test_support::Random;
use gcn_test_support::env::fuzz_seeds;

use super::oracle::{Verdict, judge_distances, reached, successors, wait_states};
use super::text;

/// Removes each inserted wait state, separately, and checks that the oracle rejects the result.
fn assert_minimal(program: &Program, inserted: &[Inserted], name: &str) {
    let reached = reached(program);
    for i in inserted.iter().filter(|i| i.kind == InsertedKind::WaitStates && reached[i.at]) {
        let mut less = program.clone();
        match less.lines[i.at].inst.operands[0] {
            // A label is never between an `s_nop` and the instruction that needs it, so the line can be removed.
            Operand::Imm(0) => remove(&mut less, i.at),
            Operand::Imm(n) => less.lines[i.at].inst_mut().operands[0] = Operand::Imm(n - 1),
            other => panic!("{other:?}"),
        }
        assert!(
            !gcn_isa::check::check(&less).findings.is_empty(),
            "{name}: at {}\n{}",
            i.at,
            text::shown(program)
        );
        assert!(
            matches!(judge_distances(&less), Verdict::Violation(..) | Verdict::TooLarge),
            "{name}: a state at {} is superfluous in\n{}",
            i.at,
            text::shown(program)
        );
    }
}

fn remove(program: &mut Program, line: usize) {
    program.lines.remove(line);
    for label in &mut program.labels {
        label.at = label.at.map(|at| at - usize::from(at > line));
    }
}

const CFG: &[u8] = include_bytes!("../../data/cfg-example.tsv.gz");
const CHAINS: &[u8] = include_bytes!("../../data/chains-example.tsv.gz");

/// The number of wait states on the shortest path from after line `from` to line `to`.
fn distance(program: &Program, from: usize, to: usize) -> Option<u32> {
    let mut best = vec![u32::MAX; program.lines.len()];
    let mut work: Vec<(usize, u32)> = successors(program, from).into_iter().map(|n| (n, 0)).collect();
    while let Some((line, so_far)) = work.pop() {
        if so_far < best[line] {
            best[line] = so_far;
            let after = so_far + wait_states(&program.lines[line].inst);
            work.extend(successors(program, line).into_iter().map(|n| (n, after)));
        }
    }
    Some(best[to]).filter(|b| *b != u32::MAX)
}

pub fn total_states(inserted: &[Inserted], program: &Program) -> u32 {
    inserted.iter().flat_map(|i| &program.lines[i.at..i.at + i.count]).map(|l| wait_states(&l.inst)).sum()
}

/// Parses `i>j:n`: there must be `n` wait states between instruction `i` and instruction `j`.
fn need(text: &str) -> (usize, usize, u32) {
    let (pair, n) = text.split_once(':').expect("i>j:n");
    let (i, j) = pair.split_once('>').expect("i>j:n");
    (i.parse().unwrap(), j.parse().unwrap(), n.parse().unwrap())
}

#[test]
fn golden_branches_and_loops() {
    let (mut rows, mut equal, mut fewer) = (0, 0, 0);
    for row in text::rows(CFG) {
        let target: Target = row[0].parse().unwrap();
        let mut program = text::program(target, &text::cell(&row[3])).unwrap();
        let inserted = insert_wait_states(&mut program, &WaitOptions::default());
        // Maps the lines of the original program to the lines of the result.
        let is_new = |line: &usize| inserted.iter().any(|i| (i.at..i.at + i.count).contains(line));
        let lines: Vec<usize> = (0..program.lines.len()).filter(|l| !is_new(l)).collect();
        for (i, j, n) in row[6].split(' ').filter(|t| *t != "-").map(need) {
            let have = distance(&program, lines[i], lines[j]).expect("a path");
            assert!(have >= n, "{}: {i} to {j} needs {n}, has {have}\n{}", row[1], text::shown(&program));
        }
        let (ours, llvm) = (total_states(&inserted, &program), row[5].parse::<u32>().unwrap());
        let shown = || format!("{} {}: ours {ours}, LLVM {llvm}\n{}", row[1], row[2], text::shown(&program));
        // If LLVM's output lacks wait states according to the table (`0>5 need 18 have 7`), our result has them in addition.
        match short_of(&row[7]) {
            0 => assert!(ours <= llvm, "{}", shown()),
            states => assert_eq!(ours, llvm + states, "{}", shown()),
        }
        rows += 1;
        equal += u32::from(ours == llvm);
        fewer += u32::from(ours < llvm);
    }
    // The row with fewer wait states is `diamond_loop 18`: LLVM has three wait states that no dependency of its table requires.
    assert_eq!((rows, equal, fewer), (30, 24, 1));
}

fn short_of(cell: &str) -> u32 {
    let numbers: Vec<u32> = cell.split(' ').filter_map(|w| w.parse().ok()).collect();
    if let [need, have] = numbers[..] { need - have } else { 0 }
}

#[test]
fn golden_chains() {
    let mut rows = 0;
    for row in text::rows(CHAINS) {
        let target: Target = row[0].parse().unwrap();
        let lines = [&row[1][..], &row[2], &row[3], "s_endpgm"];
        let mut program = text::program(target, &lines).unwrap();
        let inserted = insert_wait_states(&mut program, &WaitOptions::default());
        let is_new = |line: &usize| inserted.iter().any(|i| (i.at..i.at + i.count).contains(line));
        let lines: Vec<usize> = (0..program.lines.len()).filter(|l| !is_new(l)).collect();
        let states_before = |line: usize| {
            let here: Vec<Inserted> = inserted.iter().filter(|i| i.at + i.count == line).cloned().collect();
            total_states(&here, &program)
        };
        let llvm: (u32, u32) = (row[5].parse().unwrap(), row[6].parse().unwrap());
        assert_eq!((states_before(lines[1]), states_before(lines[2])), llvm, "{}", text::shown(&program));
        rows += 1;
    }
    assert_eq!(rows, 72);
}

#[test]
fn states_that_only_the_preheader_needs_stand_there() {
    let lines = [
        "v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[6:7], 0",
        "L1:",
        "v_accvgpr_read_b32 v20, a1",
        "s_cbranch_scc0 L1",
        "s_endpgm",
    ];
    let mut program = text::program(Target::GFX942, &lines).unwrap();
    let inserted = insert_wait_states(&mut program, &WaitOptions::default());
    assert_eq!(program.labels[0].at, Some(2), "{}", text::shown(&program));
    let [only] = &inserted[..] else { panic!("one wait: {inserted:?}") };
    assert_eq!((only.at, only.count), (1, 1));
    assert_eq!(
        only.reasons[0].to_string(),
        "cdna3.106: a1 of v_mfma_f32_16x16x16_f16 at line 0 (4 passes), then v_accvgpr_read_b32: needs 7, had 0"
    );
    let mut in_loop = text::program(Target::GFX942, &lines).unwrap();
    insert_wait_states(&mut in_loop, &WaitOptions { leave_loops: false, ..WaitOptions::default() });
    assert_eq!(in_loop.labels[0].at, Some(1));
}

pub const PALETTE: [&str; 16] = [
    "v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]",
    "v_mfma_f32_4x4x4_16b_f16 v[4:7], v[20:21], v[22:23], v[4:7]",
    "v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[6:7], a[0:3]",
    "v_mfma_f64_16x16x4_f64 v[24:31], v[16:17], v[18:19], v[24:31]",
    "v_accvgpr_read_b32 v20, a1",
    "v_add_f32_e32 v20, v4, v20",
    "v_mov_b32_e32 v16, v24",
    "v_mov_b32_e32 v5, 0",
    "v_cmp_eq_u32_e64 s[4:5], v20, v21",
    "v_readfirstlane_b32 s4, v20",
    "global_load_dword v20, v21, s[4:5]",
    "v_cndmask_b32_e64 v20, v21, v22, s[4:5]",
    "s_mov_b32 s4, 0",
    "s_nop 2",
    "v_nop",
    "v_writelane_b32 v20, s4, 0",
];

/// Replaces the names of matrix instructions by their names on gfx90a.
fn as_on_gfx90a(line: &str) -> String {
    let names =
        [("32x32x8_f16", "32x32x8f16"), ("4x4x4_16b_f16", "4x4x4f16"), ("16x16x16_f16", "16x16x16f16")];
    let renamed = names.iter().fold(line.to_owned(), |l, (new, old)| l.replace(new, old));
    renamed.replace("f64_16x16x4_f64", "f64_16x16x4f64")
}

/// A program of random instructions and branches.
pub fn random_program(rng: &mut Random, target: Target) -> Program {
    let blocks = 1 + rng.below(6);
    let mut lines: Vec<String> = Vec::new();
    for b in 0..blocks {
        lines.push(format!("L{b}:"));
        for _ in 0..rng.below(6) {
            lines.push((*rng.pick(&PALETTE)).to_owned());
        }
        match rng.below(4) {
            0 => lines.push(format!("s_branch L{}", rng.below(blocks))),
            1 | 2 => lines.push(format!("s_cbranch_scc1 L{}", rng.below(blocks))),
            _ => {}
        }
    }
    lines.push("s_endpgm".into());
    if target == Target::GFX90A {
        for line in &mut lines {
            *line = as_on_gfx90a(line);
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    text::program(target, &lines).unwrap_or_else(|e| panic!("{e}\n{}", lines.join("\n")))
}

#[test]
pub fn random_programs_have_exactly_the_states_they_need() {
    let (mut waits, mut too_large) = (0, 0);
    for seed in fuzz_seeds(1, 1500) {
        let mut rng = Random::new(seed);
        let target = [Target::GFX90A, Target::GFX942, Target::GFX950][rng.below(3)];
        let mut program = random_program(&mut rng, target);
        let options = WaitOptions { leave_loops: rng.one_in(2), ..WaitOptions::default() };
        let inserted = insert_wait_states(&mut program, &options);
        let name = format!("seed {seed} {target}");
        let distances = |f: &&gcn_isa::check::Finding| matches!(f.need, gcn_isa::check::Amount::States(_));
        let report = gcn_isa::check::check(&program);
        let finding = report.findings.iter().find(distances);
        assert!(finding.is_none(), "{name}: {finding:?}\n{}", text::shown(&program));
        match judge_distances(&program) {
            Verdict::Clean => assert_minimal(&program, &inserted, &name),
            Verdict::TooLarge => too_large += 1,
            other => panic!("{name}: {other:?}\n{}", text::shown(&program)),
        }
        let explained = inserted.iter().all(|i| !i.reasons.is_empty());
        assert!(explained, "{name}: {inserted:?}\n{}", text::shown(&program));
        waits += inserted.len();
        assert_eq!(insert_wait_states(&mut program.clone(), &options), [], "{name}");
    }
    println!("{waits} waits, {too_large} programs too large to follow");
    assert!(too_large * 20 <= waits, "{too_large} of {waits}");
}

/// Tests more instructions at one point than the inserter tracks: the instructions that reach farthest must not hide the others.
#[test]
fn very_many_instructions_within_reach_are_all_waited_for() {
    let arms = 700;
    let far = "v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], v[0:15]";
    let arm = |number: usize| if number < arms { far } else { "v_readfirstlane_b32 s5, v30" };
    let mut text = String::from("head:\nv_readlane_b32 s6, v31, s5\n");
    (0..2 * arms).for_each(|n| text += &format!("s_cbranch_scc{} arm{n}\n", n % 2));
    text += "s_endpgm\n";
    (0..2 * arms).for_each(|n| text += &format!("arm{n}:\n{}\ns_branch head\n", arm(n)));
    let mut program = crate::golden::program(&text, Target::GFX942);
    assert!(!gcn_isa::check::check(&program).findings.is_empty());
    insert_wait_states(&mut program, &WaitOptions::default());
    assert_eq!(gcn_isa::check::check(&program).findings, []);
}
