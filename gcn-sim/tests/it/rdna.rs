//! Kernels that Triton and clang compiled for RDNA, against expectations from NumPy.
//!
//! Each case is a folder: `k.hsaco`, `spec.json`, the inputs that it names, `expect.json` and the arrays that this names. A few are in
//! `data/rdna-kernels.gz`, of every target, wave size and compiler. `GCN_RDNA_KERNELS` names folders of more, separated by colons; with
//! `GCN_RDNA_ONLY`, only cases whose name contains that text; `GCN_RDNA_MODE` is `strict`, `faithful` or `sanitize`.

mod case;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use case::Outcome;
use gcn_isa::hazards::{Config, Grade};
use gcn_isa::table::{self, Entry};
use gcn_isa::target::Family;
use gcn_sim::{Options, Sanitize};
use gcn_test_support::{skipped, stored::assert_current};

/// The files of all cases: of each a line with its path and its size, then its bytes.
const KERNELS: &[u8] = include_bytes!("../data/rdna-kernels.gz");

/// Unpacks the cases that are always run.
fn unpack() -> PathBuf {
    use std::io::Read;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rdna-kernels");
    let mut all = Vec::new();
    flate2::read::GzDecoder::new(KERNELS).read_to_end(&mut all).unwrap();
    let mut rest = &all[..];
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = std::str::from_utf8(&rest[..end]).unwrap();
        let (name, size) = line.split_once(' ').unwrap();
        let (bytes, after) = rest[end + 1..].split_at(size.parse().unwrap());
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
        rest = after;
    }
    folder
}

fn cases(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut cases: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    cases.retain(|case| case.join("k.hsaco").exists());
    cases.sort();
    cases
}

#[test]
fn kernels_of_compilers_compute_what_numpy_does() {
    let cases = cases(&unpack());
    assert!(cases.len() >= 16, "{} cases", cases.len());
    let mut executed = BTreeSet::new();
    for case in cases {
        match case::run(&case, &Options::default()) {
            Outcome::Right(instructions) => executed.extend(instructions),
            Outcome::Wrong(reason) => panic!("{}: {reason}", case.display()),
        }
    }
    // Instructions that RDNA added have no witness but these kernels: the list is what `fidelity_of` calls one.
    let entries: BTreeMap<&str, &Entry> =
        table::rows_of(Family::RDNA).iter().map(|row| (row.entry.mnemonic, row.entry)).collect();
    executed.retain(|name| entries.get(name).is_none_or(|entry| entry.witness.is_empty()));
    let fresh: String = executed.iter().map(|name| format!("{name}\n")).collect();
    assert_current(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/rdna-executed.txt"), &fresh);
}

#[test]
fn waits_that_are_taken_out() {
    let folders = std::env::var("GCN_RDNA_KERNELS").unwrap_or_default();
    let only = std::env::var("GCN_RDNA_ONLY").unwrap_or_default();
    for case in folders.split(':').flat_map(|folder| cases(folder.as_ref())) {
        if !case.to_string_lossy().contains(&only) {
            continue;
        }
        for (wait, said) in case::without_each_wait(&case) {
            let said = said.err().unwrap_or_else(|| "SILENT".to_owned());
            println!("{} | {wait} | {said}", case.file_name().unwrap().to_string_lossy());
        }
    }
}

#[test]
fn kernels_of_the_folders_that_are_given() {
    let Ok(folders) = std::env::var("GCN_RDNA_KERNELS") else {
        skipped(
            "GCN_RDNA_KERNELS is not set",
            "set GCN_RDNA_KERNELS to folders of kernels with expectations",
        );
        return;
    };
    let only = std::env::var("GCN_RDNA_ONLY").unwrap_or_default();
    let rules = Config::at_least(Grade::Documented);
    let options = match std::env::var("GCN_RDNA_MODE").as_deref() {
        Ok("strict") => Options { rules, ..Options::strict() },
        Ok("faithful") => Options { rules, ..Options::faithful() },
        Ok("sanitize") => Options { sanitize: Sanitize::all(), findings: 100, ..Options::default() },
        _ => Options::default(),
    };
    let mut all: Vec<PathBuf> = folders.split(':').flat_map(|folder| cases(folder.as_ref())).collect();
    all.retain(|case| case.to_string_lossy().contains(&only));
    let (mut wrong, mut reasons) = (0, BTreeMap::<String, usize>::new());
    for case in &all {
        let outcome = case::run(case, &options);
        if let Outcome::Wrong(reason) = outcome {
            wrong += 1;
            println!("{}: {reason}", case.display());
            *reasons.entry(case::kind(&reason)).or_default() += 1;
        }
    }
    let mut ranked: Vec<_> = reasons.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    ranked.iter().for_each(|(reason, count)| println!("{count:4} {reason}"));
    println!("{} of {} kernels as expected", all.len() - wrong, all.len());
    assert!(wrong == 0 && !all.is_empty(), "{wrong} of {} are wrong", all.len());
}
