//! Tests programs with more outstanding operations than a counter can count. The inserted waits must not assume that instructions stall at
//! a full counter, as long as the selected rules include `waitcnt.full`, which doubts this.

use std::fmt::Write as _;
use std::process::Command;

use gcn_isa::InstructionSet;
use gcn_isa::Target;
use gcn_isa::check::{MemoryModel, Options, check_with};
use gcn_isa::counters::{Counter, WaitCnt};

use gcn_isa::hazards::{Config, Grade};
use gcn_isa::wait::{Orders, WaitOptions, insert_waitcnt};
use gcn_test_support::Random;
use gcn_test_support::env::fuzz_seeds;
use gcn_test_support::llvm::tool;

use super::counters::{by_instruction, from_parts, parts, set_wait, wait_of};
use super::oracle::{Verdict, judge_counters, reached};
use super::text;
use crate::golden;

/// The wait before the last instruction of `lines`, with the rules of at least this grade.
fn last_wait(target: Target, lines: &[String], at_least: Grade) -> WaitCnt {
    let mut program = golden::program(&lines.join("\n"), target);
    let rules = Config::at_least(at_least);
    insert_waitcnt(&mut program, &WaitOptions { rules, ..WaitOptions::default() });
    by_instruction(&program).last().expect("instructions").1
}

/// `count` operations, of which the last instruction needs the first. The code is given both as assembly and as LLVM's machine code.
struct Run {
    counter: Counter,
    first: (&'static str, &'static str),
    later: (&'static str, &'static str),
    counts: std::ops::RangeInclusive<usize>,
}

const RUNS: [Run; 4] = [
    Run { counter: Counter::Lgkm, first: READ, later: OTHER_READ, counts: 13..=20 },
    Run { counter: Counter::Lgkm, first: READ, later: WRITE, counts: 13..=20 },
    Run { counter: Counter::Vm, first: LOAD, later: OTHER_LOAD, counts: 60..=70 },
    Run { counter: Counter::Vm, first: LOAD, later: STORE, counts: 60..=70 },
];

const READ: (&str, &str) = ("ds_read_b32 v10, v0", "$vgpr10 = DS_READ_B32_gfx9 $vgpr0, 0, 0, implicit $exec");
const OTHER_READ: (&str, &str) =
    ("ds_read_b32 v{}, v0", "$vgpr{} = DS_READ_B32_gfx9 $vgpr0, 0, 0, implicit $exec");
const WRITE: (&str, &str) = ("ds_write_b32 v0, v2", "DS_WRITE_B32_gfx9 $vgpr0, $vgpr2, 0, 0, implicit $exec");
const LOAD: (&str, &str) =
    ("global_load_dword v10, v[0:1], off", "$vgpr10 = GLOBAL_LOAD_DWORD $vgpr0_vgpr1, 0, 0, implicit $exec");
const OTHER_LOAD: (&str, &str) =
    ("global_load_dword v{}, v[0:1], off", "$vgpr{} = GLOBAL_LOAD_DWORD $vgpr0_vgpr1, 0, 0, implicit $exec");
const STORE: (&str, &str) =
    ("global_store_dword v[0:1], v2, off", "GLOBAL_STORE_DWORD $vgpr0_vgpr1, $vgpr2, 0, 0, implicit $exec");
const USE: (&str, &str) = ("v_mov_b32_e32 v3, v10", "$vgpr3 = V_MOV_B32_e32 $vgpr10, implicit $exec");

impl Run {
    fn lines(
        &self,
        count: usize,
        pick: impl Fn((&'static str, &'static str)) -> &'static str,
    ) -> Vec<String> {
        let later = (1..count).map(|i| pick(self.later).replace("{}", &(10 + i).to_string()));
        [pick(self.first).to_owned()].into_iter().chain(later).chain([pick(USE).to_owned()]).collect()
    }
}

/// Tests the waits of LLVM 22.1.8 as measured: the wait is for the number of operations issued since, but at most for the largest value of
/// the field (14 and 62), although by then a full counter has already ensured the completion.
#[test]
fn by_default_the_wait_is_the_strongest_that_the_field_can_say() {
    for target in Target::REPRESENTATIVES {
        for run in &RUNS {
            for count in run.counts.clone() {
                let wait = last_wait(target, &run.lines(count, |l| l.0), Grade::Cautious);
                let most = [62, 14, 6][run.counter as usize];
                assert_eq!(wait, run.counter.at(most.min(count as u8 - 1)), "{target} {count}");
            }
        }
    }
}

