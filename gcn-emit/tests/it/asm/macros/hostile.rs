//! Tests damaged programs with macros: the assembler neither panics nor hangs, its memory is bounded, and its errors can be displayed.

use std::time::{Duration, Instant};

use gcn_emit::asm::{NoFiles, Options, assemble, expand};
use gcn_test_support::Random;
use gcn_test_support::env::fuzz_seeds;

use super::generate::program;

/// Pieces of the language that are inserted as damage.
const PIECES: [&str; 30] = [
    ".macro m0 a\n",
    ".endm\n",
    ".rept 3\n",
    ".rept 100000\n",
    ".rept 9999999999\n",
    ".irp q, 1, 2\n",
    ".irpc q, 123\n",
    ".endr\n",
    ".if 1\n",
    ".if 0\n",
    ".else\n",
    ".elseif 1\n",
    ".endif\n",
    ".exitm\n",
    "m0 1\n",
    "m0 \\a\\a, \\a\n",
    "m1 m0\n",
    "m2\n",
    ".purgem m0\n",
    "\\",
    "\\@",
    "\\()",
    "\\a",
    "\"",
    "/*",
    "(",
    ",",
    "=",
    ".include \"x\"\n",
    ".set s0, s0+1\n",
];

fn damaged(seed: u64) -> String {
    let mut rng = Random::new(seed);
    let mut text: Vec<char> = program(seed % 500).chars().collect();
    for _ in 0..1 + rng.below(6) {
        let at = rng.below(text.len() + 1);
        let end = (at + rng.below(30)).min(text.len());
        let piece = PIECES[rng.below(PIECES.len())];
        match rng.below(3) {
            0 => drop(text.splice(at..end, [])),
            1 => drop(text.splice(at..at, piece.chars())),
            _ => {
                let copy: Vec<char> = text[at..end].to_vec();
                let to = rng.below(text.len() + 1);
                drop(text.splice(to..to, copy));
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn damaged_programs_are_survived() {
    // For 10,000 programs, run in release mode with GCN_FUZZ_COUNT=10000.
    let options =
        Options { target: Some("gfx942".parse().unwrap()), keep_instructions: false, ..Options::default() };
    let mut slowest = (Duration::ZERO, 0);
    for seed in fuzz_seeds(0, 300) {
        let source = damaged(seed);
        let started = Instant::now();
        match assemble("random.s", &source, &options) {
            Ok(assembly) => {
                // If the program is accepted, its expansion must be accepted and give the same object.
                let plain = expand("random.s", &source, &options, &NoFiles).expect("it was accepted");
                let again = assemble("random.s", &plain, &options)
                    .unwrap_or_else(|e| panic!("{source}\n{plain}\n{e}"));
                assert_eq!(again.module, assembly.module, "{source}\n{plain}");
            }
            Err(errors) => assert!(!errors.to_string().is_empty()),
        }
        slowest = slowest.max((started.elapsed(), seed));
    }
    assert!(slowest.0 < Duration::from_secs(60), "seed {} takes {:?}", slowest.1, slowest.0);
}

#[test]
fn two_hundred_thousand_bad_lines_are_counted() {
    let options = Options { target: Some("gfx942".parse().unwrap()), ..Options::default() };
    for line in ["v_nonsense_f32 v0, v1\n", ".nonsense 1\n", "v_add_f32 v0, v999, v2\n", "l: l: s_nop 0\n"] {
        let Err(errors) = assemble("bad.s", &line.repeat(200_000), &options) else {
            panic!("{line} is accepted")
        };
        assert_eq!(errors.list.len(), 20);
        assert!(errors.more >= 199_980, "{}", errors.more);
    }
}
