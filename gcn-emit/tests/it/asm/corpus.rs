//! 292 files of four compilers against LLVM, and against stored digests of what LLVM made of them.

use std::io::Read as _;

use gcn_emit::asm::{Assembly, Options, assemble};
use gcn_emit::object::Module;
use gcn_test_support::env::{bless, fuzz_step};

use super::{describe, first_difference};
use crate::llvm::{Llvm, Scratch, text};

/// Every file, each after a line with a NUL, its path and its length.
const CORPUS: &[u8] = include_bytes!("../../data/corpus.s.gz");
/// Path, and digest of `describe` of the object that llvm-mc 22 makes of the file without its `.amdgcn_target` line (LLVM 22
/// does not know all spellings). Made by `GCN_BLESS=1 cargo test -p gcn-emit-tests --test it asm::corpus`.
const DIGESTS: &str = include_str!("../../data/corpus_digests.tsv");

/// A file of the corpus.
pub struct File {
    pub path: String,
    pub text: String,
}

impl File {
    /// The processor, which is the second part of the path.
    pub fn processor(&self) -> &str {
        self.path.split('/').nth(1).expect("paths are tool/processor/file")
    }
}

/// Reads the corpus.
pub fn files() -> Vec<File> {
    let mut all = String::new();
    flate2::read::GzDecoder::new(CORPUS).read_to_string(&mut all).expect("the corpus is gzipped UTF-8");
    let mut rest = all.as_str();
    let mut files = Vec::new();
    while let Some(from) = rest.strip_prefix('\0') {
        let (header, body) = from.split_once('\n').expect("a header line");
        let (path, length) = header.split_once(' ').expect("path and length");
        let (text, next) = body.split_at(length.parse().expect("a length"));
        files.push(File { path: path.to_owned(), text: text.to_owned() });
        rest = next;
    }
    assert_eq!(files.len(), 292);
    files
}

pub fn ours(file: &File) -> Assembly {
    let assembled = assemble(&file.path, &file.text, &Options::default());
    assembled.unwrap_or_else(|errors| panic!("{errors}"))
}

fn digest(lines: &[String]) -> String {
    format!("{:016x}", twox_hash::XxHash3_64::oneshot(lines.join("\n").as_bytes()))
}

/// What llvm-mc makes of a file.
fn llvms(llvm: &Llvm, dir: &Scratch, file: &File) -> Module {
    let lines = file.text.lines().filter(|line| !line.contains(".amdgcn_target"));
    let source = dir.write("corpus.s", lines.collect::<Vec<_>>().join("\n").as_bytes());
    let object = dir.path("corpus.o");
    let cpu = format!("-mcpu={}", file.processor());
    llvm.run(
        "llvm-mc-22",
        &["-triple=amdgcn-amd-amdhsa", &cpu, "-filetype=obj", text(&source), "-o", text(&object)],
    );
    Module::from_relocatable(&std::fs::read(object).expect("llvm-mc wrote it"))
        .expect("llvm-mc writes objects")
}

#[test]
fn every_file_is_what_the_digest_says() {
    if bless() {
        return;
    }
    let digests: Vec<(&str, &str)> = DIGESTS.lines().filter_map(|line| line.split_once('\t')).collect();
    assert_eq!(digests.len(), 292);
    for (file, (path, want)) in files().iter().zip(digests) {
        assert_eq!(file.path, path);
        let assembly = ours(file);
        assert_eq!(digest(&describe(&assembly.module)), want, "{path}");
        assembly.code_object().unwrap_or_else(|error| panic!("{path}: {error}"));
    }
}

#[test]
fn every_file_is_what_llvm_makes_of_it() {
    let Some(llvm) = Llvm::find() else { return };
    // llvm-mc takes a third of a second for each file.
    let step = if bless() { 1 } else { fuzz_step(40) };
    let dir = Scratch::new("asm-corpus");
    let mut digests = String::new();
    for file in files().iter().step_by(step) {
        let module = llvms(&llvm, &dir, file);
        let theirs = describe(&module);
        if bless() {
            digests.push_str(&format!("{}\t{}\n", file.path, digest(&theirs)));
        }
        let ours = describe(&ours(file).module);
        if let Some((ours, theirs)) = first_difference(&ours, &theirs) {
            panic!("{}:\n  ours {ours}\n  llvm {theirs}", file.path);
        }
    }
    if bless() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/corpus_digests.tsv");
        std::fs::write(path, digests).expect("the data directory is writable");
    }
}
