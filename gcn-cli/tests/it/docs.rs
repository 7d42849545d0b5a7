//! `docs/gcn.md` shows what the command prints now. `GCN_BLESS=1 cargo test -p gcn-cli docs` writes it anew.

use crate::{TWO_KERNELS, gcn_with, two_kernels};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/gcn.md");
/// Lines of an example that are shown.
const SHOWN: usize = 24;

/// What `$ gcn …` prints in the page's folder, where there are `two_kernels.s` and `two_kernels.hsaco`.
fn output(command: &str) -> String {
    let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
    let source = arguments.contains(&"two_kernels.s");
    let input = if source { TWO_KERNELS.as_bytes().to_vec() } else { two_kernels() };
    let named = |a: &&str| a.starts_with("two_kernels.");
    let arguments: Vec<&str> = arguments.iter().map(|a| if named(a) { "-" } else { a }).collect();
    let text = gcn_with(&arguments, &input).text();
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
    if std::env::var_os("GCN_BLESS").is_some() {
        std::fs::write(PAGE, &fresh).expect("docs/gcn.md can be written");
    }
    assert_eq!(page, fresh, "docs/gcn.md is out of date: GCN_BLESS=1 cargo test -p gcn-cli docs");
}
