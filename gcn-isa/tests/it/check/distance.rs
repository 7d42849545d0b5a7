//! Tests wait states on golden programs with branches and loops, and on LLVM's output for them.

use std::collections::BTreeSet;

use gcn_isa::check::{self, Amount, Finding, Options};
use gcn_isa::hazards;
use gcn_isa::{Program, Target};

use crate::golden;
use crate::hazards::rows::without_rocroller;

fn states(amount: Amount) -> u8 {
    match amount {
        Amount::States(n) => n,
        _ => panic!("{amount:?}"),
    }
}

fn distances(program: &Program) -> Vec<Finding> {
    // The golden tables lack the wait states that only rocRoller requires.
    let rules = without_rocroller(hazards::Config::default());
    let findings = check::check_with(program, Options { rules, ..Options::default() }).findings;
    findings.into_iter().filter(|f| matches!(f.need, Amount::States(_))).collect()
}

/// Parses `i>j:n`: instruction j needs n wait states after instruction i.
fn needs(cell: &str) -> BTreeSet<(usize, usize, u8)> {
    cell.split_whitespace()
        .map(|need| {
            let (pair, n) = need.split_once(':').expect("i>j:n");
            let (i, j) = pair.split_once('>').expect("i>j");
            (i.parse().expect("index"), j.parse().expect("index"), n.parse().expect("count"))
        })
        .collect()
}

#[test]
fn golden_control_flow_needs_are_the_findings() {
    let text = golden::unpack(include_bytes!("../../data/cfg-example.tsv.gz"));
    let mut seen = 0;
    for row in golden::rows(&text) {
        let [target, shape, _, program, _, _, needed, _] = row[..] else { panic!("{row:?}") };
        let program = golden::program(program, golden::target(target));
        let ours: BTreeSet<_> = distances(&program)
            .iter()
            .map(|f| (f.first.expect("a pair"), f.second, states(f.need)))
            .collect();
        // The golden list also contains pairs that are already far enough apart because of other instructions.
        let required = |a: usize, b: usize| {
            let inst = |i: usize| &program.lines[i].inst;
            hazards::required(program.target, inst(a), inst(b)).map_or(0, |n| n.states)
        };
        for &(first, second, states) in &needs(needed) {
            assert_eq!(required(first, second), states, "{shape}: {first}>{second}");
        }
        for finding in &ours {
            assert!(needs(needed).contains(finding), "{shape}: {finding:?} not in {needed}");
        }
        seen += ours.len();
    }
    // Two more pairs concern results that a later matrix instruction overwrites before they are read.
    assert_eq!(seen, 38);
}

#[test]
fn llvm_output_is_accepted_but_where_it_falls_short() {
    let text = golden::unpack(include_bytes!("../../data/cfg-example.tsv.gz"));
    let (mut accepted, mut short) = (0, 0);
    for row in golden::rows(&text) {
        let [target, shape, _, _, with_waits, _, _, short_of] = row[..] else { panic!("{row:?}") };
        let program = golden::program(with_waits, golden::target(target));
        let findings = distances(&program);
        if short_of == "-" {
            assert!(findings.is_empty(), "{shape}: {}", findings[0]);
            accepted += 1;
        } else {
            // Parses `i>j need n have m`, in the line numbers without waits.
            let words: Vec<&str> = short_of.split_whitespace().collect();
            let [_, "need", need, "have", have] = words[..] else { panic!("{short_of}") };
            let found: Vec<_> =
                findings.iter().map(|f| (states(f.need).to_string(), states(f.have).to_string())).collect();
            assert_eq!(found, [(need.to_owned(), have.to_owned())], "{shape}");
            short += 1;
        }
    }
    assert_eq!((accepted, short), (25, 5));
}

/// The program shapes into which each pair is placed. Each has the number of wait states that it provides in addition to the filler `{}`.
const SHAPES: [(&str, u8); 6] = [
    ("FIRST | {} | SECOND | s_endpgm", 0),
    ("FIRST | L1: | {} | SECOND | s_endpgm", 0),
    ("FIRST | s_cbranch_scc1 L2 | {} | s_nop 15 | s_nop 15 | L2: | {} | SECOND | s_endpgm", 1),
    ("s_branch L2 | L1: | {} | SECOND | s_endpgm | L2: | FIRST | s_branch L1", 1),
    ("L1: | SECOND | s_nop 15 | s_nop 15 | FIRST | {} | s_cbranch_scc1 L1 | s_endpgm", 1),
    (
        "s_cbranch_scc1 L1 | FIRST | s_branch L2 | L1: | s_nop 15 | s_nop 15 | L2: | {} | L3: | SECOND | s_endpgm",
        1,
    ),
];

fn nops(mut states: u8) -> String {
    let mut text = Vec::new();
    while states > 0 {
        let some = states.min(16);
        text.push(format!("s_nop {}", some - 1));
        states -= some;
    }
    if text.is_empty() { ";".to_owned() } else { text.join("\n") }
}

/// Tests every measured pair in every shape, with exactly the safe number of wait states and with one less.
#[test]
fn exactly_the_safe_number_is_accepted_and_one_less_is_not() {
    let text = golden::unpack(include_bytes!("../../data/rules.tsv.gz"));
    let mut seen = 0;
    for row in golden::rows(&text) {
        let [rule, target, .., safe, _, _, first, second, _] = row[..] else { panic!("{row:?}") };
        let safe: u8 = safe.parse().expect("a number");
        let target = golden::target(target);
        let left_out = rule.starts_with("xnack") || second.starts_with("v_interp") || safe == 0;
        if left_out || (rule == "case-14" && !target.is_gfx940_family()) || second.starts_with("s_rfe") {
            continue;
        }
        // One target of each family is enough to test the shapes.
        if !matches!(target, Target::GFX908 | Target::GFX90A | Target::GFX942 | Target::GFX950) {
            continue;
        }
        for (shape, own) in SHAPES {
            let with = |states: u8| {
                let text = shape.replace("{}", &nops(states)).replace(" | ", "\n");
                let text = text.replace("FIRST", first).replace("SECOND", second);
                let program = golden::program(&text, target);
                let printed = |l: usize| program.lines[l].inst.desc.printed;
                let (a, b) = (golden::inst(first, target), golden::inst(second, target));
                distances(&program)
                    .into_iter()
                    .filter(|f| {
                        f.first.is_some_and(|l| printed(l) == a.desc.printed)
                            && printed(f.second) == b.desc.printed
                    })
                    // Ignore findings about the pair in reverse order and about an instruction with itself.
                    .filter(|f| {
                        *program.lines[f.second].inst == b && *program.lines[f.first.unwrap_or(0)].inst == a
                    })
                    .filter(|_| a != b)
                    .collect::<Vec<_>>()
            };
            let same = golden::inst(first, target) == golden::inst(second, target);
            let fill = safe.saturating_sub(own);
            assert!(with(fill).is_empty(), "{rule} {target} {shape}: {}", with(fill)[0]);
            if fill > 0 && !same {
                let found = with(fill - 1);
                assert_eq!(found.len(), 1, "{rule} {target} {shape}: {found:?}");
                assert_eq!(
                    (states(found[0].need), states(found[0].have)),
                    (safe, safe - 1),
                    "{rule} {shape}"
                );
            }
            seen += 1;
        }
    }
    assert!(seen > 3000, "{seen}");
}
