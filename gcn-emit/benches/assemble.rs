//! Measures assembling text to a module and to a code object, by number of instructions: `cargo bench -p gcn-emit --bench assemble`.

use std::io::Read as _;

use divan::Bencher;
use divan::counter::ItemsCount;
use gcn_emit::asm::{Options, assemble};

fn main() {
    divan::main();
}

const COUNTS: [usize; 3] = [10_000, 100_000, 1_000_000];

/// A file of `count` instructions: repeats those of the corpus for gfx942 that name no label or symbol, in their order, with a label and a
/// branch after every 18.
fn source(count: usize) -> String {
    let mut corpus = String::new();
    let packed: &[u8] = include_bytes!("../tests/data/corpus.s.gz");
    flate2::read::GzDecoder::new(packed).read_to_string(&mut corpus).expect("the corpus is gzipped UTF-8");
    let files = corpus.split('\0').filter(|file| file.contains("/gfx942/"));
    let lines: Vec<&str> = files.flat_map(str::lines).filter(|line| stands_alone(line)).collect();
    let mut out =
        String::from("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\t.globl k\n\t.p2align 8\nk:\n");
    for (i, line) in lines.iter().cycle().take(count).enumerate() {
        if i % 19 == 0 {
            out.push_str(&format!(".LBB0_{i}:\n\ts_cbranch_scc1 .LBB0_{i}\n"));
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// True for instructions that name no label or symbol.
fn stands_alone(line: &str) -> bool {
    let code = line.split(';').next().unwrap_or_default();
    line.starts_with('\t')
        && code.trim_start().starts_with(|c: char| c.is_ascii_lowercase())
        && !["branch", "@", "pc_b64", ".L", "s_call"].iter().any(|part| code.contains(part))
}

#[divan::bench(args = COUNTS, sample_count = 10)]
fn module(bencher: Bencher, count: usize) {
    let source = source(count);
    let run = || assemble("bench.s", &source, &Options::default()).expect("the corpus assembles").module;
    bencher.counter(ItemsCount::new(count)).bench(run);
}

#[divan::bench(args = COUNTS, sample_count = 10)]
fn code_object(bencher: Bencher, count: usize) {
    let source = source(count);
    let run = || {
        let assembly = assemble("bench.s", &source, &Options::default()).expect("the corpus assembles");
        assembly.code_object().expect("nothing is undefined")
    };
    bencher.counter(ItemsCount::new(count)).bench(run);
}
