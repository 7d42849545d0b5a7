//! Tests the wait-state rules against the measured tables and against the wait states that LLVM inserts between golden pairs.

mod allpairs;
mod clauses;
mod llvm_set;
mod rocroller;
pub mod rows;
mod streams;
mod triples;

use std::collections::{BTreeMap, HashSet};

use gcn_isa::Target;
use gcn_isa::hazards::{self, Config, Kinds, RuleSet, View};

use crate::golden::{self, Views};

/// True for instructions of golden files that the tests skip: exports and interpolation, which the table lacks, and a lane write with two
/// scalar sources.
fn is_left_out(text: &str) -> bool {
    text.starts_with("exp ") || text.starts_with("v_interp_") || text == "v_writelane_b32 v20, s20, m0"
}

const PAIRS: [(Target, &[u8]); 6] = [
    (Target::GFX900, include_bytes!("../data/pairs-gfx900.tsv.gz")),
    (Target::GFX906, include_bytes!("../data/pairs-gfx906.tsv.gz")),
    (Target::GFX908, include_bytes!("../data/pairs-gfx908.tsv.gz")),
    (Target::GFX90A, include_bytes!("../data/pairs-gfx90a.tsv.gz")),
    (Target::GFX942, include_bytes!("../data/pairs-gfx942.tsv.gz")),
    (Target::GFX950, include_bytes!("../data/pairs-gfx950.tsv.gz")),
];

#[test]
fn golden_pairs_need_what_llvm_inserts_or_a_documented_larger_number() {
    let explained = allpairs::explained();
    let mut counts = Vec::new();
    for (target, packed) in PAIRS {
        let text = golden::unpack(packed);
        let mut views = Views::new(target);
        let (mut same, mut above, mut left_out) = (0, 0, 0);
        for row in golden::rows(&text) {
            let [_, first, second, _, llvm, _] = row[..] else { panic!("{row:?}") };
            if is_left_out(first) || is_left_out(second) {
                left_out += 1;
                continue;
            }
            views.load(first);
            views.load(second);
            let need = views.get(first).required(views.get(second), Config::default());
            let llvm: u8 = llvm.parse().expect("a count");
            let ours = need.map_or(0, |n| n.states);
            if ours == llvm {
                same += 1;
                continue;
            }
            assert!(ours > llvm, "{target}: {first} | {second}: {ours}, LLVM {llvm}");
            let rule = need.map_or("", |n| n.rule.id);
            assert!(
                explained.contains(&(rule, target)),
                "{target}: {first} | {second}: {rule} {ours}, LLVM {llvm}"
            );
            above += 1;
        }
        counts.push((target, same, above, left_out));
    }
    let expected = [
        (Target::GFX900, 4346, 73, 184),
        (Target::GFX906, 4612, 69, 213),
        (Target::GFX908, 6840, 62, 292),
        (Target::GFX90A, 10707, 184, 90),
        (Target::GFX942, 15158, 272, 117),
        (Target::GFX950, 21976, 556, 136),
    ];
    assert_eq!(counts, expected);
}

#[test]
fn clause_rules_count_only_with_xnack() {
    let text = golden::unpack(include_bytes!("../data/pairs-xnack.tsv.gz"));
    let mut views: BTreeMap<Target, Views> = BTreeMap::new();
    let (mut same, mut above) = (0, 0);
    for row in golden::rows(&text) {
        let [target, first, second, _, llvm, _] = row[..] else { panic!("{row:?}") };
        let target = golden::target(target);
        let views = views.entry(target).or_insert_with(|| Views::new(target));
        views.load(first);
        views.load(second);
        let need = |config| views.get(first).required(views.get(second), config);
        let with = need(Config::default().with_xnack(true));
        assert!(need(Config::default()).is_none_or(|n| n.rule.id != "xnack.clause"));
        if with.map_or(0, |n| n.states).to_string() == llvm {
            same += 1;
        } else {
            assert_eq!(with.map(|n| n.rule.id), Some("cdna3.8"), "{target}: {first} | {second}");
            above += 1;
        }
    }
    assert_eq!((same, above), (5254, 101));
}

