//! Debug information of kernels: LLVM's disassembler shows the Rust line of each instruction.

use std::path::Path;
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

    #[device]
    fn cube(x: V<f32>) -> V<f32> {
        let square = x * x;
        square * x
    }

    #[device]
    fn shifted(x: V<f32>) -> V<f32> {
        cube(x) + 3.0
    }

    #[workgroup(64)]
    fn through_two(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        y[i] = shifted(x[i]);
        y[i + 64] = cube(y[i]);
    }

    #[workgroup(64)]
    fn of_parts(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let pair = (x[i], i + 7);
        let three = [pair.0, pair.0 * 2.0, pair.0 * 3.0];
        let mut sum = three[0] + three[1];
        for k in 0..pair.1 {
            let step = k + 5;
            sum = sum * three[2] + (step as f32);
        }
        y[pair.1] = sum;
    }
}

/// The number, from 1, of the line in this file that equals `text`.
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

/// The output of llvm-symbolizer for each instruction: mnemonic, then functions with their lines, innermost first.
fn frames(path: &Path) -> Vec<(String, Vec<(String, usize)>)> {
    let listing = Command::new("llvm-objdump-22").arg("-d").arg(path).output().unwrap();
    let listing = String::from_utf8(listing.stdout).unwrap();
    let code = listing.lines().filter_map(|l| l.split_once(" // ")).map(|(text, comment)| {
        let mnemonic = text.split_whitespace().next().expect("an instruction").to_owned();
        (mnemonic, format!("0x{}", comment.split(':').next().expect("an address")))
    });
    let code: Vec<(String, String)> = code.collect();
    let addresses = code.iter().map(|c| &c.1);
    let said =
        Command::new("llvm-symbolizer-22").args(["--inlines", "--obj"]).arg(path).args(addresses).output();
    let said = String::from_utf8(said.unwrap().stdout).unwrap();
    let frames = said.split("\n\n").map(|frames| {
        let lines: Vec<&str> = frames.lines().collect();
        let pair = |pair: &[&str]| {
            let line = pair[1].rsplit(':').nth(1).and_then(|l| l.parse().ok());
            (pair[0].to_owned(), line.expect("a line"))
        };
        lines.chunks_exact(2).map(pair).collect()
    });
    code.into_iter().map(|c| c.0).zip(frames).collect()
}

#[test]
fn inlined_functions_are_shown_with_their_calls() {
    let options = BuildOptions { source_lines: true, ..BuildOptions::default() };
    let kernel = through_two.build_with(Target::GFX942, &options).unwrap();
    assert_eq!(kernel.code(), through_two.build(Target::GFX942).unwrap().code());
    if ["llvm-objdump", "llvm-dwarfdump", "llvm-symbolizer"].map(tool).iter().any(Option::is_none) {
        return;
    }
    let folder = std::env::temp_dir().join(format!("gcn-inlined-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("k.hsaco");
    std::fs::write(&path, kernel.code_object()).unwrap();
    let verify = Command::new("llvm-dwarfdump-22").arg("--verify").arg(&path).output().unwrap();
    let found = frames(&path);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
    let at = |function: &str, text: &str| (function.to_owned(), line_of(text));
    let first = at("through_two", "y[i] = shifted(x[i]);");
    let second = at("through_two", "y[i + 64] = cube(y[i]);");
    let inner = at("shifted", "cube(x) + 3.0");
    let square = at("cube", "let square = x * x;");
    let cube = at("cube", "square * x");
    let wanted = [
        ("v_mul_f32_e32", vec![square.clone(), inner.clone(), first.clone()]),
        ("v_mul_f32_e32", vec![cube.clone(), inner.clone(), first.clone()]),
        ("v_add_f32_e32", vec![inner, first]),
        ("v_mul_f32_e32", vec![square, second.clone()]),
        ("v_mul_f32_e32", vec![cube, second]),
    ];
    for (mnemonic, frames) in wanted {
        assert!(found.contains(&(mnemonic.to_owned(), frames.clone())), "{mnemonic} {frames:?}\n{found:#?}");
    }
}

/// The entries of each variable of this name in the output of llvm-dwarfdump.
fn variables<'d>(dump: &'d str, name: &str) -> Vec<&'d str> {
    let entries = dump.split("\n\n").filter(|entry| entry.contains("DW_TAG_variable"));
    entries.filter(|entry| entry.contains(&format!("DW_AT_name\t(\"{name}\")"))).collect()
}

#[test]
fn variables_have_their_types_and_registers() {
    if tool("llvm-dwarfdump").is_none() {
        return;
    }
    let options = BuildOptions { source_lines: true, ..BuildOptions::default() };
    let folder = std::env::temp_dir().join(format!("gcn-variables-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let dump = |object: &[u8]| {
        let path = folder.join("k.hsaco");
        std::fs::write(&path, object).unwrap();
        let verify = Command::new("llvm-dwarfdump-22").arg("--verify").arg(&path).output().unwrap();
        assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
        let dump = Command::new("llvm-dwarfdump-22").arg("--debug-info").arg(&path).output().unwrap();
        String::from_utf8(dump.stdout).unwrap()
    };
    for target in Target::REPRESENTATIVES {
        let kernel = through_two.build_with(target, &options).unwrap();
        assert_eq!(kernel.code(), through_two.build(target).unwrap().code());
        let text = dump(kernel.code_object());
        // Each of the two calls has a variable of its own.
        let squares = variables(&text, "square");
        assert_eq!(squares.len(), 2, "{text}");
        for square in squares {
            assert!(square.contains("\"f32\"") && square.contains("DW_OP_regx VGPR"), "{square}");
        }
        let kernel = of_parts.build_with(target, &options).unwrap();
        assert_eq!(kernel.code(), of_parts.build(target).unwrap().code());
        let text = dump(kernel.code_object());
        let one =
            |name: &str| variables(&text, name).first().copied().unwrap_or_else(|| panic!("{name}\n{text}"));
        assert!(
            one("pair").contains("\"tuple\"") && one("pair").contains("DW_OP_piece 0x4"),
            "{}",
            one("pair")
        );
        assert!(one("three").contains("f32[3]"), "{}", one("three"));
        assert!(one("sum").contains("\"f32\"") && one("sum").contains("DW_OP_regx VGPR"), "{}", one("sum"));
        assert!(one("step").contains("\"u32\""), "{}", one("step"));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
