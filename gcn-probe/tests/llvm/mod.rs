//! Compares our assembler with LLVM's.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_probe::launch::KERNEL;
use gcn_test_support::llvm::tool;

/// Asserts that LLVM's assembler accepts `text` and produces the same code.
pub fn assembles_the_same(text: &str, on: impl Into<Subtarget>) {
    let on = on.into();
    let target = on.target;
    static FILES: AtomicU32 = AtomicU32::new(0);
    let (Some(mc), Some(copy)) = (tool("llvm-mc"), tool("llvm-objcopy")) else { return };
    let ours = encode_program(&parse_program(text, on, KERNEL).unwrap()).unwrap().bytes;
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let name = format!("gcn-probe-{}-{number}", std::process::id());
    let [source, object, code] =
        ["s", "o", "bin"].map(|ending| std::env::temp_dir().join(format!("{name}.{ending}")));
    std::fs::write(&source, text).unwrap();
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors.lines().take(12).collect::<Vec<_>>().join("\n");
        assert!(output.status.success(), "{target}: {first}");
    };
    // Compares object files, in which branch distances are resolved.
    let target_of = format!("--mcpu={target}");
    // Halves of registers have names on every target that has them; LLVM's default is another one on GFX12.
    let halves = target.has_half_vgprs().then_some("--mattr=+real-true16");
    run(Command::new(mc)
        .args((on.wave == WaveSize::W64 && on != target.into()).then_some("--mattr=+wavefrontsize64"))
        .args(halves)
        .args(["--triple=amdgcn-amd-amdhsa", &target_of, "--filetype=obj", "-o"])
        .arg(&object)
        .arg(&source));
    run(Command::new(copy).args(["-O", "binary", "--only-section=.text"]).arg(&object).arg(&code));
    let theirs = std::fs::read(&code).unwrap();
    for path in [source, object, code] {
        std::fs::remove_file(path).unwrap();
    }
    assert!(ours == theirs, "{target}: LLVM's code differs");
}
