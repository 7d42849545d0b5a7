//! LLVM's assembler beside ours.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_probe::launch::KERNEL;
use gcn_test_support::llvm::tool;

/// LLVM's assembler accepts `text`, and gives the same code.
pub fn assembles_the_same(text: &str, target: Target) {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let Some(mc) = tool("llvm-mc") else { return };
    let ours = encode_program(&parse_program(text, target, KERNEL).unwrap()).unwrap().bytes;
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("gcn-probe-{}-{number}.s", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let output = Command::new(&mc)
        .args(["--triple=amdgcn-amd-amdhsa", &format!("--mcpu={target}"), "--show-encoding"])
        .arg(&path)
        .output()
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let first = errors.lines().take(12).collect::<Vec<_>>().join("\n");
    assert!(output.status.success(), "{target}: {first}");
    let listing = String::from_utf8_lossy(&output.stdout);
    let encodings = listing.lines().filter_map(|line| line.split_once("encoding: [")?.1.split_once(']'));
    let bytes = encodings.flat_map(|(bytes, _)| bytes.split(','));
    let theirs: Vec<u8> =
        bytes.map(|byte| u8::from_str_radix(byte.trim().trim_start_matches("0x"), 16).unwrap()).collect();
    assert!(ours == theirs, "{target}: LLVM's code differs");
}
