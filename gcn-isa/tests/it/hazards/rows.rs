//! Tests the measured rule table (`rules.tsv`) against our rules: each row has a rule with its number, each rule has a row or a pair, and
//! the sources that the rules state are those of the table.

use std::collections::{BTreeMap, BTreeSet};

use gcn_emit::text::parse_inst;
use gcn_isa::Target;
use gcn_isa::hazards::{self, Config, Need, Rule, RuleSet, View, Voice};

use super::allpairs::{DRAWN_PAIRS, pairs_of};
use super::triples;
use crate::golden;

/// Rows that cannot be expressed as two instructions of the table: the rule, the names of the targets or `all`, and the reason.
const INEXPRESSIBLE: [(&str, &str); 5] = [
    // VCC can be named directly or by the number of the SGPRs after the last one: both have the same encoding, and where case 18 does not
    // exist, no other rule requires the wait. (On the gfx940 family the probe reads VCC, and case 18 has the number.)
    ("case-14", "gfx900"),
    ("case-14", "gfx906"),
    ("case-14", "gfx908"),
    ("case-14", "gfx90a"),
    // The instruction table has no interpolation, because compute kernels do not use it.
    ("llvm.m0-interp", "gfx900 gfx906 gfx908"),
];

fn is_inexpressible(rule: &str, target: Target) -> bool {
    INEXPRESSIBLE.iter().any(|(r, targets)| *r == rule && targets.split(' ').any(|t| t == target.name()))
}

/// Rules that only rocRoller requires and that the table lacks, with their targets.
pub const ROCROLLER_ONLY: [(&str, Target); 4] = [
    ("rocroller.101.mfma", Target::GFX90A),
    ("rocroller.xdl-srcc-war", Target::GFX90A),
    ("rocroller.sgemm-srcc-war", Target::GFX942),
    ("rocroller.sgemm-srcc-war", Target::GFX950),
];

/// The configuration without these rules.
pub fn without_rocroller(config: Config) -> Config {
    ROCROLLER_ONLY.iter().fold(config, |config, (id, _)| config.without(id).expect("a rule"))
}

/// A row of the table with the requirement of our rules.
pub struct Row {
    pub rule: String,
    pub target: Target,
    /// The number in the manuals; `None` where the available manuals have no statement.
    pub manual: Option<u8>,
    pub llvm: u8,
    pub safe: u8,
    pub pair: (String, String),
    /// The requirements of our rules, the largest first.
    pub needs: Vec<Need>,
}

impl Row {
    /// The rules that require the row's number.
    pub fn binding(&self) -> impl Iterator<Item = &'static Rule> {
        self.needs.iter().filter(|n| n.states == self.safe && n.states > 0).map(|n| n.rule)
    }
}

/// All rows that can be expressed as two instructions.
pub fn rows() -> Vec<Row> {
    let text = golden::unpack(include_bytes!("../../data/rules.tsv.gz"));
    let rows = golden::rows(&text).filter_map(|row| {
        let [rule, target, _, _, _, _, _, manual, llvm, _, safe, _, _, first, second, _] = row[..] else {
            panic!("{row:?}")
        };
        let target = golden::target(target);
        if is_inexpressible(rule, target) {
            let parsed = parse_inst(first, target).is_ok() && parse_inst(second, target).is_ok();
            assert!(!parsed || rule == "case-14", "{rule} on {target} is expressible");
            return None;
        }
        let config = without_rocroller(RuleSet::Safe.config(rule.starts_with("xnack")));
        let view = |text| View::new(target, &golden::inst(text, target));
        let needs = view(first).required_all(&view(second), config).to_vec();
        Some(Row {
            rule: rule.to_owned(),
            target,
            manual: manual.parse().ok(),
            llvm: llvm.parse().expect("LLVM was asked for every row"),
            safe: safe.parse().expect("every row has a safe number"),
            pair: (first.to_owned(), second.to_owned()),
            needs,
        })
    });
    rows.collect()
}

#[test]
fn every_row_has_a_rule_with_its_safe_number() {
    let rows = rows();
    for row in &rows {
        let ours = row.needs.first().map_or(0, |n| n.states);
        assert_eq!(ours, row.safe, "{} on {}: {:?}: {:?}", row.rule, row.target, row.pair, row.needs);
    }
    assert_eq!(rows.len() + 7, golden::unpack(include_bytes!("../../data/rules.tsv.gz")).lines().count() - 1);
}

/// Rows for a case of a manual that are covered by a rule for another case, with the reason.
const ANOTHER_CASE: [(&str, &str); 11] = [
    // The one wait state comes from LLVM's rule for packed math; the case requires none.
    ("case-101.pk", "llvm.20.packed"),
    ("case-101.same-srcc", "llvm.20.packed"),
    ("case-101.same-waw", "llvm.20.packed"),
    // The registers are not exactly the same, so the general case applies.
    ("case-102.size-differs", "cdna3.103"),
    // The reading instruction has another number of passes.
    ("case-107", "cdna3.108.passes"),
    ("case-107.sgemm-sgemm", "cdna3.109.same"),
    // All readers of source A or B have the same number.
    ("case-117", "cdna3.116"),
    ("case-118.ab", "cdna3.116"),
    ("case-118.idx", "cdna3.116"),
    // The alias of VCC cannot be expressed; the probe names VCC.
    ("case-14", "cdna3.18 llvm.18.vcc"),
    // Case 18 repeats case 6.
    ("case-18.lane-select", "cdna3.6"),
];

