//! Debug information of kernels: LLVM's disassembler shows the Rust line of each instruction.

use std::process::Command;

use gcn_dsl::kernel::BuildOptions;
use gcn_dsl::prelude::*;
use gcn_test_support::llvm::tool;

gcn_kernel! {
    #[workgroup(64)]
    fn scaled(a: f32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let product = a * x[i];
        y[i] = product + 1.0;
    }
}

/// The line of this file that has `text`, from 1.
fn line_of(text: &str) -> usize {
    1 + include_str!("source_lines.rs").lines().position(|l| l.trim() == text).expect(text)
}

#[test]
fn llvm_shows_the_rust_line_of_each_instruction() {
    let options = BuildOptions { source_lines: true, ..BuildOptions::default() };
    let kernel = scaled.build_with(Target::GFX942, &options).unwrap();
    let plain = scaled.build(Target::GFX942).unwrap();
    assert_eq!(kernel.code(), plain.code());
    assert!(kernel.assembly(Comments::None).contains("\t.loc 1 "));
    assert!(!plain.assembly(Comments::None).contains(".loc"));
    if ["llvm-objdump", "llvm-dwarfdump"].map(tool).iter().any(Option::is_none) {
        return;
    }
    let folder = std::env::temp_dir().join(format!("gcn-source-lines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("k.hsaco");
    std::fs::write(&path, kernel.code_object()).unwrap();
    let verify = Command::new("llvm-dwarfdump-22").arg("--verify").arg(&path).output().unwrap();
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
    let shown = Command::new("llvm-objdump-22").args(["-d", "-l"]).arg(&path).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let mut line = "";
    let mut found = Vec::new();
    for text in shown.lines() {
        match text.strip_prefix("; ") {
            Some(place) if place.contains(".rs:") => line = place,
            _ => found.push((text.split_whitespace().next().unwrap_or(""), line)),
        }
    }
    let expected = [
        ("buffer_load_dword", "let product = a * x[i];"),
        ("v_mul_f32_e32", "let product = a * x[i];"),
        ("v_add_f32_e32", "y[i] = product + 1.0;"),
        ("buffer_store_dword", "y[i] = product + 1.0;"),
    ];
    std::fs::remove_dir_all(&folder).unwrap();
    for (mnemonic, text) in expected {
        let place = format!("source_lines.rs:{}", line_of(text));
        let at = found.iter().find(|f| f.0 == mnemonic).unwrap_or_else(|| panic!("{mnemonic}\n{shown}"));
        assert!(at.1.ends_with(&place), "{mnemonic}: {} is not {place}", at.1);
    }
}
