//! Tests the counters on golden programs: the checker accepts LLVM's output, and rejects it if any single wait is removed.

use gcn_isa::check::Finding;
use gcn_isa::table::Class;
use gcn_isa::{Program, Target};

use crate::golden;

/// The findings of the counter rules. LLVM leaves what a barrier orders, other than registers, to fences.
fn counter_findings(program: &Program) -> Vec<Finding> {
    let findings = super::strict(program).findings;
    findings.into_iter().filter(|f| f.rule.starts_with("waitcnt.") || f.rule == "barrier.counters").collect()
}

fn without_line(program: &Program, line: usize) -> Program {
    let mut program = program.clone();
    program.lines.remove(line);
    for at in program.labels.iter_mut().filter_map(|l| l.at.as_mut()) {
        *at -= usize::from(*at > line);
    }
    program
}

/// LLVM assumes that FLAT operations are in order with other vector memory operations after a wait for lgkmcnt. Our rules do not assume
/// this.
const FLAT_IN_ORDER: (Target, &str, &str) = (Target::GFX900, "loop_diamond", "waitcnt.flat-waw");

/// Unnecessary waits of LLVM: an earlier wait drained the counter on every path, or the access is to GDS.
const NOT_NEEDED: [(Target, &str, usize); 4] = [
    (Target::GFX900, "loop_diamond", 9),
    (Target::GFX908, "nested", 3),
    (Target::GFX90A, "loop_diamond", 6),
    (Target::GFX90A, "loop_diamond", 16),
];

#[test]
fn llvm_output_is_accepted_and_no_wait_of_it_can_be_left_out() {
    let text = golden::unpack(include_bytes!("../../data/waitcnt-golden.tsv.gz"));
    let (mut accepted, mut needed, mut not_needed) = (0, 0, Vec::new());
    for row in golden::rows(&text) {
        let [target, kind, without_waits, with_waits] = row[..] else { panic!("{row:?}") };
        if without_waits.contains("exp ") {
            continue;
        }
        let target = golden::target(target);
        let program = golden::program(with_waits, target);
        let findings = counter_findings(&program);
        if let Some(finding) = findings.first() {
            assert_eq!((target, kind, finding.rule), FLAT_IN_ORDER, "{finding}\n{with_waits}");
            continue;
        }
        accepted += 1;
        for line in 0..program.lines.len() {
            if program.lines[line].inst.desc.class != Class::Waitcnt {
                continue;
            }
            if counter_findings(&without_line(&program, line)).is_empty() {
                not_needed.push((target, kind, line));
            } else {
                needed += 1;
            }
        }
    }
    assert_eq!(not_needed, NOT_NEEDED);
    assert_eq!((accepted, needed), (508, 526));
}

/// Tests the same programs without the waits that LLVM inserted.
#[test]
fn programs_without_waits_are_found_wrong_where_llvm_waits() {
    let text = golden::unpack(include_bytes!("../../data/waitcnt-golden.tsv.gz"));
    let (mut clean, mut wrong) = (0, 0);
    for row in golden::rows(&text) {
        let [target, kind, without_waits, with_waits] = row[..] else { panic!("{row:?}") };
        if without_waits.contains("exp ") || kind.contains("existing_wait") {
            continue;
        }
        let found = !counter_findings(&golden::program(without_waits, golden::target(target))).is_empty();
        assert_eq!(found, with_waits.contains("s_waitcnt"), "{target} {kind}: {without_waits}");
        *(if found { &mut wrong } else { &mut clean }) += 1;
    }
    assert_eq!((clean, wrong), (105, 386));
}
