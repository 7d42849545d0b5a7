//! Runs kernels of Triton through the command: outputs must be correct in every mode, and correct kernels must cause no findings.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use twox_hash::XxHash3_64;

use crate::{Run, gcn};

const KERNELS: &[u8] = include_bytes!("../data/triton/kernels.tar.zst");
const OUTPUTS: &str = include_str!("../data/triton/outputs.tsv");

/// Unpacks the archive (POSIX.1-1988, ustar); only names, sizes and contents of the files are used.
fn unpacked() -> TempDir {
    let dir = TempDir::new().expect("a folder");
    let mut archive = Vec::new();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(KERNELS).expect("it is compressed by zstd");
    decoder.read_to_end(&mut archive).expect("the archive is whole");
    let mut rest = archive.as_slice();
    while let Some((header, contents)) = rest.split_first_chunk::<512>()
        && header[0] != 0
    {
        let text = |field: &[u8]| {
            let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
            String::from_utf8(field[..end].to_vec()).expect("names and numbers are ASCII")
        };
        let size = usize::from_str_radix(&text(&header[124..136]), 8).expect("an octal number");
        let path = dir.path().join(text(&header[..100]));
        if header[156] == b'5' {
            std::fs::create_dir_all(path.join("out")).expect("a folder");
        } else {
            std::fs::write(path, &contents[..size]).expect("a file");
        }
        rest = &contents[size.next_multiple_of(512)..];
    }
    dir
}

/// The files that a run of the kernel has written, sorted by name.
fn outputs(kernel: &Path) -> Vec<PathBuf> {
    let spec = std::fs::read_to_string(kernel.join("spec.json")).expect("each kernel has a spec");
    let spec: serde_json::Value = serde_json::from_str(&spec).expect("a spec is JSON");
    let arguments = spec["args"].as_array().expect("arguments").iter();
    let mut names: Vec<PathBuf> =
        arguments.filter_map(|a| a["out"].as_str().map(|n| kernel.join(n))).collect();
    names.sort();
    names
}

fn run(kernel: &Path, flags: &[&str]) -> Run {
    let [object, spec] = ["k.hsaco", "spec.json"].map(|name| kernel.join(name));
    let [object, spec] = [&object, &spec].map(|path| path.to_str().expect("a path in ASCII"));
    gcn(&[&["sim", object, "--args", spec], flags].concat())
}

/// Runs every kernel with these flags; returns a description of each failure. Matrix products are added as a chain in the order of k,
/// because the recorded outputs were computed that way; the simulator's tests cover the arithmetic of the hardware.
fn faults(flags: &[&str]) -> Vec<String> {
    let dir = unpacked();
    let expected: HashMap<&str, &str> = OUTPUTS
        .lines()
        .skip(1)
        .map(|line| {
            (line.split('\t').next().unwrap_or_default(), line.rsplit('\t').next().unwrap_or_default())
        })
        .collect();
    assert_eq!(expected.len(), 84);
    let mut faults = Vec::new();
    for (name, hash) in expected {
        let kernel = dir.path().join(name);
        let run = run(&kernel, &[flags, &["--matrix", "chain"]].concat());
        if run.code != 0 {
            faults.push(format!("{name}: {}", run.err));
            continue;
        }
        let written: Vec<u8> =
            outputs(&kernel).iter().flat_map(|path| std::fs::read(path).expect("an output")).collect();
        if format!("{:016x}", XxHash3_64::oneshot(&written)) != hash {
            faults.push(format!("{name}: other outputs: {:016x}", XxHash3_64::oneshot(&written)));
        }
    }
    faults
}

#[test]
fn right_outputs() {
    assert_eq!(faults(&[]), [""; 0]);
}

#[test]
fn right_kernels_pass_strict_mode() {
    assert_eq!(faults(&["--strict"]), [""; 0]);
}

#[test]
fn right_kernels_read_nothing_stale() {
    assert_eq!(faults(&["--faithful"]), [""; 0]);
}

#[test]
fn sanitizers_find_nothing_in_right_kernels() {
    assert_eq!(faults(&["--sanitize", "all"]), [""; 0]);
}

/// Of these kernels, only one violates an undocumented rule, `barrier.lds-dma`.
#[test]
fn the_level_chooses_the_rules() {
    let dir = unpacked();
    let kernel = dir.path().join("fa_fwd_c1.gfx950");
    for mode in ["--strict", "--faithful"] {
        for level in ["certain", "documented"] {
            assert_eq!(run(&kernel, &[mode, "--level", level]).code, 0, "{mode} {level}");
        }
    }
    let error = run(&kernel, &["--strict", "--level", "cautious"]).failure(1);
    assert!(error.contains("hazard barrier.lds-dma: `s_barrier`"), "{error}");
    let error = run(&kernel, &["--strict", "--level", "bold"]).failure(2);
    assert!(error.contains("write cautious, documented or certain"), "{error}");
}
