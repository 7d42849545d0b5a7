//! The wait-state rules against the measured tables and against what LLVM inserts between golden pairs.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use gcn_emit::text::parse_inst;
use gcn_isa::Target;
use gcn_isa::hazards::{self, Config, Grade, Kinds, View};

use crate::golden::{self, Views};

/// Instructions of golden files that are left out: exports and interpolation, which the table does not have, and a lane
/// write with two scalar sources.
fn is_left_out(text: &str) -> bool {
    text.starts_with("exp ") || text.starts_with("v_interp_") || text == "v_writelane_b32 v20, s20, m0"
}

/// Every row of the rule table, as measured with its own pair of instructions.
#[test]
fn every_measured_rule_has_its_safe_number() {
    let text = golden::unpack(include_bytes!("../data/rules.tsv.gz"));
    let (mut same, mut alias, mut left_out) = (0, 0, 0);
    for row in golden::rows(&text) {
        let [rule, target, .., safe, _, _, first, second, _] = row[..] else { panic!("{row:?}") };
        if is_left_out(second) {
            left_out += 1;
            continue;
        }
        let target = golden::target(target);
        let config = Config { xnack: rule.starts_with("xnack"), ..Config::default() };
        let view = |text| View::new(target, &golden::inst(text, target));
        let ours = view(first).required(&view(second), config).map_or(0, |n| n.states);
        if rule == "case-14" && !target.is_gfx940_family() {
            // VCC under two names: there is only one encoding, and case 18 does not exist there.
            assert_eq!(ours, 0);
            alias += 1;
            continue;
        }
        assert_eq!(ours.to_string(), safe, "{rule} on {target}: {first} | {second}");
        same += 1;
    }
    assert_eq!((same, alias, left_out), (1369, 4, 3));
}

const PAIRS: [(Target, &[u8]); 6] = [
    (Target::GFX900, include_bytes!("../data/pairs-gfx900.tsv.gz")),
    (Target::GFX906, include_bytes!("../data/pairs-gfx906.tsv.gz")),
    (Target::GFX908, include_bytes!("../data/pairs-gfx908.tsv.gz")),
    (Target::GFX90A, include_bytes!("../data/pairs-gfx90a.tsv.gz")),
    (Target::GFX942, include_bytes!("../data/pairs-gfx942.tsv.gz")),
    (Target::GFX950, include_bytes!("../data/pairs-gfx950.tsv.gz")),
];

/// Rules that ask for more than LLVM in some cases. Their numbers have witnesses in the rule table.
const ABOVE_LLVM: [&str; 16] = [
    "cdna3.4",
    "cdna3.5",
    "cdna3.8",
    "llvm.9.sgpr-offset",
    "cdna3.101.mfma",
    "cdna3.103",
    "cdna3.104",
    "cdna3.108",
    "cdna3.109",
    "cdna3.119",
    "cdna3.120",
    "mi100.mfma-srcc",
    "gfx950.cvt-scale",
    "llvm.20.lds-dma",
    // A 16-bit result keeps half of its register, which is a read of it.
    "cdna3.21",
    // LLVM leaves GWS out of the DS instructions.
    "llvm.gfx908.accread-memory",
];