#[test]
fn matrix_instructions_have_the_measured_class_and_passes() {
    let text = golden::unpack(include_bytes!("../data/mfma-passes.tsv.gz"));
    let mut seen = 0;
    for row in golden::rows(&text) {
        let [target, _, class, passes, wait, example] = row[..] else { panic!("{row:?}") };
        let target = golden::target(target);
        let view = View::new(target, &golden::inst(example, target));
        let kinds = match class {
            "XDL" | "MFMA" => Kinds::XDL,
            "SGEMM" => Kinds::SGEMM,
            "DGEMM" => Kinds::DGEMM,
            "SMFMAC" => Kinds::XDL,
            _ => panic!("{class}"),
        };
        assert!(view.kinds().intersects(kinds), "{target}: {example}");
        // On gfx90a, the file has 16 for v_mfma_f64_16x16x4. That value was derived from a wait that does not depend on the passes.
        if target != Target::GFX90A || !view.kinds().intersects(Kinds::DGEMM16) {
            assert_eq!(view.passes().to_string(), passes, "{target}: {example}");
        }
        // The wait states that a VALU read of the result requires, where the manuals agree with LLVM.
        if target != Target::GFX908 {
            let dst = example.split_once(' ').and_then(|e| e.1.split_once(',')).expect("operands").0;
            let first = dst.replace(['[', ']'], " ").replace(':', " ");
            let number = first[1..].split_whitespace().next().expect("a register");
            let read = match dst.as_bytes()[0] {
                b'a' => format!("v_accvgpr_read_b32 v255, a{number}"),
                _ => format!("v_mov_b32_e32 v255, v{number}"),
            };
            let read = View::new(target, &golden::inst(&read, target));
            let need = view.required(&read, Config::default()).map_or(0, |n| n.states);
            assert_eq!(need.to_string(), wait, "{target}: {example}");
        }
        seen += 1;
    }
    assert_eq!(seen, text.lines().count() - 1);
}

