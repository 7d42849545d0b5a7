//! Tests damaged files: the assembler neither panics nor hangs, and its error can be displayed.

use gcn_emit::asm::{Options, assemble};
use gcn_test_support::env::fuzz_count;
use proptest::prelude::*;

use super::corpus::files;

/// Runs the assembler; any error must be printable.
fn survive(source: &str) {
    let options =
        Options { target: Some("gfx942".parse().unwrap()), keep_instructions: true, ..Options::default() };
    match assemble("random.s", source, &options) {
        Ok(assembly) => drop(assembly.code_object()),
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
}

/// Lines of all kinds: every 400th line of the corpus.
fn lines() -> Vec<String> {
    let all = files();
    let lines = all.iter().flat_map(|file| file.text.lines());
    lines
        .enumerate()
        .filter(|(i, line)| i % 400 == 0 || line.trim_start().starts_with('.') && i % 40 == 0)
        .map(|(_, l)| l.to_owned())
        .collect()
}

#[test]
fn damaged_lines_are_survived() {
    let lines = lines();
    let cut = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), "[ -~]{0,3}");
    let edits =
        prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(cut, 0..3)), 1..30);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: fuzz_count(150),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&edits, |edits| {
            let mut source = String::new();
            for (line, cuts) in edits {
                let mut line: Vec<char> = line.get(&lines).chars().collect();
                for (from, to, text) in cuts {
                    let (a, b) = (from.index(line.len() + 1), to.index(line.len() + 1));
                    line.splice(a.min(b)..a.max(b).min(a.min(b) + 4), text.chars());
                }
                source.extend(line);
                source.push('\n');
            }
            survive(&source);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: fuzz_count(150), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(source in "(?s).{0,200}") {
        survive(&source);
    }

    #[test]
    fn any_directive_text_is_survived(lines in prop::collection::vec("\\.(long|fill|org|p2align|set x,|uleb128|section|size x,|amdhsa_kernel|ascii|loc|if|space|subsection|x:) ?[x1.(),+*/<>@\"' a-f-]{0,12}", 1..8)) {
        survive(&lines.join("\n"));
    }
}

#[test]
fn truncated_files_are_survived() {
    let all = files();
    for (i, file) in all.iter().enumerate().step_by(60) {
        for part in 1..8 {
            let end = file.text.len().min(40_000) * part / 8 + i;
            survive(file.text.get(..end).unwrap_or_default());
        }
    }
}

#[test]
fn hostile_sizes_end_soon() {
    let many = 200_000;
    let deep = format!(".long {}1{}\n", "(".repeat(many), ")".repeat(many));
    let unary = format!(".long {}1\n", "-".repeat(many));
    let sum = format!(".long x{}\nx = 1\n", "+x".repeat(many));
    let mut chain: String = (0..many).map(|i| format!("x{i} = x{}\n", i + 1)).collect();
    chain.push_str(&format!(".long x0\nx{many} = 7\n"));
    let sections: String = (0..20_000).map(|i| format!(".section s{i}\n.text {i}\n.byte 1\n")).collect();
    let gaps = format!(".uleb128 e-b\nb:\n{}e:\n", ".uleb128 e-b\n".repeat(20_000));
    let calls = format!(".long {}1{}\n", "max(".repeat(many), ")".repeat(many));
    for source in [&deep, &unary, &sum, &chain, &sections, &gaps, &calls] {
        let start = std::time::Instant::now();
        survive(source);
        assert!(start.elapsed().as_secs() < 20, "{} bytes beginning with {:.40}", source.len(), source);
    }
    for source in [
        ".space 0x7fffffffffffffff\n",
        ".fill 0x7fffffffffffffff, 8\n",
        ".org 0x7fffffffffffffff\n",
        ".bss\n.space 0x7fffffffffffffff\n.space 1\n",
    ] {
        survive(source);
    }
}
