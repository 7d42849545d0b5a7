//! Tests that wait states are filled with useful instructions, against the code that LLVM 22's post-RA scheduler produces from the same
//! code (`llc -mcpu=… -run-pass=post-RA-sched -run-pass=post-RA-hazard-rec`). For random programs, a symbolic execution of each block is
//! used, which has no knowledge about when two instructions may be exchanged.

use std::collections::HashMap;

use gcn_isa::cfg::Cfg;
use gcn_isa::check;
use gcn_isa::reg::RegUnit;
use gcn_isa::table::{Class, ImplicitRegs};
use gcn_isa::wait::{Inserted, InsertedKind, WaitOptions, insert_waits};
use gcn_isa::{Inst, Program, Target};
use gcn_test_support::Random;
use gcn_test_support::env::{fuzz_seeds, is_thorough};

use super::states::{PALETTE, random_program, total_states};
use super::text;
use crate::golden;

const TARGETS: [Target; 3] = [Target::GFX90A, Target::GFX942, Target::GFX950];

fn filled(fences: &[usize]) -> WaitOptions {
    WaitOptions { fill: Some(fences.to_vec()), ..WaitOptions::default() }
}

/// The lines of the program with all its waits, and the number of wait states that were inserted.
fn run(target: Target, lines: &[&str], options: &WaitOptions) -> (Vec<String>, u32) {
    let mut program = text::program(target, lines).unwrap();
    let inserted = insert_waits(&mut program, options);
    let text = text::shown(&program);
    let lines = text.lines().map(|l| l.split(';').next().unwrap_or_default().trim().to_owned());
    (lines.filter(|l| !l.is_empty()).collect(), states(&inserted, &program))
}

fn states(inserted: &[Inserted], program: &Program) -> u32 {
    let states: Vec<Inserted> =
        inserted.iter().filter(|i| i.kind == InsertedKind::WaitStates).cloned().collect();
    total_states(&states, program)
}

fn place(lines: &[String], start: &str) -> usize {
    lines.iter().position(|l| l.starts_with(start)).unwrap_or_else(|| panic!("{start}: {lines:#?}"))
}

/// Code in which a lane number is written by the vector ALU, which must happen four wait states before its use.
const LANE: [&str; 9] = [
    "v_mov_b32_e32 v20, v0",
    "v_mov_b32_e32 v21, v1",
    "v_mov_b32_e32 v22, v2",
    "v_readfirstlane_b32 s4, v3",
    "v_readlane_b32 s8, v4, s4",
    "v_add_u32_e32 v10, v0, v1",
    "v_xor_b32_e32 v11, v1, v2",
    "v_and_b32_e32 v12, v2, v3",
    "s_endpgm",
];

/// Tests code into which LLVM inserts `S_NOP 3` without its scheduler and no `s_nop` with it.
#[test]
fn what_llvm_fills_completely_is_filled() {
    for target in TARGETS {
        assert_eq!(run(target, &LANE, &WaitOptions::default()).1, 4, "{target}");
        assert_eq!(
            run(target, &LANE, &filled(&[])).1,
            0,
            "{target}: {:#?}",
            run(target, &LANE, &filled(&[])).0
        );
    }
}

/// Tests code whose later lines depend on the earlier lines.
#[test]
fn what_depends_stays() {
    let lines = [
        "v_readfirstlane_b32 s4, v3",
        "v_readlane_b32 s8, v4, s4",
        "v_xor_b32_e32 v4, v1, v2",  // overwrites a source
        "v_and_b32_e32 v12, v4, v3", // reads what that makes
        "s_mov_b32 s4, 0",           // overwrites the other
        "s_endpgm",
    ];
    for target in TARGETS {
        assert_eq!(
            run(target, &lines, &filled(&[])),
            run(target, &lines, &WaitOptions::default()),
            "{target}"
        );
    }
}

