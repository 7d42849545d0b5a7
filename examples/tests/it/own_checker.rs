//! The checker finds nothing in the code that the compiler emits, neither in the text nor in the object: for every
//! lesson, on every target that the lesson supports, and for each XNACK setting.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuildOptions, BuiltKernel, Feature};
use gcn_emit::asm;
use gcn_emit::code::Unit;
use gcn_emit::object::read_code_object;
use gcn_emit::rewrite::{Verdict, explain};
use gcn_isa::check::{Options, check_with};
use gcn_isa::hazards::RuleSet;
use gcn_test_support::env::is_thorough;

fn of_text(kernel: &BuiltKernel) -> Unit {
    let options = asm::Options { keep_instructions: true, ..asm::Options::default() };
    let text = kernel.assembly(Comments::None);
    Unit::of_assembly(&asm::assemble("kernel.s", &text, &options).expect("our own text"))
        .expect("instructions")
}

fn of_object(kernel: &BuiltKernel) -> Unit {
    Unit::of_object(&read_code_object(kernel.code_object()).expect("our own object")).expect("a unit")
}

fn assert_clean(unit: &Unit, what: &str) {
    let rules = RuleSet::Safe.config(unit.target_id.may_replay());
    for code in &unit.sections {
        let report = check_with(&code.program, Options { rules, ..Options::default() });
        assert!(report.is_clean(), "{what}: {report}");
    }
    let idle = explain(unit, rules).into_iter().find(|w| w.verdict == Verdict::NotNeeded);
    assert!(idle.is_none(), "{what}: {idle:?}");
}

#[test]
fn lessons_are_clean_for_every_target_and_xnack_setting() {
    let mut built = 0;
    for (lesson, target) in crate::lessons_on_targets() {
        let mut clauses = Vec::new();
        for xnack in [Feature::Any, Feature::On, Feature::Off] {
            let what = format!("{} on {target}, XNACK {xnack:?}", lesson.name);
            let kernel = match (lesson.build_with)(target, &BuildOptions { xnack, ..BuildOptions::default() })
            {
                Ok(kernel) => kernel,
                Err(e) if matches!(e.cause, BuildCause::Target { .. }) => continue,
                Err(e) => panic!("{what}: {e}"),
            };
            for unit in [of_text(&kernel), of_object(&kernel)] {
                assert_eq!((unit.target_id.target, unit.target_id.xnack), (target, xnack), "{what}");
                assert_clean(&unit, &what);
            }
            clauses.push(kernel.report().waits.states);
            built += 1;
        }
        assert!(clauses.is_empty() || clauses[0] == clauses[1] && clauses[1] >= clauses[2], "{clauses:?}");
    }
    assert!(built > if is_thorough() { 75 } else { 30 }, "{built}");
}
