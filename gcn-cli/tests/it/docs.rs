//! Checks that `docs/gcn.md` shows the current output of its commands. `GCN_BLESS=1 cargo test -p gcn-tools docs` updates the page.

use gcn_test_support::stored::assert_current;

use crate::macros::MACROS;
use crate::{TWO_KERNELS, UNWAITED, gcn_with, two_kernels};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/gcn.md");
/// The maximum number of lines of an example that are shown.
const SHOWN: usize = 24;

/// The words of a command line; blanks inside single quotes are part of a word.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .collect()
}

/// The output of the command after `$ gcn` in the page's folder, which contains `two_kernels.s` and `two_kernels.hsaco`.
fn output(command: &str) -> String {
    let arguments: Vec<&str> = words(command).into_iter().skip(1).collect();
    let named = |a: &&str| a.starts_with("two_kernels.") || matches!(*a, "unwaited.s" | "macros.s");
    let name = arguments.iter().copied().find(|a| named(a)).unwrap_or("<stdin>");
    let input = match name {
        "two_kernels.s" => TWO_KERNELS.as_bytes().to_vec(),
        "macros.s" => MACROS.as_bytes().to_vec(),
        "unwaited.s" => UNWAITED.as_bytes().to_vec(),
        _ => two_kernels(),
    };
    let arguments: Vec<&str> = arguments.iter().map(|a| if named(a) { "-" } else { a }).collect();
    let run = gcn_with(&arguments, &input);
    // A nonzero exit code because of findings is expected.
    let found = arguments.first() == Some(&"check") && run.code == 1;
    let text = if found { String::from_utf8(run.out).expect("UTF-8") } else { run.text() };
    let text = text.replace("<stdin>", name);
    let mut lines: Vec<&str> = text.lines().take(SHOWN).collect();
    if text.lines().count() > SHOWN {
        lines.push("…");
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_examples_of_the_page_are_current() {
    let page = std::fs::read_to_string(PAGE).expect("docs/gcn.md");
    let mut fresh = String::new();
    let mut examples = 0;
    let mut parts = page.split("```console\n");
    fresh.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (example, rest) = part.split_once("```").expect("a closed block");
        let command = example.lines().next().and_then(|l| l.strip_prefix("$ ")).expect("a command");
        fresh.push_str(&format!("```console\n$ {command}\n{}```{rest}", output(command)));
        examples += 1;
    }
    assert!(examples >= 5, "{examples}");
    assert_current(PAGE, &fresh);
}