/// Tests LLVM's own distances with another instruction in the middle.
#[test]
fn an_instruction_in_between_counts_for_its_wait_states() {
    let text = golden::unpack(include_bytes!("../data/chains-example.tsv.gz"));
    let mut seen = 0;
    for row in golden::rows(&text) {
        let [target, first, between, second, without, before_between, before_second, _] = row[..] else {
            panic!("{row:?}")
        };
        let target = golden::target(target);
        let parse = |text| golden::inst(text, target);
        let (first, middle, second) = (parse(first), parse(between), parse(second));
        let need = |a, b| hazards::required(target, a, b).map_or(0, |n| u32::from(n.states));
        let count = |text: &str| text.parse::<u32>().expect("a count");
        assert!(need(&first, &second) >= count(without), "{row:?}");
        let have = count(before_between) + hazards::wait_states(&middle) + count(before_second);
        // If our number is larger than LLVM's, the difference must be documented.
        if need(&first, &second) == count(without) {
            assert!(need(&first, &second) <= have, "{row:?}");
        }
        // If the middle instruction depends on neither of the others, LLVM inserts exactly the remaining wait states.
        if need(&first, &middle) == 0
            && need(&middle, &second) == 0
            && need(&first, &second) == count(without)
        {
            let rest = need(&first, &second).saturating_sub(hazards::wait_states(&middle));
            assert_eq!(rest, count(before_second), "{row:?}");
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn rule_names_are_unique_and_the_longest_wait_is_known() {
    let ids: HashSet<_> = hazards::all().map(|r| r.id).collect();
    assert_eq!(ids.len(), hazards::all().count());
    for id in ids {
        assert_eq!(hazards::rule(id).map(|r| r.id), Some(id));
    }
    let longest = |target| hazards::rules(target).filter_map(|r| r.states(target)).map(|s| s.after(16)).max();
    assert_eq!(Target::REPRESENTATIVES.map(longest).into_iter().max(), Some(Some(hazards::MAX_REACH)));
}

#[test]
fn reach_bounds_every_need() {
    for (target, packed) in PAIRS {
        let text = golden::unpack(packed);
        let mut views = Views::new(target);
        for row in golden::rows(&text).filter(|r| !is_left_out(r[1]) && !is_left_out(r[2])) {
            views.load(row[1]);
            views.load(row[2]);
            let first = views.get(row[1]);
            let needs = first.required_all(views.get(row[2]), Config::default());
            assert!(needs.iter().all(|n| n.states <= first.reach()));
        }
    }
}

#[test]
fn rule_sets_follow_the_evidence() {
    let view = |text| View::new(Target::GFX942, &golden::inst(text, Target::GFX942));
    let is = |first, second, expected: [u8; 6]| {
        let (first, second) = (view(first), view(second));
        // The numbers are those of the sources. A failure on hardware, which `gcn probe adopt` adds, raises a rule's grade.
        let needs = first.required_all(&second, RuleSet::Safe.into());
        let has_failed = |id| hazards::observations(id).iter().any(|row| row.seen == hazards::Seen::Fails);
        if !needs.iter().any(|need| has_failed(need.rule.id)) {
            let states = RuleSet::ALL.map(|set| first.required(&second, set.into()).map_or(0, |n| n.states));
            assert_eq!(states, expected);
        }
    };
    // The numbers of the rule sets: safe, fast, manual, certain, LLVM, and Mesa, which has no wait states for GFX9. No manual requires a
    // wait after packed math, but published kernels have it.
    is("v_pk_mul_f32 v[0:1], v[2:3], v[4:5]", "v_mov_b32_e32 v9, v0", [1, 1, 0, 0, 1, 0]);
    // The manual exempts a carry-in. Before a mask, rocRoller and published kernels have one wait state. Before a constant, published
    // kernels do not wait.
    is("v_cmp_eq_u32_e64 s[4:5], v0, v1", "v_cndmask_b32_e64 v2, v3, v4, s[4:5]", [2, 1, 1, 0, 2, 0]);
    let carry = "v_addc_co_u32_e64 v2, s[6:7], v3, v4, s[4:5]";
    is("v_cmp_eq_u32_e64 s[4:5], v0, v1", carry, [2, 0, 0, 0, 2, 0]);
    is("v_readlane_b32 s4, v0, s5", "v_mul_f32_e32 v2, s4, v3", [2, 2, 2, 0, 2, 0]);
    // Published kernels have this wait state.
    is("v_exp_f32_e32 v0, v1", "v_mul_f32_e32 v2, v0, v3", [1, 1, 1, 1, 1, 0]);
    // Exactly the same registers and the same number of passes, but another opcode: 0 in the manual after 8 passes.
    let f16 = "v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[102:103], v[0:15]";
    is(f16, "v_mfma_f32_32x32x8bf16_1k v[0:15], v[100:101], v[102:103], v[0:15]", [9, 0, 0, 0, 0, 0]);
}

#[test]
fn a_need_explains_itself() {
    let parse = |text| golden::inst(text, Target::GFX942);
    let need = hazards::required(
        Target::GFX942,
        &parse("v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[102:103], 0"),
        &parse("v_mov_b32_e32 v20, v3"),
    )
    .expect("case 106");
    assert_eq!(
        need.to_string(),
        "cdna3.106: an XDL matrix instruction writes a register, then a vector ALU or memory instruction reads it (v3): 11 wait states"
    );
    assert_eq!(
        need.rule.to_string(),
        "cdna3.106: an XDL matrix instruction writes a register, then a vector ALU or memory instruction reads it: passes + 3 on gfx90a gfx942; \
         passes + 4 (5 after 2 passes) on gfx9-4-generic gfx950 (CDNA3 ISA table 37)"
    );
    assert_eq!(need.rule.states(Target::GFX942).map(|s| s.to_string()).as_deref(), Some("passes + 3"));
    assert_eq!(
        need.rule.states(Target::GFX950).map(|s| s.to_string()).as_deref(),
        Some("passes + 4 (5 after 2 passes)")
    );
}