/// Tests the same with LLVM itself, if LLVM is installed.
#[test]
fn llvm_waits_as_measured() {
    let Some(llc) = tool("llc") else { return };
    let folder = std::env::temp_dir().join(format!("gcn-full-counters-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for files");
    for target in Target::REPRESENTATIVES {
        let mut mir = String::new();
        let mut expected = Vec::new();
        for run in &RUNS {
            for count in run.counts.clone() {
                let body = run.lines(count, |l| l.1).join("\n    ");
                let n = expected.len();
                writeln!(mir, "---\nname: f{n}\nbody: |\n  bb.0:\n    {body}\n    S_ENDPGM 0\n...").unwrap();
                expected.push(last_wait(target, &run.lines(count, |l| l.0), Grade::Cautious));
            }
        }
        let file = folder.join(format!("{target}.mir"));
        std::fs::write(&file, mir).expect("a file for LLVM");
        let output = Command::new(&llc)
            .args(["-mtriple=amdgcn-amd-amdhsa", "-run-pass=si-insert-waitcnts", "-o", "-"])
            .arg(format!("-mcpu={target}"))
            .arg(&file)
            .output()
            .expect("llc runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("text");
        let waits: Vec<WaitCnt> = text.split("\nname:").skip(1).map(last_of_llvm).collect();
        assert_eq!(waits, expected, "{target}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder was there");
}

/// The last `S_WAITCNT` of a function.
fn last_of_llvm(function: &str) -> WaitCnt {
    let last = function.lines().filter_map(|l| l.trim().strip_prefix("S_WAITCNT ")).next_back();
    WaitCnt::of_immediate(InstructionSet::GFX900, last.expect("a wait").trim().parse().expect("a number"))
}

/// Tests that no wait is necessary after 16 or 64 operations or more.
#[test]
fn without_cautious_rules_the_stall_is_trusted() {
    for run in &RUNS {
        for count in run.counts.clone() {
            let wait = last_wait(Target::GFX942, &run.lines(count, |l| l.0), Grade::Documented);
            let room = [63, 15, 7][run.counter as usize];
            let value = if count > room { WaitCnt::NONE } else { run.counter.at(count as u8 - 1) };
            assert_eq!(wait, value, "{count}");
        }
    }
}

/// Kinds of operations and an instruction that uses the result of each. `{}` stands for the number of the register that the operation
/// writes.
const TYPES: [(&str, &str); 8] = [
    ("ds_read_b32 v{}, v200", "v_mov_b32_e32 v201, v{}"),
    ("ds_write_b32 v200, v202", "v_nop"),
    ("global_load_dword v{}, v[204:205], off", "v_mov_b32_e32 v201, v{}"),
    ("global_store_dword v[204:205], v202, off", "v_nop"),
    ("buffer_load_dword v{}, v200, s[80:83], 0 offen", "v_mov_b32_e32 v{}, 0"),
    ("s_load_dword s{}, s[84:85], 0x0", "s_mov_b32 s86, s{}"),
    ("s_load_dword s{}, s[84:85], 0x0", "v_mov_b32_e32 v201, s{}"),
    ("flat_load_dword v{}, v[204:205]", "v_mov_b32_e32 v201, v{}"),
];

/// Blocks of up to 90 operations of two or three kinds, with instructions in between that use the results.
fn crowded(rng: &mut Random, target: Target, types: &[(&str, &str)]) -> gcn_isa::Program {
    let blocks = 1 + rng.below(3);
    let mut lines: Vec<String> = Vec::new();
    for b in 0..blocks {
        lines.push(format!("L{b}:"));
        let types: Vec<(&str, &str)> = (0..1 + rng.below(3)).map(|_| *rng.pick(types)).collect();
        for i in 0..rng.below(90) {
            let (operation, user) = *rng.pick(&types);
            // Successive operations write successive registers.
            let (chosen, register) =
                if rng.below(30) == 0 { (user, rng.below(60)) } else { (operation, i % 60) };
            lines.push(chosen.replace("{}", &(10 + register).to_string()));
        }
        if rng.one_in(2) {
            lines.push(format!("s_cbranch_scc1 L{}", rng.below(blocks)));
        }
    }
    lines.push("s_endpgm".into());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    text::program(target, &lines).expect("a program")
}

/// Tests with the default rules, and with the rules that assume the stall, that the checker accepts the inserted waits and rejects all
/// weaker ones. The oracle, which does not assume the stall, must accept the waits of the default rules.
#[test]
fn random_crowded_programs_are_sufficient_and_minimal() {
    let (mut waits, mut relied, mut programs) = ([0, 0], 0, 0);
    for seed in fuzz_seeds(1, 60) {
        programs += 1;
        let target = *Random::new(seed).pick(&Target::REPRESENTATIVES);
        for (i, at_least) in [Grade::Cautious, Grade::Documented].into_iter().enumerate() {
            let rules = Config::at_least(at_least);
            let check = |p: &gcn_isa::Program| {
                check_with(p, Options { rules, memory_model: MemoryModel::Strict, errata: true })
            };
            // FLAT operations, which are the last kind in the list, must be waited for even if all rules assume that they finish in order.
            let types = &TYPES[..TYPES.len() - i];
            let mut program = crowded(&mut Random::new(seed), target, types);
            let options = WaitOptions { rules, barrier_orders: Orders::empty(), ..WaitOptions::default() };
            let inserted = insert_waitcnt(&mut program, &options);
            let about = |p: &gcn_isa::Program| {
                check(p).findings.iter().filter(|f| f.rule.starts_with("waitcnt.")).count()
            };
            assert_eq!(about(&program), 0, "seed {seed} {at_least}\n{}", text::shown(&program));
            if at_least == Grade::Documented {
                let doubted = crate::check::strict(&program).findings;
                relied += usize::from(doubted.iter().any(|f| f.rule == "waitcnt.full"));
            } else {
                let verdict = judge_counters(&program);
                assert!(matches!(verdict, Verdict::Clean | Verdict::TooLarge), "seed {seed}: {verdict:?}");
            }
            let reached = reached(&program);
            for wait in inserted.iter().filter(|w| reached[w.at]) {
                let have = parts(wait_of(&program, wait.at).expect("an s_waitcnt"));
                for counter in (0..3).filter(|c| have[*c] < parts(WaitCnt::NONE)[*c]) {
                    let mut weaker = have;
                    weaker[counter] += 1;
                    let mut less = program.clone();
                    set_wait(&mut less, wait.at, from_parts(weaker));
                    let name = format!("seed {seed} {at_least}: {counter} at {}", wait.at);
                    assert!(about(&less) > 0, "{name}\n{}", text::shown(&program));
                }
                waits[i] += 1;
            }
        }
    }
    let enough = waits.iter().all(|w| *w > 100) && relied > 5;
    assert!(enough || programs < 60, "{waits:?} {relied}");
}
