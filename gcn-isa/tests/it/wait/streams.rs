//! Tests random streams, 1,200 for each target, against the `s_waitcnt` that LLVM 22 inserts. The streams are straight, branching and
//! looping. A thorough run tests all of them.

use gcn_isa::check::Finding;
use gcn_isa::program::{Entry, EntryKind};
use gcn_isa::wait::{WaitOptions, insert_waitcnt};
use gcn_isa::{Program, Target};
use gcn_test_support::env::fuzz_step;

use super::counters::{by_instruction, waits_early};
use super::oracle::{Verdict, judge_counters};
use super::text;
use crate::check::strict;
use crate::golden;

const STREAMS: [(Target, &[u8]); 6] = [
    (Target::GFX900, include_bytes!("../../data/streams/waitcnt-gfx900.txt.gz")),
    (Target::GFX906, include_bytes!("../../data/streams/waitcnt-gfx906.txt.gz")),
    (Target::GFX908, include_bytes!("../../data/streams/waitcnt-gfx908.txt.gz")),
    (Target::GFX90A, include_bytes!("../../data/streams/waitcnt-gfx90a.txt.gz")),
    (Target::GFX942, include_bytes!("../../data/streams/waitcnt-gfx942.txt.gz")),
    (Target::GFX950, include_bytes!("../../data/streams/waitcnt-gfx950.txt.gz")),
];

/// The rules that LLVM's waits may break. LLVM assumes that FLAT operations are in order after lgkmcnt(0), waits for LDS DMA only before
/// loads that may alias according to its alias analysis, and leaves the effect of barriers to fences.
const LLVM_FALLS_SHORT: [&str; 5] =
    ["waitcnt.flat-waw", "waitcnt.lds-dma", "barrier.lds", "barrier.lds-read", "barrier.lds-dma"];

/// A function without waits, and the same function with LLVM's waits.
struct Stream {
    name: String,
    bare: Program,
    llvm: Program,
}

fn streams(packed: &[u8], target: Target) -> Vec<Stream> {
    let text = golden::unpack(packed);
    let function = |text: &str| {
        let mut program = golden::program(text, target);
        program.entries = vec![Entry { at: 0, kind: EntryKind::Function }];
        program
    };
    let functions = text.split("func ").skip(1).map(|part| {
        let (name, body) = part.split_once(":\n").expect("a name");
        let (bare, llvm) = body.split_once("=== LLVM 22\n").expect("two forms");
        Stream { name: name.to_owned(), bare: function(&format!("{bare}\ns_endpgm")), llvm: function(llvm) }
    });
    functions.collect()
}

fn counter_findings(program: &Program) -> Vec<Finding> {
    let is_counter = |f: &Finding| gcn_isa::hazards::counter::rule(f.rule).is_some();
    strict(program).findings.into_iter().filter(is_counter).collect()
}

#[derive(Default, Debug, PartialEq, Eq)]
struct Tally {
    streams: usize,
    straight: usize,
    /// The number of streams with the same wait before every instruction.
    equal: usize,
    /// The number of streams in which no wait is stronger than LLVM's and some wait is weaker.
    weaker: usize,
    /// The number of streams with a stronger wait where the checker finds LLVM's wait too weak.
    llvm_short: usize,
    /// The number of streams with a stronger wait before one instruction, because LLVM waited before an earlier instruction that does not
    /// need the wait.
    elsewhere: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.streams += other.streams;
        self.straight += other.straight;
        self.equal += other.equal;
        self.weaker += other.weaker;
        self.llvm_short += other.llvm_short;
        self.elsewhere += other.elsewhere;
    }
}

#[test]
fn streams_wait_no_less_than_needed_and_no_more_than_llvm() {
    let step = fuzz_step(32);
    let mut too_large = 0;
    let mut all = Tally::default();
    for (target, packed) in STREAMS {
        let mut tally = Tally::default();
        for stream in streams(packed, target).iter().step_by(step) {
            tally.streams += 1;
            let name = format!("{target} {}", stream.name);
            let mut ours = stream.bare.clone();
            insert_waitcnt(&mut ours, &WaitOptions::default());
            let both = || format!("{name}\n{}\nLLVM\n{}", text::shown(&ours), text::shown(&stream.llvm));
            let left = counter_findings(&ours);
            assert!(left.is_empty(), "{}: {left:?}", both());
            match judge_counters(&ours) {
                Verdict::Clean => {}
                Verdict::TooLarge => too_large += 1,
                violation => panic!("{violation:?} {}", both()),
            }
            let short = counter_findings(&stream.llvm);
            for finding in &short {
                assert!(LLVM_FALLS_SHORT.contains(&finding.rule), "{finding} {}", both());
            }
            if !stream.bare.labels.is_empty() {
                continue;
            }
            tally.straight += 1;
            let (mine, llvm) = (by_instruction(&ours), by_instruction(&stream.llvm));
            assert_eq!(mine.len(), llvm.len(), "{}", both());
            if mine == llvm {
                tally.equal += 1;
            } else if mine.iter().zip(&llvm).all(|(m, l)| m.1.and(l.1) == l.1) {
                tally.weaker += 1;
            } else if !short.is_empty() {
                tally.llvm_short += 1;
            } else {
                assert!(waits_early(&stream.llvm), "{}", both());
                tally.elsewhere += 1;
            }
        }
        println!("{target} {tally:?}");
        all.add(&tally);
        assert!(tally.straight > 0 && tally.equal * 2 > tally.straight, "{target} {tally:?}");
    }
    println!("{too_large} streams too large for the search over all paths");
    if step == 1 {
        let expected =
            Tally { streams: 7200, straight: 2463, equal: 2212, weaker: 3, llvm_short: 247, elsewhere: 1 };
        assert_eq!(all, expected);
    }
}
