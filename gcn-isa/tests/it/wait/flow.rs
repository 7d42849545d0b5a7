//! Tests functions, calls, jumps to unknown targets and undecodable bytes: the inserted waits must satisfy the checker, and no weaker waits
//! may.

use gcn_isa::cfg::Flow;
use gcn_isa::counters::WaitCnt;
use gcn_isa::program::{Entry, EntryKind};
use gcn_isa::wait::{Inserted, InsertedKind, WaitOptions, insert_wait_states, insert_waitcnt, insert_waits};
use gcn_isa::{Operand, Program, Target};
use gcn_test_support::Random;
use gcn_test_support::env::fuzz_seeds;

use super::counters::{PALETTE, from_parts, parts, set_wait, wait_of};
use super::text;
use crate::check::strict;

const JUMPS: [&str; 6] = [
    "s_swappc_b64 s[30:31], s[34:35]",
    "s_setpc_b64 s[30:31]",
    "s_setpc_b64 s[34:35]",
    "s_endpgm",
    "s_cbranch_scc1 L0",
    "s_call_b64 s[30:31], L1",
];

/// Several pieces of code with calls and jumps. Some pieces are functions, and some follow undecodable bytes.
fn random_program(rng: &mut Random, palette: &[&str]) -> Program {
    let pieces = 2 + rng.below(5);
    let chosen: Vec<&str> = (0..6).map(|_| *rng.pick(palette)).collect();
    let mut lines: Vec<String> = Vec::new();
    let mut starts = Vec::new();
    for piece in 0..pieces {
        starts.push(lines.len());
        lines.push(format!("L{piece}:"));
        for _ in 0..1 + rng.below(6) {
            lines.push((*rng.pick(&chosen)).to_owned());
        }
        lines.push((*rng.pick(&JUMPS)).to_owned());
    }
    lines.push("s_endpgm".into());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut program = text::program(Target::GFX942, &lines).unwrap_or_else(|e| panic!("{e}"));
    let starts: Vec<usize> = starts.iter().enumerate().map(|(labels, line)| line - labels).collect();
    program.entries.push(Entry { at: 0, kind: EntryKind::Kernel });
    for &at in &starts[1..] {
        match rng.below(3) {
            0 => program.entries.push(Entry { at, kind: EntryKind::Function }),
            1 if rng.one_in(2) => program.gaps.push(at),
            _ => {}
        }
    }
    program
}

/// For each line, whether control may reach it.
fn reached(program: &Program) -> Vec<bool> {
    let flow = Flow::of(program);
    let mut lines = vec![false; program.lines.len()];
    for (block, _) in flow.cfg.blocks.iter().zip(flow.reachable()).filter(|b| b.1) {
        lines[block.start..block.end].fill(true);
    }
    lines
}

/// Checks that the checker rejects the program if any single inserted counter value is larger by one.
fn assert_minimal(program: &Program, inserted: &[Inserted], name: &str) {
    let reached = reached(program);
    let counters =
        inserted.iter().filter(|i| i.kind == InsertedKind::Waitcnt && i.count > 0 && reached[i.at]);
    for i in counters {
        // At the entry of a function, every counter must be waited for, regardless of what the function does.
        if i.reasons.iter().any(|r| r.rule == "call.entry") {
            continue;
        }
        let wait = wait_of(program, i.at).expect("an s_waitcnt");
        for counter in 0..3 {
            let mut weaker = parts(wait);
            if weaker[counter] == parts(WaitCnt::NONE)[counter] {
                continue;
            }
            weaker[counter] += 1;
            let mut less = program.clone();
            set_wait(&mut less, i.at, from_parts(weaker));
            assert!(!strict(&less).is_clean(), "{name}: {wait:?} at {}\n{}", i.at, text::shown(program));
        }
    }
}

#[test]
fn functions_and_unknown_jumps_get_what_the_checker_asks_for() {
    let palette: Vec<&str> = PALETTE
        .iter()
        .chain(&super::states::PALETTE)
        .copied()
        .filter(|p| !p.ends_with("lds") && !p.starts_with("s_waitcnt"))
        .collect();
    let (mut waits, mut functions) = (0, 0);
    for seed in fuzz_seeds(1, 1500) {
        let mut program = random_program(&mut Random::new(seed), &palette);
        let before = program.clone();
        let inserted = insert_waits(&mut program, &WaitOptions::default());
        let name = format!("seed {seed}");
        let report = strict(&program);
        assert!(report.is_clean(), "{name}: {report}\n{}", text::shown(&program));
        assert_minimal(&program, &inserted, &name);
        for i in &inserted {
            assert!(!i.reasons.is_empty(), "{name}: no reason at {}\n{}", i.at, text::shown(&program));
        }
        // Entries and gaps must still be before the same instructions. The entry of a function must be before the function's wait.
        for (old, new) in before.entries.iter().zip(&program.entries) {
            let wait = program.lines[new.at..].iter().take_while(|l| l.note.is_some()).count();
            assert_eq!(before.lines[old.at].inst, program.lines[new.at + wait].inst, "{name}");
            functions += usize::from(old.kind == EntryKind::Function);
        }
        for (old, new) in before.gaps.iter().zip(&program.gaps) {
            let wait = program.lines[*new..].iter().take_while(|l| l.note.is_some()).count();
            assert_eq!(before.lines[*old].inst, program.lines[new + wait].inst, "{name}");
        }
        waits += inserted.len();
        let again = program.clone();
        assert_eq!(
            insert_waitcnt(&mut program, &WaitOptions::default()),
            [],
            "{name}\n{}",
            text::shown(&again)
        );
        assert_eq!(insert_wait_states(&mut program, &WaitOptions::default()), [], "{name}");
    }
    assert!(waits > 0 && functions > 0, "{waits} {functions}");
}