#[test]
fn fences_and_boundaries_stay() {
    // The three moves above the producer are moved to after the consumer.
    let (lines, states) = run(Target::GFX942, &LANE, &filled(&[5]));
    assert!(place(&lines, "v_add_u32") > place(&lines, "v_readlane"), "{lines:#?}");
    assert_eq!(states, 1, "{lines:#?}");
    // Three instructions after the consumer are moved to before the producer.
    let (lines, states) = run(Target::GFX942, &LANE, &filled(&[3]));
    assert!(place(&lines, "v_mov_b32_e32 v22") < place(&lines, "v_readfirstlane"), "{lines:#?}");
    assert_eq!(states, 1, "{lines:#?}");
    let every_line: Vec<usize> = (0..LANE.len()).collect();
    assert_eq!(run(Target::GFX942, &LANE, &filled(&every_line)).1, 4);
    for boundary in
        ["s_barrier", "s_setprio 1", "s_sleep 1", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0"]
    {
        let mut lines = LANE.to_vec();
        lines.insert(5, boundary);
        let (out, _) = run(Target::GFX942, &lines, &filled(&[]));
        let name = boundary.split(' ').next().unwrap_or_default();
        assert!(place(&out, "v_add_u32") > place(&out, name), "{boundary}: {out:#?}");
    }
}

/// Tests that instructions are not moved up across a change of EXEC between the consumer and them, because they would execute in different
/// lanes.
#[test]
fn what_runs_in_other_lanes_stays() {
    let mut lines = LANE.to_vec();
    lines.insert(5, "s_mov_b64 exec, s[10:11]");
    let (out, _) = run(Target::GFX942, &lines, &filled(&[]));
    assert!(place(&out, "v_add_u32") > place(&out, "s_mov_b64 exec"), "{out:#?}");
}

/// Tests that no instruction before a wait is moved away from it to a position after it. Of the instructions after the wait, only those
/// that do not depend on the wait are moved up: `v_xor` is not, because its source is loaded.
#[test]
fn waits_hide_as_much_as_before() {
    let lines = [
        "global_load_dword v30, v[2:3], off",
        "v_mov_b32_e32 v20, v0",
        "v_readfirstlane_b32 s4, v9",
        "v_readlane_b32 s8, v4, s4",
        "v_add_u32_e32 v10, v30, v1",
        "v_xor_b32_e32 v11, v30, v5",
        "v_and_b32_e32 v12, v6, v7",
        "s_endpgm",
    ];
    for target in TARGETS {
        let (out, states) = run(target, &lines, &filled(&[]));
        let wait = place(&out, "s_waitcnt");
        for before in ["global_load", "v_mov_b32", "v_readfirstlane", "v_readlane", "v_and_b32"] {
            assert!(place(&out, before) < wait, "{target}: {before}: {out:#?}");
        }
        assert!(place(&out, "v_add_u32") > wait && place(&out, "v_xor_b32") > wait, "{target}: {out:#?}");
        assert_eq!(states, 2, "{target}: {out:#?}");
    }
}

/// Tests that an instruction is not moved if it would delay its successors for longer than the wait states would: the scalar unit would
/// receive `s4` only later, and `v_exp` takes four slots where DPP requires two wait states.
#[test]
fn what_takes_longer_stays() {
    let lines = ["v_readfirstlane_b32 s4, v3", "v_readlane_b32 s8, v4, s4", "s_mov_b32 s9, s4", "s_endpgm"];
    assert_eq!(
        run(Target::GFX942, &lines, &filled(&[])),
        run(Target::GFX942, &lines, &WaitOptions::default())
    );
    let dpp = "v_add_u32_dpp v2, v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf";
    let lines = |fast| ["v_mov_b32_e32 v0, v5", dpp, fast, "s_endpgm"];
    let states = |fast| run(Target::GFX942, &lines(fast), &filled(&[])).1;
    assert_eq!((states("v_exp_f32_e32 v7, v8"), states("v_not_b32_e32 v7, v8")), (2, 1));
    let mut lines = LANE.to_vec();
    lines.splice(5..8, ["v_exp_f32_e32 v10, v0"]);
    let (out, _) = run(Target::GFX942, &lines, &filled(&[]));
    assert!(place(&out, "v_exp") < place(&out, "v_readlane"), "{out:#?}");
}

/// Tests that loads and stores keep their order, so that the values of counters keep their meaning.
#[test]
fn memory_keeps_its_order() {
    let lines = [
        "global_store_dword v[2:3], v30, off",
        "v_readfirstlane_b32 s4, v9",
        "v_readlane_b32 s8, v4, s4",
        "global_load_dword v31, v[2:3], off",
        "ds_read_b32 v32, v8",
        "global_store_dword v[6:7], v30, off",
        "s_endpgm",
    ];
    let order = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|l| l.starts_with("global") || l.starts_with("ds")).cloned().collect()
    };
    let plain = run(Target::GFX942, &lines, &WaitOptions::default());
    let moved = run(Target::GFX942, &lines, &filled(&[]));
    assert!(moved.1 < plain.1, "{:#?}", moved.0);
    assert_eq!(order(&plain.0), order(&moved.0));
}