#[test]
fn golden_pairs_need_what_llvm_inserts_or_a_documented_larger_number() {
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
            assert!(ABOVE_LLVM.contains(&rule), "{target}: {first} | {second}: {rule} {ours}, LLVM {llvm}");
            above += 1;
        }
        counts.push((target, same, above, left_out));
    }
    let expected = [
        (Target::GFX900, 4346, 73, 184),
        (Target::GFX906, 4612, 69, 213),
        (Target::GFX908, 6840, 62, 292),
        (Target::GFX90A, 10833, 58, 90),
        (Target::GFX942, 15158, 272, 117),
        (Target::GFX950, 21977, 555, 136),
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
        let with = need(Config { xnack: true, ..Config::default() });
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
        // On gfx90a the file has 16 for v_mfma_f64_16x16x4, read off a wait that does not follow the passes.
        if target != Target::GFX90A || !view.kinds().intersects(Kinds::DGEMM16) {
            assert_eq!(view.passes().to_string(), passes, "{target}: {example}");
        }
        // What a VALU read of the result waits for, where the manuals agree with LLVM.
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

/// LLVM's own distances with one more instruction in the middle.
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
        // A larger number than LLVM's is one of the documented ones.
        if need(&first, &second) == count(without) {
            assert!(need(&first, &second) <= have, "{row:?}");
        }
        // Where the middle depends on neither, LLVM inserts exactly the rest.
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
fn every_rule_binds_a_golden_pair() {
    let mut seen = BTreeSet::new();
    let mut note = |target: Target, first: &str, second: &str| {
        let (Ok(first), Ok(second)) = (parse_inst(first, target), parse_inst(second, target)) else { return };
        let config = Config { xnack: true, ..Config::default() };
        let needs = View::new(target, &first).required_all(&View::new(target, &second), config);
        seen.extend(needs.iter().map(|n| (n.rule.id, target)));
    };
    let text = golden::unpack(include_bytes!("../data/rules.tsv.gz"));
    for row in golden::rows(&text) {
        note(golden::target(row[1]), row[13], row[14]);
    }
    for (target, packed) in PAIRS {
        let text = golden::unpack(packed);
        golden::rows(&text).filter(|r| r[4] != "0").for_each(|r| note(target, r[1], r[2]));
    }
    let all: BTreeSet<_> =
        Target::ALL.into_iter().flat_map(|t| hazards::rules(t).map(move |r| (r.id, t))).collect();
    let missing: Vec<_> = all.difference(&seen).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn rule_names_are_unique_and_the_longest_wait_is_known() {
    let ids: HashSet<_> = hazards::all().map(|r| r.id).collect();
    assert_eq!(ids.len(), hazards::all().count());
    for id in ids {
        assert_eq!(hazards::rule(id).map(|r| r.id), Some(id));
    }
    let longest = |target| hazards::rules(target).filter_map(|r| r.states(target)).map(|s| s.after(16)).max();
    assert_eq!(Target::ALL.map(longest).into_iter().max(), Some(Some(hazards::MAX_REACH)));
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
    let pair = |first, second, at_least| {
        let config = Config { at_least, ..Config::default() };
        view(first).required(&view(second), config).map_or(0, |n| n.states)
    };
    let packed = ("v_pk_mul_f32 v[0:1], v[2:3], v[4:5]", "v_mov_b32_e32 v9, v0");
    assert_eq!(pair(packed.0, packed.1, Grade::Cautious), 1);
    assert_eq!(pair(packed.0, packed.1, Grade::Documented), 0);
    let mfma = ("v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[102:103], 0", "v_mov_b32_e32 v20, v3");
    assert_eq!(pair(mfma.0, mfma.1, Grade::Certain), 11);
    let select = ("v_cmp_eq_u32_e64 s[4:5], v0, v1", "v_cndmask_b32_e64 v2, v3, v4, s[4:5]");
    assert_eq!(pair(select.0, select.1, Grade::Documented), 2);
    assert_eq!(pair(select.0, select.1, Grade::Certain), 0);
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
        "cdna3.106: XDL writes, then a vector ALU or memory instruction reads it (v3): 11 wait states"
    );
    assert_eq!(
        need.rule.to_string(),
        "cdna3.106: XDL writes, then a vector ALU or memory instruction reads it: passes + 3 on gfx90a gfx942; \
         passes + 4 (5 after 2 passes) on gfx950 (CDNA3 ISA table 37)"
    );
    assert_eq!(need.rule.states(Target::GFX942).map(|s| s.to_string()).as_deref(), Some("passes + 3"));
    assert_eq!(
        need.rule.states(Target::GFX950).map(|s| s.to_string()).as_deref(),
        Some("passes + 4 (5 after 2 passes)")
    );
}
