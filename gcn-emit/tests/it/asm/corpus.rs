//! Assembles 292 files of four compilers for GFX9, and clang 22's output for ten OpenCL files for RDNA. Compares the objects with LLVM's,
//! and with stored digests of LLVM's objects.

use std::io::Read as _;

use gcn_emit::asm::{Assembly, Options, assemble};
use gcn_emit::code::Unit;
use gcn_emit::object::Module;

use gcn_isa::check;
use gcn_isa::hazards::Grade;
use gcn_test_support::env::{bless, fuzz_step};

use super::{describe, first_difference};
use crate::llvm::{Llvm, Scratch, text};

/// All files; each is preceded by a line with a NUL, its path and its length.
const CORPUS: &[u8] = include_bytes!("../../data/corpus.s.gz");
/// For each path, the digest of `describe` of the object that llvm-mc 22 produces from the file without its `.amdgcn_target` line (whose
/// spellings LLVM 22 does not all know). `GCN_BLESS=1 cargo test -p gcn-emit-tests --test it asm::corpus` updates the digests.
const DIGESTS: &str = include_str!("../../data/corpus_digests.tsv");

/// The same for RDNA: clang 22 -O0 and -O3, for waves of 32 and of 64 lanes.
const RDNA: &[u8] = include_bytes!("../../data/corpus-rdna.s.gz");
const RDNA_DIGESTS: &str = include_str!("../../data/corpus_rdna_digests.tsv");
const FILES: usize = 292;
const RDNA_FILES: usize = 26;

/// A file of the corpus.
pub struct File {
    pub path: String,
    pub text: String,
}

impl File {
    /// True if the name says that waves have 64 lanes, for a processor whose default is 32.
    fn is_wave64(&self) -> bool {
        self.path.contains(".w64.")
    }

    /// The processor, which is the second part of the path.
    pub fn processor(&self) -> &str {
        self.path.split('/').nth(1).expect("paths are tool/processor/file")
    }
}

/// The files for GFX9.
pub fn files() -> Vec<File> {
    unpacked(CORPUS, FILES)
}

fn unpacked(packed: &[u8], count: usize) -> Vec<File> {
    let mut all = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut all).expect("the corpus is gzipped UTF-8");
    let mut rest = all.as_str();
    let mut files = Vec::new();
    while let Some(from) = rest.strip_prefix('\0') {
        let (header, body) = from.split_once('\n').expect("a header line");
        let (path, length) = header.split_once(' ').expect("path and length");
        let (text, next) = body.split_at(length.parse().expect("a length"));
        files.push(File { path: path.to_owned(), text: text.to_owned() });
        rest = next;
    }
    assert_eq!(files.len(), count);
    files
}

pub fn ours(file: &File) -> Assembly {
    let assembled = assemble(&file.path, &file.text, &Options::default());
    assembled.unwrap_or_else(|errors| panic!("{errors}"))
}

fn digest(lines: &[String]) -> String {
    format!("{:016x}", twox_hash::XxHash3_64::oneshot(lines.join("\n").as_bytes()))
}

/// The object that llvm-mc produces from a file.
fn llvms(llvm: &Llvm, dir: &Scratch, file: &File) -> Module {
    let lines = file.text.lines().filter(|line| !line.contains(".amdgcn_target"));
    let source = dir.write("corpus.s", lines.collect::<Vec<_>>().join("\n").as_bytes());
    let object = dir.path("corpus.o");
    let cpu = format!("-mcpu={}", file.processor());
    let mut arguments =
        vec!["-triple=amdgcn-amd-amdhsa", &cpu, "-filetype=obj", text(&source), "-o", text(&object)];
    arguments.extend(file.is_wave64().then_some("-mattr=+wavefrontsize64"));
    llvm.run("llvm-mc-22", &arguments);
    Module::from_relocatable(&std::fs::read(object).expect("llvm-mc wrote it"))
        .expect("llvm-mc writes objects")
}

#[test]
fn every_file_is_what_the_digest_says() {
    are_what_the_digests_say(&files(), DIGESTS);
}

#[test]
fn every_file_for_rdna_is_what_the_digest_says() {
    are_what_the_digests_say(&unpacked(RDNA, RDNA_FILES), RDNA_DIGESTS);
}

fn are_what_the_digests_say(files: &[File], digests: &str) {
    if bless() {
        return;
    }
    let digests: Vec<(&str, &str)> = digests.lines().filter_map(|line| line.split_once('\t')).collect();
    assert_eq!(digests.len(), files.len());
    for (file, (path, want)) in files.iter().zip(digests) {
        assert_eq!(file.path, path);
        let assembly = ours(file);
        assert_eq!(digest(&describe(&assembly.module)), want, "{path}");
        assembly.code_object().unwrap_or_else(|error| panic!("{path}: {error}"));
    }
}

#[test]
fn every_file_is_what_llvm_makes_of_it() {
    are_what_llvm_makes_of_them(&files(), "corpus_digests.tsv", 40);
}

#[test]
fn every_file_for_rdna_is_what_llvm_makes_of_it() {
    are_what_llvm_makes_of_them(&unpacked(RDNA, RDNA_FILES), "corpus_rdna_digests.tsv", 20);
}

/// Compares our objects with the digests, and some with llvm-mc itself: it takes a third of a second per file, so an ordinary run tests
/// every `step`-th file.
fn are_what_llvm_makes_of_them(files: &[File], digests_in: &str, step: usize) {
    let Some(llvm) = Llvm::find() else { return };
    let step = if bless() { 1 } else { fuzz_step(step) };
    let dir = Scratch::new(digests_in);
    let mut digests = String::new();
    for file in files.iter().step_by(step) {
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
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(digests_in);
        std::fs::write(path, digests).expect("the data directory is writable");
    }
}

/// Code from compilers violates no rule of grade `certain` or `documented`.
#[test]
fn no_file_for_rdna_has_a_finding() {
    let options = Options { keep_instructions: true, ..Options::default() };
    for file in unpacked(RDNA, RDNA_FILES) {
        let assembly = assemble(&file.path, &file.text, &options).unwrap_or_else(|errors| panic!("{errors}"));
        let unit = Unit::of_assembly(&assembly).expect("instructions were kept");
        let reports = unit.sections.iter().map(|code| check::check(&code.program));
        let findings = reports.flat_map(|report| report.findings).filter(|f| f.grade >= Grade::Documented);
        let findings: Vec<String> = findings.map(|f| f.message()).collect();
        assert_eq!(findings, [""; 0], "{}", file.path);
    }
}