/// The values of all registers and other state at the end of a block, as numbers. Two numbers are equal if and only if the same
/// instructions computed them from the same values.
#[derive(Default, PartialEq, Debug)]
struct Symbolic {
    registers: HashMap<usize, u64>,
    /// The effects on memory, and the effects of instructions that do more than compute a result, in order.
    effects: Vec<u64>,
    scc: u64,
}

fn mixed(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, part| (hash ^ part).wrapping_mul(0x100_0000_01b3).rotate_left(23))
}

impl Symbolic {
    fn run(&mut self, inst: &Inst) {
        if inst.desc.class == Class::Waitcnt || inst.desc.class == Class::Nop {
            return;
        }
        let value = |s: &Symbolic, unit: RegUnit| {
            s.registers.get(&unit.index()).copied().unwrap_or(unit.index() as u64)
        };
        let mut reads: Vec<u64> = Vec::new();
        for used in inst.reads() {
            reads.extend(used.reg.units().map(|u| value(self, u)));
        }
        if !inst.desc.is_salu() && !inst.desc.is_smem() {
            reads.extend(gcn_isa::reg::EXEC.units().map(|u| value(self, u)));
            // Inactive lanes keep their previous values.
            reads.extend(
                inst.writes().iter().flat_map(|w| w.reg.units().map(|u| value(self, u)).collect::<Vec<_>>()),
            );
        }
        reads.push(if inst.desc.implicit_reads.contains(ImplicitRegs::SCC) { self.scc } else { 0 });
        let name = inst.desc.printed.bytes().map(u64::from).chain([inst.mods.offset as u64]);
        let done = mixed(name.chain(reads));
        let memory = inst.desc.is_vmem() || inst.desc.is_ds() || inst.desc.is_smem();
        let done = if memory { mixed([done, mixed(self.effects.iter().copied())]) } else { done };
        if memory || inst.desc.ends_block() {
            self.effects.push(done);
        }
        for (i, used) in inst.writes().iter().enumerate() {
            for (k, unit) in used.reg.units().enumerate() {
                self.registers.insert(unit.index(), mixed([done, i as u64, k as u64]));
            }
        }
        if inst.desc.implicit_writes.contains(ImplicitRegs::SCC) {
            self.scc = mixed([done, 99]);
        }
    }
}

fn blocks(program: &Program) -> Vec<Symbolic> {
    let of_block = |block: &gcn_isa::cfg::Block| {
        let mut symbolic = Symbolic::default();
        program.lines[block.start..block.end].iter().for_each(|line| symbolic.run(&line.inst));
        symbolic
    };
    // The waits before a loop can form a separate block.
    Cfg::build(program).blocks.iter().map(of_block).filter(|s| *s != Symbolic::default()).collect()
}

/// Each `s_waitcnt` in order, with the instructions of its block that were issued before it.
fn before_waits(program: &Program) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for block in Cfg::build(program).blocks {
        let mut before: Vec<String> = Vec::new();
        for line in &program.lines[block.start..block.end] {
            match line.inst.desc.class {
                Class::Waitcnt => found.push((format!("{:?}", line.inst.operands), before.clone())),
                Class::Nop => {}
                _ => before.push(format!("{:?}", line.inst)),
            }
        }
    }
    found
}

/// Checks the properties that hold for every program. Returns the number of wait states before and after filling.
fn holds(original: &Program, name: &str) -> (u32, u32) {
    let (mut plain, mut moved) = (original.clone(), original.clone());
    let old = insert_waits(&mut plain, &WaitOptions::default());
    let new = insert_waits(&mut moved, &filled(&[]));
    let shown = || format!("{name}\n{}\n{}", text::shown(&plain), text::shown(&moved));
    assert_eq!(blocks(&plain), blocks(&moved), "{}", shown());
    let judged = check::Options { errata: false, ..check::Options::default() };
    let findings = |p: &Program| check::check_with(p, judged).findings.len();
    assert_eq!(findings(&plain), findings(&moved), "{}", shown());
    let (waits, waits_then) = (before_waits(&plain), before_waits(&moved));
    assert_eq!(waits.len(), waits_then.len(), "{}", shown());
    for ((value, before), (value_then, before_then)) in waits.iter().zip(&waits_then) {
        assert_eq!(value, value_then, "{}", shown());
        let mut rest = before_then.clone();
        for inst in before {
            let at = rest.iter().position(|i| i == inst);
            rest.remove(at.unwrap_or_else(|| panic!("{inst} has left the place before a wait\n{}", shown())));
        }
    }
    let (states, states_then) = (states(&old, &plain), states(&new, &moved));
    // In a loop, one wait state may have replaced two outside the loop.
    assert!(states_then <= states || Cfg::build(&plain).blocks.len() > 1, "{}", shown());
    // Reasons refer to the lines of the resulting program.
    for inserted in &new {
        for reason in &inserted.reasons {
            let note = moved.lines[inserted.at].note.as_deref().unwrap_or_default();
            let line = reason.producer.map(|p| format!("line {p}")).unwrap_or_default();
            assert!(note.contains(&line) || note.contains("more"), "{note}: {line}\n{}", shown());
        }
    }
    (states, states_then)
}

