//! Tests against rocRoller, AMD's generator of matrix multiplications: pairs of instructions with the wait states that rocRoller's
//! scheduler inserts between them.
//!
//! `rocroller.tsv` has the 131 cases of rocRoller's tests (`test/unit/MFMAHazardObserverTest.cpp`, `test/catch/HazardObserverTest.cpp`). It
//! also has cases, named after the observer, that the tables of rocRoller's observers state and that rocRoller does not test (commit
//! 826b8ba2ed6f of July 2025).

use std::collections::BTreeSet;

use gcn_emit::text::parse_program;
use gcn_isa::hazards::{Config, RuleSet, View, Voice, wait_states};
use gcn_isa::table::Class;
use gcn_isa::wait::{WaitOptions, insert_wait_states};
use gcn_isa::{Program, Target};

use crate::golden;

struct Case {
    name: &'static str,
    target: Target,
    states: u32,
    text: String,
}

fn cases() -> impl Iterator<Item = Case> {
    golden::rows(include_str!("../../data/rocroller.tsv")).map(|row| {
        let [name, target, states, text] = row[..] else { panic!("{row:?}") };
        let states = states.parse().expect("a number");
        Case { name, target: golden::target(target), states, text: text.replace(" | ", "\n") }
    })
}

impl Case {
    /// The instructions of the case; `None` if the target cannot encode them.
    fn program(&self) -> Option<Program> {
        parse_program(&self.text, self.target, "case").ok()
    }

    /// The number of wait states that `rules` insert into the case.
    fn ours(&self, rules: Config) -> Option<u32> {
        let mut program = self.program()?;
        insert_wait_states(&mut program, &WaitOptions { rules, ..WaitOptions::default() });
        let nops = program.lines.iter().filter(|l| l.inst.desc.class == Class::Nop);
        Some(nops.map(|l| wait_states(&l.inst)).sum())
    }
}

/// Cases in which our number is smaller on some targets, each with the reason.
const FEWER: [(&str, &str); 8] = [
    // rocRoller does not distinguish f32 matrix instructions from XDL ones: it requires 9 and 11 wait states after 8 passes on gfx942, 10
    // and 12 on gfx950. CDNA3 table 37 distinguishes them (cases 109, 110 and 111: 8 and 10), and so does LLVM.
    ("SrcCOverlap", "gfx942 gfx950"),
    ("ReadA", "gfx942 gfx950"),
    ("Flat", "gfx942 gfx950"),
    ("VALU_Read", "gfx942 gfx950"),
    ("VALU_Write", "gfx942 gfx950"),
    // Case 14 requires one wait state if VCC is written by its name and read by the number of its SGPR, or the reverse, which assembly
    // cannot express. rocRoller requires the wait state at every read of an SGPR; no other code generator does.
    ("sgpr_const", "gfx908 gfx90a"),
    ("cmp_cndmask_mask", "gfx908 gfx90a"),
    // Only the sources have op_sel, so the result is in the lower half as usual: case 20 does not apply.
    ("opsel_src_only", "gfx942 gfx950"),
];

/// Cases in which another source requires more wait states than rocRoller.
const MORE: [(&str, &str); 4] = [
    // LLVM: `llvm.18.carry`, `llvm.18.mask`.
    ("addc_carry", "gfx942 gfx950"),
    ("subb_carry", "gfx942 gfx950"),
    ("cmp_cndmask_mask", "gfx942 gfx950"),
    // `llvm.9.sgpr-offset`.
    ("bstore_soffset", "gfx942 gfx950"),
];

/// The case that has no encoding: v_addc with a scalar second source.
const CANNOT_BE_ENCODED: &str = "addc_noncarry_vcc";

fn expected(list: &[(&'static str, &'static str)]) -> BTreeSet<(&'static str, Target)> {
    let each = |(name, targets): &(&'static str, &'static str)| {
        targets.split(' ').map(|t| (*name, golden::target(t))).collect::<Vec<_>>()
    };
    list.iter().flat_map(each).collect()
}

#[test]
fn ours_are_at_least_rocroller_s_and_more_only_where_others_ask_for_more() {
    let (mut fewer, mut more) = (BTreeSet::new(), BTreeSet::new());
    for case in cases() {
        let Some(ours) = case.ours(Config::default()) else {
            assert_eq!(case.name, CANNOT_BE_ENCODED, "{}: {}", case.target, case.text);
            continue;
        };
        if ours < case.states {
            fewer.insert((case.name, case.target));
        } else if ours > case.states {
            more.insert((case.name, case.target));
        }
    }
    assert_eq!(fewer, expected(&FEWER));
    assert_eq!(more, expected(&MORE));
    assert!(cases().count() > 131);
}

/// Tests that the rule sets that include the vendor's rules have the requirements of rocRoller with which we agree.
#[test]
fn fast_keeps_what_rocroller_asks_for() {
    for case in cases() {
        let (Some(safe), Some(fast)) = (case.ours(Config::default()), case.ours(RuleSet::Fast.into())) else {
            continue;
        };
        if safe >= case.states {
            assert!(
                fast >= case.states,
                "{} on {}: {fast}, rocRoller {}",
                case.name,
                case.target,
                case.states
            );
        }
    }
}

/// Tests the rules' statements about rocRoller. If a rule is the only one that requires the number of a case, it must say that rocRoller
/// agrees; if the rule requires more, it must say that rocRoller requires less.
#[test]
fn the_rules_say_what_rocroller_asks_for() {
    let mut heard = BTreeSet::new();
    for case in cases() {
        let Some(program) = case.program() else { continue };
        let [first, second] = &program.lines[..] else { continue };
        let view = |line: &gcn_isa::Line| View::new(case.target, &line.inst);
        let needs = view(first).required_all(&view(second), Config::default());
        let same: Vec<_> = needs.iter().filter(|n| u32::from(n.states) == case.states).collect();
        if let [need] = same[..] {
            heard.insert(need.rule.id);
            let voice = need.rule.evidence.rocroller;
            let known = voice == Voice::Agrees || need.rule.id == "cdna3.18";
            assert!(known, "{} on {}: {voice:?}", need.rule.id, case.target);
        }
    }
    assert!(heard.len() > 30, "{heard:?}");
}
