//! Tests random streams, 1,200 for each target, against LLVM's wait states. The streams are straight, branching and looping. For straight
//! code, LLVM's output is the expected result. In code with branches, LLVM's search skips paths, so only sufficiency can be compared.

use std::cmp::Ordering;

use gcn_isa::check::{Finding, Options, check_with};
use gcn_isa::hazards::{self, Config, RuleSet, wait_states};
use gcn_isa::table::Class;
use gcn_isa::wait::{WaitOptions, insert_wait_states};
use gcn_isa::{Program, Target};

use crate::golden;

pub const STREAMS: [(Target, &[u8]); 6] = [
    (Target::GFX900, include_bytes!("../../data/streams/hazards-gfx900.txt.gz")),
    (Target::GFX906, include_bytes!("../../data/streams/hazards-gfx906.txt.gz")),
    (Target::GFX908, include_bytes!("../../data/streams/hazards-gfx908.txt.gz")),
    (Target::GFX90A, include_bytes!("../../data/streams/hazards-gfx90a.txt.gz")),
    (Target::GFX942, include_bytes!("../../data/streams/hazards-gfx942.txt.gz")),
    (Target::GFX950, include_bytes!("../../data/streams/hazards-gfx950.txt.gz")),
];

/// Straight streams of random instructions with any operands and modifiers, 250 for each target, measured with XNACK off.
pub const DRAWN: [(Target, &[u8]); 6] = [
    (Target::GFX900, include_bytes!("../../data/streams/drawn-hazards-gfx900.txt.gz")),
    (Target::GFX906, include_bytes!("../../data/streams/drawn-hazards-gfx906.txt.gz")),
    (Target::GFX908, include_bytes!("../../data/streams/drawn-hazards-gfx908.txt.gz")),
    (Target::GFX90A, include_bytes!("../../data/streams/drawn-hazards-gfx90a.txt.gz")),
    (Target::GFX942, include_bytes!("../../data/streams/drawn-hazards-gfx942.txt.gz")),
    (Target::GFX950, include_bytes!("../../data/streams/drawn-hazards-gfx950.txt.gz")),
];

/// A function without waits, and the same function with LLVM's waits.
pub struct Stream {
    pub name: String,
    pub bare: Program,
    pub llvm: Program,
}

pub fn streams(packed: &[u8], target: Target) -> Vec<Stream> {
    let text = golden::unpack(packed);
    let functions = text.split("func ").skip(1).map(|function| {
        let (name, body) = function.split_once(":\n").expect("a name");
        let (bare, llvm) = body.split_once("=== LLVM 22\n").expect("two forms");
        let bare = golden::program(&format!("{bare}\ns_endpgm"), target);
        Stream { name: name.to_owned(), bare, llvm: golden::program(llvm, target) }
    });
    functions.collect()
}

/// The streams were measured with XNACK neither on nor off, so LLVM interrupts the clauses for which a replay would be wrong.
fn config(target: Target) -> Config {
    RuleSet::Safe.config(target.supports_xnack())
}

fn states(program: &Program) -> u32 {
    let nops = program.lines.iter().filter(|l| l.inst.desc.class == Class::Nop);
    nops.map(|l| wait_states(&l.inst)).sum()
}

fn found(program: &Program, rules: Config) -> Vec<Finding> {
    let options = Options { rules, memory_model: gcn_isa::check::MemoryModel::Off, errata: false };
    let mut findings = check_with(program, options).findings;
    findings.retain(|f| hazards::rule(f.rule).is_some());
    findings
}

/// Straight streams in which LLVM inserts more wait states than we do. LLVM uses the passes of the last matrix instruction that it examined
/// instead of the passes of the instruction that wrote the register (README of the golden files). Here it waits for 8 passes before
/// `v_accvgpr_write_b32 a0`, but the instruction that reads the register has 2 passes.
const LLVM_TAKES_OTHER_PASSES: [(Target, &str); 1] = [(Target::GFX908, "f511")];

