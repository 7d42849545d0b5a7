//! Tests sequences of three instructions measured with LLVM 22: a vector ALU instruction, an instruction that some rules require between
//! two others, and a memory instruction.

use gcn_isa::hazards::{Link, RuleSet, Since, View, wait_states};
use gcn_isa::table::Class;
use gcn_isa::wait::{WaitOptions, insert_wait_states};
use gcn_isa::{Target, check};

use crate::golden;

pub const TRIPLES: [(Target, &[u8]); 2] = [
    (Target::GFX908, include_bytes!("../../data/drawn-triples-gfx908.tsv.gz")),
    (Target::GFX90A, include_bytes!("../../data/drawn-triples-gfx90a.tsv.gz")),
];

/// The three instructions of each row, and the total number of LLVM's wait states.
pub fn rows(text: &str) -> impl Iterator<Item = ([&str; 3], u32)> {
    text.lines().map(|line| {
        let [a, b, c, states] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        ([a, b, c], states.parse().expect("a number"))
    })
}

/// The rule about all three instructions, if it has the largest requirement between the first and the third.
pub fn crossing_rule(target: Target, lines: [&str; 3]) -> Option<&'static str> {
    let [first, second, third] = lines.map(|text| View::new(target, &golden::inst(text, target)));
    let need =
        first.required_since(&third, RuleSet::Safe.config(false), Since::NOTHING.past(&first, &second))?;
    matches!(need.rule.link, Link::Crossing { .. }).then_some(need.rule.id)
}

#[test]
fn triples_get_llvm_s_wait_states() {
    let mut crossed = 0;
    for (target, packed) in TRIPLES {
        let text = golden::unpack(packed);
        let rules = RuleSet::Safe.config(false);
        for (lines, llvm) in rows(&text) {
            let mut program = golden::program(&format!("{} | s_endpgm", lines.join(" | ")), target);
            insert_wait_states(&mut program, &WaitOptions { rules, ..WaitOptions::default() });
            let nops = program.lines.iter().filter(|l| l.inst.desc.class == Class::Nop);
            let ours: u32 = nops.map(|l| wait_states(&l.inst)).sum();
            assert!(ours >= llvm, "{target} {lines:?}: {ours}, LLVM {llvm}");
            let options = check::Options { rules, ..check::Options::default() };
            let advice = check::advice(&program, options);
            assert!(!advice.iter().any(|a| program.lines[a.line].inst.desc.class == Class::Nop), "{lines:?}");
            if crossing_rule(target, lines).is_some() {
                assert_eq!(ours, llvm, "{target} {lines:?}");
                crossed += 1;
            }
        }
    }
    assert!(crossed > 100, "{crossed}");
}
