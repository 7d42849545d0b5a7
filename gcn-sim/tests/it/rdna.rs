//! Compares kernels that Triton and clang compiled for RDNA with expected results from NumPy.
//!
//! Each case is a folder: `k.hsaco`, `spec.json`, the inputs that it names, `expect.json`, and the arrays that it names. A few cases are in
//! `data/rdna-kernels.gz`, for every target, wave size and compiler. `GCN_RDNA_KERNELS` names folders with more cases, separated by colons;
//! `GCN_RDNA_ONLY` selects cases whose name contains this text; `GCN_RDNA_MODE` is `strict`, `faithful` or `sanitize`.

mod case;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use case::Outcome;
use gcn_isa::hazards::{Config, Grade};
use gcn_isa::table::{self, Entry};
use gcn_isa::target::Family;
use gcn_sim::{Options, Sanitize};
use gcn_test_support::{skipped, stored::assert_current};

/// The files of all cases. Each consists of a line with its path and its size, followed by its bytes.
const KERNELS: &[u8] = include_bytes!("../data/rdna-kernels.gz");

/// Unpacks the cases that always run into a folder with this name.
fn unpack(into: &str) -> PathBuf {
    use std::io::Read;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rdna-kernels").join(into);
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
    let cases = cases(&unpack("functional"));
    assert!(cases.len() >= 16, "{} cases", cases.len());
    let mut executed = BTreeSet::new();
    for case in cases {
        match case::run(&case, &Options::default()) {
            Outcome::Right(instructions) => executed.extend(instructions),
            Outcome::Wrong(reason) => panic!("{}: {reason}", case.display()),
        }
    }
    // These kernels are the only evidence for instructions that RDNA added; the list must equal the one that `fidelity_of` uses.
    let entries: BTreeMap<&str, &Entry> =
        table::rows_of(Family::RDNA).iter().map(|row| (row.entry.mnemonic, row.entry)).collect();
    executed.retain(|name| entries.get(name).is_none_or(|entry| entry.witness.is_empty()));
    let fresh: String = executed.iter().map(|name| format!("{name}\n")).collect();
    assert_current(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/rdna-executed.txt"), &fresh);
}

/// The options of each mode, with the rule grade that the command uses by default.
fn modes() -> [(&'static str, Options); 4] {
    let rules = Config::at_least(Grade::Documented);
    [
        ("functional", Options::default()),
        ("strict", Options { rules, ..Options::strict() }),
        ("faithful", Options { rules, ..Options::faithful() }),
        ("sanitize", Options { rules, sanitize: Sanitize::all(), findings: 100, ..Options::default() }),
    ]
}

#[test]
fn kernels_of_compilers_pass_strict_and_faithful_mode_and_the_sanitizers() {
    for case in cases(&unpack("modes")) {
        for (mode, options) in modes() {
            let outcome = case::run(&case, &options);
            assert!(matches!(outcome, Outcome::Right(_)), "{}, {mode}: {outcome:?}", case.display());
        }
    }
}

/// The checker has no finding in the kernels that Triton compiled for gfx1250.
#[test]
fn the_checker_accepts_kernels_of_triton() {
    let kernels = cases(&unpack("checked"));
    let of_triton =
        |case: &&PathBuf| case.file_name().is_some_and(|name| name.to_string_lossy().starts_with("triton_"));
    let mut count = 0;
    for case in kernels.iter().filter(of_triton) {
        let found =
            case::found(&std::fs::read(case.join("k.hsaco")).unwrap(), Config::at_least(Grade::Documented));
        assert!(found.is_empty(), "{}: {found:?}", case.display());
        count += 1;
    }
    assert_eq!(count, 14);
}

/// The results do not depend on timing, and every cycle of a wave is either an issue or a stall.
#[test]
fn kernels_of_compilers_compute_the_same_in_timed_mode() {
    let mut targets = BTreeSet::new();
    // No times of gfx1250 are known.
    for case in cases(&unpack("timed")).iter().filter(|case| !case.to_string_lossy().contains("gfx1250")) {
        let report = case::run_timed(case).unwrap_or_else(|e| panic!("{}: {e}", case.display()));
        targets.insert(report.target);
        for wave in &report.by_wave {
            let accounted = wave.issue_cycles + wave.stalls.total();
            assert_eq!(accounted, wave.end - wave.start, "{}: {wave:?}", case.display());
        }
    }
    assert_eq!(targets.into_iter().collect::<Vec<_>>(), ["gfx1030", "gfx1100", "gfx1151", "gfx1201"]);
}

/// Kernels with waits that the checker requires but strict mode does not miss, each with the reason.
const KEPT: [(&str, &str); 5] = [
    ("private_array.", "FLAT loads that the addresses keep out of LDS"),
    ("divergent_loop.gfx1201", "the way round the loop, on which nothing else waits, is not taken"),
    ("gemm_fp8e4nv_16x32x32.gfx1201", "the way past the loop, on which nothing else waits, is not taken"),
    ("gemm_i8.gfx1201", "the way past the loop, on which nothing else waits, is not taken"),
    ("many_vgprs.gfx1250", "the way past the loop, on which nothing else waits, is not taken"),
];

/// The checker, which considers every path but no values, determines which waits are needed. If the checker does not miss a wait, strict
/// mode may still miss it on the path that was executed, but not the other way round.
#[test]
fn strict_mode_refuses_every_wait_taken_out_that_the_checker_misses() {
    let (mut refused, mut all, mut elsewhere) = (0, 0, Vec::new());
    let mut others = BTreeMap::<&str, usize>::new();
    let given = std::env::var("GCN_RDNA_KERNELS").ok();
    let only = std::env::var("GCN_RDNA_ONLY").unwrap_or_default();
    let mut kernels: Vec<PathBuf> = match given {
        Some(folders) if !only.is_empty() => folders.split(':').flat_map(|f| cases(f.as_ref())).collect(),
        // Those of Triton for gfx1250 have many waits, of the same kinds as the others.
        _ => cases(&unpack("waits"))
            .into_iter()
            .filter(|case| !case.to_string_lossy().contains("/triton_"))
            .collect(),
    };
    kernels.retain(|case| case.to_string_lossy().contains(&only));
    for case in &kernels {
        for removed in case::without_each_wait(case) {
            let (name, wait) = (case.file_name().unwrap().to_string_lossy(), &removed.wait);
            all += 1;
            match &removed.strict {
                Err(reason) => {
                    assert!(
                        reason.contains("hazard ") && reason.contains("before"),
                        "{name}: {wait}: {reason}"
                    );
                    refused += 1;
                }
                Ok(()) if !removed.is_found => *others.entry("no rule asks for it").or_default() += 1,
                Ok(()) => match KEPT.iter().find(|kept| name.starts_with(kept.0)) {
                    Some((_, why)) => *others.entry(why).or_default() += 1,
                    None => elsewhere.push(format!("{name}: {wait}")),
                },
            }
        }
    }
    println!("{} kernels, {all} waits taken out, {refused} refused; of the others {others:?}", kernels.len());
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
    if only.is_empty() {
        assert!(refused * 2 > all && kernels.len() >= 20, "{refused} of {all}");
        // Every listed reason must still apply to some wait.
        assert!(KEPT.iter().all(|(_, why)| others.contains_key(why)), "{others:?}");
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
    let mode = std::env::var("GCN_RDNA_MODE").unwrap_or_else(|_| "functional".to_owned());
    let options = modes().into_iter().find(|m| m.0 == mode).unwrap_or_else(|| panic!("no mode `{mode}`")).1;
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