/// The corresponding streams among the random ones, including those with `v_accvgpr_read_b32`.
const LLVM_TAKES_OTHER_PASSES_DRAWN: [(Target, &str); 6] = [
    (Target::GFX908, "f36"),
    (Target::GFX908, "f170"),
    (Target::GFX908, "f178"),
    (Target::GFX908, "f308"),
    (Target::GFX908, "f316"),
    (Target::GFX908, "f390"),
];

#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    /// The number of streams with as many wait states as LLVM.
    equal: u32,
    /// The number of streams with more wait states, where our checker rejects LLVM's output.
    more: u32,
    /// The number of streams with fewer wait states.
    fewer: u32,
}

/// Compares the straight streams of a set, and checks that every difference is a known one.
fn compare(
    sets: [(Target, &[u8]); 6],
    config: fn(Target) -> Config,
    fewer: &[(Target, &str)],
) -> Vec<(Target, u32, u32, u32)> {
    let explained = super::allpairs::explained();
    let compare_one = |(target, packed)| {
        let mut count = Count::default();
        for stream in streams(packed, target).iter().filter(|s| s.bare.labels.is_empty()) {
            let mut ours = stream.bare.clone();
            let config = config(target);
            insert_wait_states(&mut ours, &WaitOptions { rules: config, ..WaitOptions::default() });
            assert_eq!(found(&ours, config), [], "{target} {}", stream.name);
            let short = found(&stream.llvm, config);
            match states(&ours).cmp(&states(&stream.llvm)) {
                Ordering::Equal => count.equal += 1,
                Ordering::Greater => {
                    assert!(!short.is_empty(), "{target} {}: more than LLVM for no reason", stream.name);
                    count.more += 1;
                }
                Ordering::Less => {
                    // LLVM waits for a vector ALU result although a scalar instruction has overwritten it.
                    let mut past = stream.bare.clone();
                    let rules = config.with("llvm.10.overwritten").expect("a rule");
                    insert_wait_states(&mut past, &WaitOptions { rules, ..WaitOptions::default() });
                    let known = fewer.contains(&(target, stream.name.as_str()));
                    assert!(
                        known || states(&past) >= states(&stream.llvm),
                        "{target} {}: fewer than LLVM",
                        stream.name
                    );
                    count.fewer += 1;
                }
            }
            // LLVM's output breaks a documented rule, or breaks a matrix rule because LLVM uses other passes.
            for finding in &short {
                let matrix =
                    finding.first_name.starts_with("v_mfma") || finding.first_name.starts_with("v_smfmac");
                assert!(
                    matrix || explained.contains(&(finding.rule, target)),
                    "{target} {}: {finding}",
                    stream.name
                );
            }
        }
        (target, count.equal, count.more, count.fewer)
    };
    sets.into_iter().map(compare_one).collect()
}

#[test]
fn straight_streams_get_no_fewer_wait_states_than_llvm_inserts() {
    let expected = [
        (Target::GFX900, 376, 16, 0),
        (Target::GFX906, 378, 19, 0),
        (Target::GFX908, 382, 7, 1),
        (Target::GFX90A, 359, 29, 0),
        (Target::GFX942, 366, 57, 0),
        (Target::GFX950, 306, 68, 0),
    ];
    assert_eq!(compare(STREAMS, config, &LLVM_TAKES_OTHER_PASSES), expected);
}

#[test]
fn neither_do_drawn_streams() {
    let found = compare(DRAWN, |_| RuleSet::Safe.config(false), &LLVM_TAKES_OTHER_PASSES_DRAWN);
    assert!(found.iter().all(|f| f.1 + f.2 + f.3 == 250), "{found:?}");
}

#[test]
fn branching_streams_are_sufficient() {
    for (target, packed) in STREAMS {
        for stream in streams(packed, target).iter().filter(|s| !s.bare.labels.is_empty()) {
            let mut ours = stream.bare.clone();
            insert_wait_states(&mut ours, &WaitOptions { rules: config(target), ..WaitOptions::default() });
            assert_eq!(found(&ours, config(target)), [], "{target} {}", stream.name);
        }
    }
}
