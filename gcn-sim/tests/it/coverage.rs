//! Checks that the simulator implements every instruction of every target, except for a short list with reasons.

use std::collections::BTreeSet;

use gcn_isa::{Target, semantics};
use gcn_sim::coverage;

#[test]
fn every_instruction_of_every_target_is_known_or_refused_with_a_reason() {
    let mut refused = BTreeSet::new();
    for target in Target::REPRESENTATIVES {
        let coverage = coverage(target);
        assert!(coverage.unknown.is_empty(), "{target}: {:?}", coverage.unknown);
        refused.extend(coverage.refused.iter().map(|r| r.mnemonic));
    }
    let expected = ["ds_ordered_count", "v_mfma_ld_scale_b32"];
    assert_eq!(refused.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn every_executed_opcode_has_a_witness() {
    for target in Target::REPRESENTATIVES {
        for name in coverage(target).known {
            let semantics = semantics::of(name).unwrap_or_else(|| panic!("{name} has no semantics line"));
            assert!(!semantics.witness.is_empty() && !semantics.line.is_empty(), "{name} has no witness");
        }
    }
}

#[test]
fn every_instruction_of_gfx1250_is_executed_or_refused_with_a_reason() {
    for target in [Target::GFX1250, Target::GFX1251] {
        assert_eq!(coverage(target).unknown, Vec::<&str>::new(), "{target}");
    }
}
