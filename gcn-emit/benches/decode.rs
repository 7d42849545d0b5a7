//! Measures decoding and encoding of machine code and writing of listings, in instructions per second, on golden vectors.
//!
//! `cargo bench -p gcn-emit --bench decode`

use std::io::Read as _;

use divan::Bencher;
use divan::counter::ItemsCount;
use gcn_emit::decode::{decode_inst, decode_program};
use gcn_emit::encode::encode_into;
use gcn_isa::Target;

fn main() {
    divan::main();
}

/// Every golden vector of gfx942 except branches, 50 times: half a million instructions of all formats.
fn code() -> (Vec<u8>, usize) {
    let packed: &[u8] = include_bytes!("../tests/data/encodings.tsv.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
    let rows = text
        .lines()
        .filter(|line| line.starts_with("gfx942\t") && !line.contains("branch") && !line.contains("s_call"));
    let byte =
        |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hexadecimal");
    let rows: Vec<Vec<u8>> = rows
        .filter_map(|line| line.rsplit('\t').next())
        .map(|hex| hex.as_bytes().chunks(2).map(byte).collect())
        .collect();
    (rows.concat().repeat(50), rows.len() * 50)
}

#[divan::bench]
fn instructions(bencher: Bencher<'_, '_>) {
    let (code, count) = code();
    bencher.counter(ItemsCount::new(count)).bench(|| {
        let mut rest = code.as_slice();
        while !rest.is_empty() {
            let (inst, length) = decode_inst(rest, Target::GFX942).expect("golden vectors");
            divan::black_box(&inst);
            rest = &rest[length..];
        }
    });
}

#[divan::bench]
fn program(bencher: Bencher<'_, '_>) {
    let (code, count) = code();
    bencher
        .counter(ItemsCount::new(count))
        .bench(|| decode_program(&code, Target::GFX942, "k").expect("golden vectors"));
}

#[divan::bench]
fn encoded(bencher: Bencher<'_, '_>) {
    let (code, count) = code();
    let mut rest = code.as_slice();
    let mut insts = Vec::with_capacity(count);
    while !rest.is_empty() {
        let (inst, length) = decode_inst(rest, Target::GFX942).expect("golden vectors");
        insts.push(inst);
        rest = &rest[length..];
    }
    let mut out = Vec::with_capacity(code.len());
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        out.clear();
        for inst in &insts {
            encode_into(inst, Target::GFX942, &mut out).expect("decoded");
        }
        out.len()
    });
}
