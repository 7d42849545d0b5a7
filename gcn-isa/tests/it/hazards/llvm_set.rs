//! Tests that the rule set `llvm` inserts exactly the wait states of LLVM 22: between the instructions of every pair, and before each
//! instruction of every straight stream.

use std::collections::BTreeSet;

use gcn_isa::hazards::{RuleSet, wait_states};
use gcn_isa::table::Class;
use gcn_isa::wait::{WaitOptions, insert_wait_states};
use gcn_isa::{Program, Target};

use super::allpairs::{ALL_PAIRS, DRAWN_PAIRS, is_mistaken, pairs_of};
use super::streams::{DRAWN, STREAMS, streams};
use crate::golden::{self, Views};

/// The rules with pairs for which LLVM's number is not the number of the set. A 16-bit result that is written to one half of a register
/// preserves the other half, which counts as a read; LLVM considers only the write. In another case, LLVM assumes a read because lanes
/// without a source keep the old value.
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

/// Streams in which LLVM attributes a read register to the wrong writer. LLVM assumes that the nearest matrix instruction that overlaps the
/// registers that are read wrote all of them, so its wait is shorter than the registers of an earlier instruction need. On gfx908, LLVM
/// uses the passes of the instruction that it examined last. Rules about two instructions can express neither behaviour.
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

/// Other streams in which our result differs from LLVM's.
const OTHERWISE: [(Target, bool, &str); 4] = [
    // LLVM does not wait for v_accvgpr_read before add-TID accesses of LDS.
    (Target::GFX908, true, "f328"),
    (Target::GFX908, true, "f36"),
    // Two v_fma_f16 with op_sel on the destination: the second preserves the half that the first does not write, which counts as a read.
    (Target::GFX950, false, "f878"),
    // LLVM assumes that v_add_f32_dpp reads its destination, although bound_ctrl leaves no part of the old value.
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

/// Tests exceptions measured with `llc-22 -run-pass post-RA-hazard-rec`: LLVM ignores a writer of exactly the registers that are read
/// (gfx908), and ignores scalar instructions as writers. Both miss a dependency, so no other rule set has these exceptions.
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
    // The vector ALU is still the last writer of half of the registers that are read.
    let half = "v_readfirstlane_b32 s7, v1 | s_mov_b32 s6, 0 | global_load_dword v0, v2, s[6:7]";
    assert_eq!(states(Target::GFX942, half, RuleSet::Safe), [0, 0, 4, 0]);
}