fn waited(lines: &[&str], entries: Vec<Entry>) -> Vec<String> {
    let mut program = text::program(Target::GFX942, lines).unwrap();
    program.entries = entries;
    insert_waits(&mut program, &WaitOptions::default());
    let shown = |l: &gcn_isa::Line| {
        gcn_emit::text::InstText { inst: &l.inst, target: program.target, program: Some(&program) }
            .to_string()
    };
    program.lines.iter().map(shown).collect()
}

#[test]
fn a_wait_at_the_entry_of_a_function_is_used_and_not_doubled() {
    let function = || vec![Entry { at: 0, kind: EntryKind::Function }];
    let all = "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)";
    let body = ["v_mov_b32_e32 v1, v0", "s_setpc_b64 s[30:31]"];
    assert_eq!(waited(&[all, body[0], body[1]], function()), [all, body[0], body[1]]);
    assert_eq!(waited(&body, function()), [all, body[0], body[1]]);
    // An existing wait that is too weak is strengthened.
    assert_eq!(waited(&["s_waitcnt lgkmcnt(0)", body[0], body[1]], function()), [all, body[0], body[1]]);
}

/// Tests the waits at calls against LLVM (measured): before a call, only the waits that the call itself needs; after the call, none; before
/// a return, a wait for everything.
#[test]
fn calls_and_returns_wait_as_llvm_does() {
    let kernel = [
        "global_load_dword v40, v[2:3], off",
        "s_load_dwordx2 s[4:5], s[8:9], 0x0",
        "s_swappc_b64 s[30:31], s[4:5]",
        "v_add_u32_e32 v0, v0, v40",
        "global_store_dword v[2:3], v0, off",
        "s_setpc_b64 s[30:31]",
    ];
    let expected = [
        kernel[0],
        kernel[1],
        "s_waitcnt lgkmcnt(0)",
        kernel[2],
        kernel[3],
        kernel[4],
        "s_waitcnt vmcnt(0)",
        kernel[5],
    ];
    assert_eq!(waited(&kernel, Vec::new()), expected);
}

/// Tests thousands of functions with calls, returns and jumps to arbitrary targets.
#[test]
fn many_unknown_jumps_get_their_waits() {
    let body = ["v_mov_b32_e32 v1, v0", "global_load_dword v0, v[2:3], off", "v_readfirstlane_b32 s4, v1"];
    let mut lines: Vec<&str> = Vec::new();
    let mut entries = Vec::new();
    for i in 0..2000 {
        entries.push(Entry { at: lines.len(), kind: EntryKind::Function });
        lines.extend(body);
        lines.push(JUMPS[i % 3]);
    }
    let mut program = text::program(Target::GFX942, &lines).unwrap();
    program.entries = entries;
    assert!(!strict(&program).is_clean());
    insert_waits(&mut program, &WaitOptions::default());
    assert!(
        strict(&program)
            .findings
            .iter()
            .all(|f| !f.rule.starts_with("waitcnt.") && !f.rule.starts_with("call."))
    );
    assert!(program.lines.iter().any(|l| matches!(l.inst.operands.first(), Some(Operand::Imm(0)))));
}

/// Tests a function whose call directly precedes it and that begins with a loop. Control reaches the function only by the jump of the call,
/// and never by falling through.
#[test]
fn a_call_of_the_next_line_passes_its_labels() {
    let lines = [
        "global_load_dword v0, v[2:3], off",
        "s_swappc_b64 s[30:31], s[4:5]",
        "F:",
        "v_add_u32_e32 v1, v1, v0",
        "s_cbranch_scc1 F",
        "s_endpgm",
    ];
    let mut program = text::program(Target::GFX942, &lines).unwrap();
    program.lines[1].jump = Some(gcn_isa::program::Jump::To(gcn_isa::Label(0)));
    insert_waits(&mut program, &WaitOptions::default());
    assert!(strict(&program).is_clean(), "{}", text::shown(&program));
}
