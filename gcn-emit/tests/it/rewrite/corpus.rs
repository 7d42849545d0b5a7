//! Tests `fix --strip` on the output of four compilers (292 files; all of them with `GCN_CORPUS=all`, otherwise every ninth).

use gcn_emit::rewrite::{Options, fix};
use gcn_isa::check;
use gcn_isa::hazards::Grade;

use super::{strip, unit, without_waits};
use crate::asm::corpus::{self, File};
use crate::llvm::{Llvm, Scratch, text};

fn files() -> Vec<File> {
    let all = std::env::var_os("GCN_CORPUS").is_some_and(|v| v == "all");
    corpus::files().into_iter().step_by(if all { 1 } else { 9 }).collect()
}

#[test]
fn stripped_files_keep_the_rules_and_their_text() {
    let (mut grown, mut functions) = (0, 0);
    for file in files() {
        let fixed = strip(&file.path, &file.text);
        assert_eq!(without_waits(&fixed.text), without_waits(&file.text), "{}", file.path);
        assert_eq!(strip(&file.path, &fixed.text).text, fixed.text, "{}: not the same again", file.path);
        for code in &unit(&fixed.text).sections {
            let findings = check::check(&code.program).findings;
            let bad: Vec<_> = findings.iter().filter(|f| f.grade >= Grade::Documented).collect();
            assert!(bad.is_empty(), "{}: {bad:?}", file.path);
        }
        // There may be more wait states than before only where the original lacks some that a rule requires.
        let plain = fix(&file.path, &file.text, &Options::default()).expect("fixable");
        for (stripped, plain) in fixed.functions.iter().zip(&plain.functions) {
            functions += 1;
            let (before, after) = (stripped.before, stripped.after);
            let more = after.wait_states > before.wait_states
                || after.weighted_wait_states > before.weighted_wait_states;
            grown += usize::from(more);
            let lacks = plain.after.wait_states > plain.before.wait_states;
            assert!(!more || lacks, "{}: {}: {before:?} {after:?}", file.path, stripped.name);
        }
    }
    println!("{functions} functions, {grown} with more wait states than the compiler gave them");
    assert!(functions > 50, "{functions}");
}

#[test]
fn fixing_again_changes_nothing() {
    for file in files() {
        let once = fix(&file.path, &file.text, &Options::default()).expect("fixable");
        assert_eq!(without_waits(&once.text), without_waits(&file.text), "{}", file.path);
        let twice = fix(&file.path, &once.text, &Options::default()).expect("fixable");
        assert!(
            twice.changes.is_empty() && twice.text == once.text,
            "{}: {:?}",
            file.path,
            twice.changes.first()
        );
    }
}

#[test]
fn stripped_files_assemble_with_llvm() {
    let Some(llvm) = Llvm::find() else { return };
    let dir = Scratch::new("rewrite");
    for file in files() {
        let fixed = strip(&file.path, &file.text).text;
        // LLVM 22 does not know all spellings of the target.
        let lines = fixed.lines().filter(|line| !line.contains(".amdgcn_target"));
        let source = dir.write("fixed.s", lines.collect::<Vec<_>>().join("\n").as_bytes());
        let cpu = format!("-mcpu={}", file.processor());
        let object = dir.path("fixed.o");
        let args = ["-triple=amdgcn-amd-amdhsa", &cpu, "-filetype=obj", text(&source), "-o", text(&object)];
        llvm.run("llvm-mc-22", &args);
    }
}