/// Tests that each row is covered by a rule of its own case: `case-105.srca` is covered by `cdna3.105`, or by another rule with that number
/// in its name.
#[test]
fn rows_of_a_case_are_kept_by_the_rule_of_that_case() {
    let mut odd: BTreeSet<(String, String)> = BTreeSet::new();
    for row in rows().iter().filter(|r| r.safe > 0) {
        let rules: Vec<&str> = row.binding().map(|r| r.id).collect();
        let Some(case) = row.rule.strip_prefix("case-") else { continue };
        let case = case.split('.').next().unwrap_or_default();
        let named = rules.iter().any(|id| id.split('.').any(|part| part == case));
        if !named {
            odd.insert((row.rule.clone(), rules.join(" ")));
        }
    }
    let known = ANOTHER_CASE.map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(odd, BTreeSet::from(known));
}

#[test]
fn every_rule_has_a_row_or_a_pair_on_each_of_its_targets() {
    let mut seen: BTreeSet<(&str, Target)> = BTreeSet::new();
    for row in rows() {
        seen.extend(row.needs.iter().map(|n| (n.rule.id, row.target)));
    }
    for (target, packed) in super::PAIRS {
        let text = golden::unpack(packed);
        let mut views = golden::Views::new(target);
        for row in golden::rows(&text)
            .filter(|r| r[4] != "0" && !super::is_left_out(r[1]) && !super::is_left_out(r[2]))
        {
            views.load(row[1]);
            views.load(row[2]);
            let needs = views.get(row[1]).required_all(views.get(row[2]), Config::default());
            seen.extend(needs.iter().map(|n| (n.rule.id, target)));
        }
    }
    for (target, packed) in DRAWN_PAIRS {
        let text = golden::unpack(packed);
        let mut views = golden::Views::new(target);
        for (first, second, _) in pairs_of(&text).filter(|t| t.2 > 0) {
            views.load(first);
            views.load(second);
            let needs = views.get(first).required_all(views.get(second), Config::default());
            seen.extend(needs.iter().map(|n| (n.rule.id, target)));
        }
    }
    for (target, packed) in triples::TRIPLES {
        let text = golden::unpack(packed);
        let rules = triples::rows(&text).flat_map(|row| triples::crossing_rule(target, row.0));
        seen.extend(rules.map(|rule| (rule, target)));
    }
    seen.extend(ROCROLLER_ONLY);
    // The rules for LLVM's peculiarities are tested in `llvm_set`.
    let rules = |t| hazards::rules(t).filter(|r| RuleSet::Safe.contains(*r)).map(move |r| (r.id, t));
    let all: BTreeSet<_> = Target::REPRESENTATIVES.into_iter().flat_map(rules).collect();
    let missing: Vec<_> = all.difference(&seen).collect();
    assert!(missing.is_empty(), "no row or pair exercises {missing:?}");
}

/// Rules for which our reading of the manual differs from the table, with the reason.
const READ_OTHERWISE: [(&str, &str); 3] = [
    // The column has 0 from case 107; the row's own note says that case 108 applies.
    ("cdna3.108.passes", "manual {\"less\"}"),
    // The manual names buffer stores from LDS, and loads into LDS by scratch and global instructions.
    ("llvm.16.buffer-load", "manual {\"agrees\", \"silent\"}"),
    // MI100 ISA table 12 names LDS_direct, but does not mention that any vector instruction can have it as an operand and then reads M0.
    ("mi100.16.lds-direct", "manual {\"silent\"}"),
];

/// Tests that the statements of the manual and of LLVM in the rules are those in the columns of the table. For the manual, gfx950 is
/// skipped, because no manual covers it.
#[test]
fn the_voices_of_the_rules_are_those_of_the_table() {
    let mut voices: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for row in rows().iter().filter(|r| r.safe > 0) {
        let voice = |number: Option<u8>| match number {
            None => "silent",
            Some(n) if n < row.safe => "less",
            Some(_) => "agrees",
        };
        let only = row.binding().count() == 1;
        for rule in row.binding().filter(|_| only) {
            let (manual, llvm) = voices.entry(rule.id).or_default();
            if row.target != Target::GFX950 {
                manual.insert(voice(row.manual));
            }
            llvm.insert(voice(Some(row.llvm)));
        }
    }
    let mut odd = BTreeMap::new();
    for (id, (manual, llvm)) in voices {
        let evidence = hazards::rule(id).expect("a rule").evidence;
        let fits = |voice: Voice, said: &BTreeSet<&str>| match voice {
            Voice::Agrees | Voice::Covers | Voice::Defines | Voice::Moot => {
                said.is_empty() || said.contains("agrees") && !said.contains("less")
            }
            Voice::Less => said.is_empty() || said.contains("less"),
            Voice::Silent => !said.contains("agrees"),
        };
        if !fits(evidence.manual, &manual) {
            odd.insert(id, format!("manual {manual:?}"));
        }
        if !fits(evidence.llvm, &llvm) {
            odd.insert(id, format!("LLVM {llvm:?}"));
        }
    }
    let known = READ_OTHERWISE.map(|(id, said)| (id, said.to_owned()));
    assert_eq!(odd, BTreeMap::from(known));
}