#[test]
fn random_programs_compute_the_same_with_fewer_states() {
    let (mut all, mut left) = (0, 0);
    for seed in fuzz_seeds(1, 1500) {
        let mut rng = Random::new(seed);
        let target = *rng.pick(&TARGETS);
        let program = random_program(&mut rng, target);
        let (old, new) = holds(&program, &format!("seed {seed} {target}"));
        all += old;
        left += new;
    }
    println!("{all} wait states, {left} left");
    assert!(left < all && (left * 20 < all * 19 || !is_thorough()), "{left} of {all}");
}

/// Instructions for long blocks that involve all kinds of rules: memory instructions and their waits, SCC, EXEC and lane numbers.
const MORE: [&str; 22] = [
    "v_add_u32_e32 v40, v41, v42",
    "v_xor_b32_e32 v43, v44, v45",
    "v_mul_f32_e32 v46, v40, v43",
    "v_mov_b32_e32 v41, v46",
    "v_exp_f32_e32 v47, v45",
    "s_add_u32 s10, s11, s12",
    "s_addc_u32 s11, s13, s14",
    "s_cselect_b32 s12, s10, s11",
    "s_mov_b64 exec, s[16:17]",
    "s_and_saveexec_b64 s[18:19], s[4:5]",
    "v_cmp_lt_u32_e32 vcc, v40, v41",
    "v_cndmask_b32_e32 v44, v40, v43, vcc",
    "v_readlane_b32 s20, v40, s4",
    "v_readfirstlane_b32 s10, v44",
    "v_add_u32_dpp v42, v40, v41 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
    "v_div_fmas_f32 v45, v40, v41, v43",
    "s_load_dword s12, s[24:25], 0x0",
    "global_load_dwordx2 v[48:49], v40, s[4:5]",
    "global_store_dwordx4 v40, v[48:51], s[22:23]",
    "ds_read_b32 v43, v40",
    "ds_write_b32 v41, v48",
    "v_add_f32_e32 v50, v48, v49",
];

#[test]
fn random_blocks_with_memory_compute_the_same() {
    let (mut all, mut left) = (0, 0);
    for seed in fuzz_seeds(1, 1500) {
        let mut rng = Random::new(seed);
        let mut lines: Vec<&str> = Vec::new();
        for _ in 0..5 + rng.below(60) {
            lines.push(if rng.one_in(4) { *rng.pick(&PALETTE) } else { *rng.pick(&MORE) });
        }
        lines.push("s_endpgm");
        let target = if rng.one_in(2) { Target::GFX942 } else { Target::GFX950 };
        let program = text::program(target, &lines).unwrap_or_else(|e| panic!("{e}\n{lines:#?}"));
        let (old, new) = holds(&program, &format!("seed {seed} {target}"));
        assert!(new <= old, "seed {seed}: {new} of {old}");
        all += old;
        left += new;
    }
    println!("{all} wait states, {left} left");
    assert!(left * 4 < all * 3, "{left} of {all}");
}

/// Tests 1,200 functions for each target that LLVM compiled, with the waits removed.
#[test]
fn streams_of_llvm_compute_the_same() {
    let packed: &[u8] = include_bytes!("../../data/streams/waitcnt-gfx942.txt.gz");
    let text = golden::unpack(packed);
    let mut streams = 0;
    for part in text.split("func ").skip(1).step_by(7) {
        let (name, body) = part.split_once(":\n").expect("a name");
        let (bare, _) = body.split_once("=== LLVM 22\n").expect("two forms");
        holds(&golden::program(&format!("{bare}\ns_endpgm"), Target::GFX942), name);
        streams += 1;
    }
    assert!(streams > 150, "{streams}");
}
