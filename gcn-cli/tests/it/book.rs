//! Checks that the commands in the book's chapters print what the chapters show. `GCN_BLESS=1 cargo test -p gcn-tools book` updates the
//! chapters.

use std::path::{Path, PathBuf};
use std::process::Command;

use gcn_test_support::skip::has_program;
use gcn_test_support::stored::assert_current;

/// The maximum number of lines of an output that are shown.
const SHOWN: usize = 40;

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book")
}

/// What a shell shows for a command in the folder of the book's examples: standard output, then standard error.
fn output(command: &str) -> String {
    let gcn = Path::new(env!("CARGO_BIN_EXE_gcn")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let run = Command::new("sh")
        .args(["-c", command])
        .current_dir(book().join("examples"))
        .env("PATH", format!("{}:{path}", gcn.display()))
        .env("NO_COLOR", "1")
        .output()
        .expect("a shell");
    let text = [run.stdout, run.stderr].concat();
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(!text.is_empty() && !text.contains("panicked") && !text.contains("Usage:"), "{command}: {text}");
    let mut lines: Vec<&str> = text.lines().take(SHOWN).collect();
    if text.lines().count() > SHOWN {
        lines.push("…");
    }
    lines.join("\n") + "\n"
}

/// A chapter with updated outputs in its `console` blocks, which may be indented, and the number of these blocks.
fn fresh(chapter: &str) -> (String, usize) {
    let (mut out, mut lines, mut examples) = (String::new(), chapter.lines(), 0);
    while let Some(line) = lines.next() {
        out += line;
        out.push('\n');
        let Some(indent) = line.strip_suffix("```console") else { continue };
        let command = lines.next().and_then(|l| l.trim_start().strip_prefix("$ ")).expect("a command");
        let shown = format!("$ {command}\n{}```\n", output(command));
        shown.lines().for_each(|line| out += &format!("{}\n", format!("{indent}{line}").trim_end()));
        lines.find(|line| line.trim() == "```").expect("a closed block");
        examples += 1;
    }
    (out, examples)
}

#[test]
fn the_examples_of_the_book_are_current() {
    if !has_program("sh") {
        return;
    }
    let mut examples = 0;
    for entry in std::fs::read_dir(book().join("src")).expect("the chapters") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "md") {
            let chapter = std::fs::read_to_string(&path).expect("a chapter");
            let (fresh, count) = fresh(&chapter);
            examples += count;
            assert_current(&path, &fresh);
        }
    }
    assert!(examples >= 12, "{examples}");
}
