//! Compares the spelling of vector instructions with LLVM 22. For any opcode of VOP1, VOP2, VOPC, VOP3 and VOP3P that its disassembler
//! knows, tests the text that it prints and the same text with every other suffix, on every target. Both sides must give the same bytes, or
//! both must reject the text.

use std::fmt::Write as _;
use std::io::Read as _;

use gcn_emit::text::parse_inst_in;
use gcn_isa::Target;

use super::variants::{Symbols, hex, theirs};
use crate::llvm::Llvm;

/// The first line contains LLVM's version and the targets. Each other line contains a text and, for each target, its bytes in hexadecimal,
/// or `-` if LLVM rejects it.
const GOLDEN: &[u8] = include_bytes!("../../data/spellings.tsv.gz");

/// Texts that LLVM accepts and we reject: the beginning of the text, and the reason.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("v_interp_", "graphics is not supported"),
    ("v_pk_fmac_f16_sdwa", "`|v4|` of a packed operation: packed operands have no absolute value"),
    (
        "v_mfma_f32_32x32x64_f8f6f4",
        "D overlaps C in part, which LLVM refuses of every other matrix instruction of this size",
    ),
];

fn golden() -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(GOLDEN).read_to_string(&mut text).expect("the data file is gzip");
    text
}

fn rows(golden: &str) -> Vec<(&str, Vec<&str>)> {
    let row = |line| str::split_once(line, '\t').map(|(text, codes)| (text, codes.split(' ').collect()));
    golden.lines().skip(1).map(|line| row(line).expect("two columns")).collect()
}

#[test]
fn every_suffix_is_taken_where_llvm_takes_it() {
    let golden = golden();
    let targets = golden.lines().next().and_then(|line| line.split_once(": ")).expect("the targets").1;
    let targets: Vec<Target> = targets.split(' ').map(|name| name.parse().expect("a target")).collect();
    assert_eq!(targets, Target::REPRESENTATIVES);
    let (mut same, mut refused, mut differ, mut wrong) = (0, 0, 0, String::new());
    for (text, codes) in rows(&golden) {
        for (target, code) in targets.iter().zip(codes) {
            // The error's message is not formatted: that takes long, because it searches for the nearest name.
            let own = parse_inst_in(text, *target, &mut Symbols).ok().map(|parsed| hex(&parsed.code));
            match own {
                Some(own) if own == code => same += 1,
                None if code == "-" => refused += 1,
                None if EXCEPTIONS.iter().any(|(begin, _)| text.starts_with(begin)) => {}
                own => {
                    differ += 1;
                    let _ = writeln!(wrong, "{target} `{text}`: llvm {code}, we {own:?}");
                }
            }
        }
    }
    println!("{same} with the same bytes, {refused} refused by both");
    assert!(wrong.is_empty(), "{differ} spellings differ:\n{wrong}");
}

#[test]
fn the_recorded_spellings_are_llvms() {
    if Llvm::find().is_none() {
        return;
    }
    let golden = golden();
    let rows = rows(&golden);
    let texts: Vec<&str> = rows.iter().map(|(text, _)| *text).collect();
    for (number, target) in Target::REPRESENTATIVES.into_iter().enumerate() {
        for ((text, codes), now) in rows.iter().zip(theirs(&texts, target)) {
            assert_eq!(now.as_deref().unwrap_or("-"), codes[number], "{target} `{text}`");
        }
    }
}
