//! The rule set `llvm` is what LLVM 22 inserts: in every pair, and in every straight stream at each instruction.

use std::collections::BTreeSet;

use gcn_isa::hazards::{RuleSet, wait_states};
use gcn_isa::table::Class;
use gcn_isa::wait::{WaitOptions, insert_wait_states};
use gcn_isa::{Program, Target};

use super::allpairs::{ALL_PAIRS, DRAWN_PAIRS, is_mistaken, pairs_of};
use super::streams::{DRAWN, STREAMS, streams};
use crate::golden::{self, Views};

/// Pairs in which LLVM's number is not the set's, by rule: a result of 16 bits that goes into one half of a register keeps the
/// other, which is a read of it; LLVM sees the write only. And one that LLVM takes for a read, since lanes without a source keep
/// the old value.
const PARTIAL_WRITES: [&str; 3] = ["cdna3.21", "cdna3.119", "cdna3.119.write"];

#[test]
fn pairs_get_llvm_s_number() {
    let mut partial = 0;
    for (sets, xnack) in [(ALL_PAIRS, true), (DRAWN_PAIRS, false)] {
        for (target, packed) in sets {
            let text = golden::unpack(packed);
            let mut views = Views::new(target);
            for (first, second, llvm) in pairs_of(&text) {
                views.load(first);
                views.load(second);
                let need = views.get(first).required(views.get(second), RuleSet::Llvm.config(xnack));
                let (rule, ours) = need.map_or(("", 0), |n| (n.rule.id, n.states));
                if ours != llvm && !is_mistaken(first, ours, llvm) {
                    assert!(
                        PARTIAL_WRITES.contains(&rule),
                        "{target}: {first} | {second}: {ours} ({rule}), {llvm}"
                    );
                    partial += 1;
                }
            }
        }
    }
    assert_eq!(partial, 5);
}

/// The wait states before each instruction.
fn before_each(program: &Program) -> Vec<u32> {
    let mut all = vec![0];
    for line in &program.lines {
        match (line.inst.desc.class, all.last_mut()) {
            (Class::Nop, Some(last)) => *last += wait_states(&line.inst),
            _ => all.push(0),
        }
    }
    all
}

/// LLVM takes the nearest matrix instruction that overlaps what is read for the writer of all of it, so that it waits for less than the
/// registers of an earlier one need; on gfx908 it takes the passes of the one that it looked at last. Rules about two instructions
/// cannot say either.
const ANOTHER_WRITER: [(Target, bool, &str); 24] = [
    (Target::GFX908, false, "f511"),
    (Target::GFX908, true, "f170"),
    (Target::GFX908, true, "f178"),
    (Target::GFX908, true, "f238"),
    (Target::GFX908, true, "f280"),
    (Target::GFX908, true, "f290"),
    (Target::GFX908, true, "f308"),
    (Target::GFX908, true, "f316"),
    (Target::GFX908, true, "f356"),
    (Target::GFX908, true, "f370"),
    (Target::GFX908, true, "f390"),
    (Target::GFX908, true, "f86"),
    (Target::GFX908, true, "f92"),
    (Target::GFX90A, false, "f601"),
    (Target::GFX90A, false, "f713"),
    (Target::GFX90A, true, "f300"),
    (Target::GFX942, false, "f361"),
    (Target::GFX942, false, "f544"),
    (Target::GFX942, false, "f80"),
    (Target::GFX942, false, "f943"),
    (Target::GFX942, true, "f22"),
    (Target::GFX942, true, "f92"),
    (Target::GFX950, false, "f1089"),
    (Target::GFX950, false, "f126"),
];

/// Other streams that differ.
const OTHERWISE: [(Target, bool, &str); 4] = [
    // LLVM leaves add-TID accesses of LDS out of those before which it waits for v_accvgpr_read.
    (Target::GFX908, true, "f328"),
    (Target::GFX908, true, "f36"),
    // v_fma_f16 with op_sel on its destination twice: the second keeps the half that the first does not write, which is a read.
    (Target::GFX950, false, "f878"),
    // LLVM takes v_add_f32_dpp for a reader of its destination although bound_ctrl leaves nothing of the old value.
    (Target::GFX950, true, "f22"),
];

#[test]
fn straight_streams_get_llvm_s_wait_states_at_each_instruction() {
    let (mut other, mut equal) = (BTreeSet::new(), 0);
    for (sets, drawn) in [(STREAMS, false), (DRAWN, true)] {
        for (target, packed) in sets {
            for stream in streams(packed, target).iter().filter(|s| s.bare.labels.is_empty()) {
                let rules = RuleSet::Llvm.config(!drawn);
                let mut ours = stream.bare.clone();
                insert_wait_states(&mut ours, &WaitOptions { rules, ..WaitOptions::default() });
                if before_each(&ours) == before_each(&stream.llvm) {
                    equal += 1;
                } else {
                    other.insert((target, drawn, stream.name.clone()));
                }
            }
        }
    }
    let known = ANOTHER_WRITER.iter().chain(&OTHERWISE).map(|(t, drawn, n)| (*t, *drawn, (*n).to_owned()));
    assert_eq!(other, known.collect());
    assert_eq!(equal, 3836);
}

/// Measured with `llc-22 -run-pass post-RA-hazard-rec`: LLVM leaves out the writer of exactly what is read (gfx908), and scalar
/// instructions as writers. Both look past what is read, so that no other set has it.
#[test]
fn llvm_looks_past_the_nearest_writer() {
    let states = |target, text, set: RuleSet| {
        let mut program = golden::program(text, target);
        insert_wait_states(&mut program, &WaitOptions { rules: set.into(), ..WaitOptions::default() });
        before_each(&program)
    };
    let matrix = "v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31] | v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[40:43] | \
                  v_mfma_f32_4x4x1f32 a[44:47], v0, v1, a[0:3]";
    assert_eq!(states(Target::GFX908, matrix, RuleSet::Llvm), [0, 0, 1, 0]);
    assert_eq!(states(Target::GFX908, matrix, RuleSet::Safe), [0, 0, 0, 0]);
    let scalar = "v_readfirstlane_b32 s6, v1 | s_mov_b32 s6, 0 | global_load_dword v0, v2, s[6:7]";
    for target in Target::REPRESENTATIVES {
        assert_eq!(states(target, scalar, RuleSet::Llvm), [0, 0, 4, 0]);
        assert_eq!(states(target, scalar, RuleSet::Safe), [0, 0, 0, 0]);
    }
    // Half of what is read is still the vector ALU's.
    let half = "v_readfirstlane_b32 s7, v1 | s_mov_b32 s6, 0 | global_load_dword v0, v2, s[6:7]";
    assert_eq!(states(Target::GFX942, half, RuleSet::Safe), [0, 0, 4, 0]);
}
