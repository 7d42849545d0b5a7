//! Tests encoder, decoder, printer and parser with golden vectors from LLVM 22. For each vector, LLVM's disassembler prints the text for
//! the bytes, and its assembler turns the text into exactly those bytes.

mod constants;
mod errors;
mod llvm;
mod program;
mod random;
mod rdna;
mod shorter;
mod single;
mod spellings;
mod variants;

use std::collections::BTreeMap;
use std::io::Read as _;

use gcn_emit::decode::decode_inst;
use gcn_emit::encode::encode_inst;
use gcn_emit::text::{InstText, parse_inst};
use gcn_isa::{Inst, Target};

/// One golden vector.
struct Vector {
    target: Target,
    asm: String,
    bytes: Vec<u8>,
}

fn vectors() -> Vec<Vector> {
    let packed: &[u8] = include_bytes!("../data/encodings.tsv.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
    text.lines().skip(1).map(vector).collect()
}

fn vector(line: &str) -> Vector {
    let mut cells = line.split('\t');
    let mut cell = || cells.next().expect("three columns");
    let target = cell().parse().expect("a target");
    let asm = cell().to_owned();
    let hex = cell().as_bytes();
    let digit = |c: u8| (c as char).to_digit(16).expect("hexadecimal") as u8;
    let bytes = hex.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    Vector { target, asm, bytes }
}

/// Counts per target, and descriptions of failures.
#[derive(Default)]
struct Tally {
    good: BTreeMap<Target, usize>,
    bad: Vec<String>,
}

impl Tally {
    fn note(&mut self, vector: &Vector, result: Result<(), String>) {
        match result {
            Ok(()) => *self.good.entry(vector.target).or_default() += 1,
            Err(what) => {
                self.bad.push(format!("{} `{}` {:02x?}: {what}", vector.target, vector.asm, vector.bytes));
            }
        }
    }

    fn finish(self, what: &str) {
        println!("{what}: {:?}, {} wrong", self.good, self.bad.len());
        let shown: Vec<&String> = self.bad.iter().take(60).collect();
        assert!(self.bad.is_empty(), "{} wrong, among them {shown:#?}", self.bad.len());
    }
}

fn text(inst: &Inst, target: Target) -> String {
    InstText { inst, target, program: None }.to_string()
}

#[test]
fn bytes_decode_to_the_text_and_encode_back() {
    let mut tally = Tally::default();
    for vector in vectors() {
        tally.note(&vector, decode_print_encode(&vector));
    }
    tally.finish("decode, print, encode");
}

fn decode_print_encode(vector: &Vector) -> Result<(), String> {
    let (inst, length) = decode_inst(&vector.bytes, vector.target).map_err(|e| e.to_string())?;
    if length != vector.bytes.len() {
        return Err(format!("decoded {length} bytes"));
    }
    let printed = text(&inst, vector.target);
    if printed != vector.asm {
        return Err(format!("printed `{printed}`"));
    }
    let encoded = encode_inst(&inst, vector.target).map_err(|e| e.to_string())?;
    if encoded.as_slice() != vector.bytes { Err(format!("encoded {encoded:02x?}")) } else { Ok(()) }
}

#[test]
fn text_parses_to_the_bytes() {
    let mut tally = Tally::default();
    for vector in vectors() {
        tally.note(&vector, parse_encode(&vector));
    }
    tally.finish("parse, encode");
}

fn parse_encode(vector: &Vector) -> Result<(), String> {
    let inst = parse_inst(&vector.asm, vector.target).map_err(|e| e.to_string())?;
    let encoded = encode_inst(&inst, vector.target).map_err(|e| e.to_string())?;
    if encoded.as_slice() != vector.bytes { Err(format!("encoded {encoded:02x?}")) } else { Ok(()) }
}

/// Processors whose instructions are the same as another's, or a subset of them, encode them in the same way: compares with LLVM's answers
/// for all texts of the golden vectors.
#[test]
fn siblings_have_the_same_bytes() {
    let vectors = vectors();
    let rows = include_str!("../data/siblings.tsv").lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut covered = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [name, measured_as, texts, refused] = cells[..] else { panic!("{row}") };
        let (target, measured_as): (Target, Target) = (name.parse().unwrap(), measured_as.parse().unwrap());
        let refused: Vec<(&str, &str)> =
            refused.split(' ').map(|word| word.split_once('+').unwrap_or((word, ""))).collect();
        let mut count = 0;
        for Vector { asm, bytes, .. } in vectors.iter().filter(|v| v.target == measured_as) {
            count += 1;
            let mut words = asm.split(' ');
            let mnemonic = words.next().unwrap_or_default();
            let lacks = refused.iter().any(|(name, word)| {
                *name == mnemonic && (word.is_empty() || words.clone().any(|w| w == *word))
            });
            match parse_inst(asm, target) {
                Err(_) if lacks => {}
                Err(error) => panic!("{target}: {asm}: {error}"),
                Ok(_) if lacks => panic!("{target} has {asm}"),
                Ok(inst) => {
                    let encoded =
                        encode_inst(&inst, target).unwrap_or_else(|e| panic!("{target}: {asm}: {e}"));
                    assert_eq!(&encoded[..], &bytes[..], "{target}: {asm}");
                }
            }
        }
        assert_eq!(count.to_string(), texts, "{row}");
        *covered.entry(target).or_insert(0) += count;
    }
    let siblings = Target::GFX9.into_iter().filter(|target| !Target::REPRESENTATIVES.contains(target));
    assert_eq!(covered.into_keys().collect::<Vec<_>>(), siblings.collect::<Vec<_>>());
}
