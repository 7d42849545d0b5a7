//! What the chapters show is what their listings print. `GCN_BLESS=1 cargo test -p gcn-book` writes it anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gcn_book::CHAPTERS;
use gcn_dsl::prelude::*;
use gcn_test_support::stored::assert_current;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src")
}

/// Compares the outputs of the chapter.
fn check(chapter: &str) {
    let (_, outputs) = CHAPTERS.iter().find(|(name, _)| *name == chapter).expect("a chapter");
    for output in outputs().unwrap_or_else(|error| panic!("{chapter}: {error}")) {
        assert_current(folder().join("output").join(output.name), &output.text);
    }
}

macro_rules! chapters {
    ($($name:ident)*) => {
        $(#[test] fn $name() { check(stringify!($name)); })*
        const CHECKED: &[&str] = &[$(stringify!($name)),*];
    };
}

chapters! { waves uniform first memory lds barriers reductions matrix gemm attention quantised sanitizers launching }

#[test]
fn every_chapter_is_checked() {
    assert!(CHAPTERS.iter().map(|(name, _)| *name).eq(CHECKED.iter().copied()));
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names that follow `marker` in the chapters, up to `end`.
fn named(marker: &str, end: char) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder()).expect("the chapters") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "md") {
            let text = read(&path);
            let chapter = path.file_name().expect("a file").to_string_lossy().into_owned();
            let names = text.split(marker).skip(1).filter_map(|rest| rest.split(end).next());
            found.extend(names.map(|name| (chapter.clone(), name.to_owned())));
        }
    }
    found
}

/// The assembly of `saxpy`, with which the chapter on launching shows the tools.
#[test]
fn the_assembly_of_the_examples_is_current() {
    let built = gcn_book::first::saxpy.build(gcn_book::TARGET).expect("a kernel");
    assert_current(folder().join("../examples/saxpy.s"), &built.assembly(Comments::None));
}

/// Chapters of the parts that teach, which are those before the section for readers of CUDA, without the introduction.
fn lessons() -> Vec<String> {
    let summary = read(&folder().join("SUMMARY.md"));
    let taught = summary.split("\n# For readers of CUDA").next().expect("a first part");
    let names = taught.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    names.filter(|name| *name != "introduction.md").map(str::to_owned).collect()
}

/// A chapter teaches by one problem from start to end, and by exercises with solutions.
#[test]
fn every_chapter_has_a_worked_example_and_exercises() {
    let lessons = lessons();
    assert!(lessons.len() >= 17, "{lessons:?}");
    for name in lessons {
        let text = read(&folder().join(&name));
        let (before, exercises) =
            text.split_once("\n## Exercises\n").unwrap_or_else(|| panic!("{name}: no exercises"));
        let worked = before
            .split("\n## A worked example")
            .nth(1)
            .unwrap_or_else(|| panic!("{name}: no worked example"));
        // A figure is a measured table, a picture, or a session with a tool: something that a test or the build makes.
        let figure =
            ["{{#include output/", "](generated/", "```console"].iter().any(|figure| worked.contains(figure));
        assert!(figure, "{name}: the worked example shows no figure");
        let numbered = (1..).take_while(|n| exercises.contains(&format!("\n**{n}.** "))).count();
        let solved = exercises.matches("<details><summary>Solution</summary>").count();
        assert!(numbered >= 3 && solved == numbered, "{name}: {numbered} exercises, {solved} solutions");
        assert_eq!(solved, exercises.matches("</details>").count(), "{name}");
    }
}

/// mdBook shows nothing in place of an anchor that does not exist.
#[test]
fn every_included_anchor_exists() {
    let included = named("{{#include ", '}');
    assert!(included.len() > 40, "{}", included.len());
    for (chapter, include) in included {
        let (file, anchor) = include.split_once(':').map_or((include.as_str(), None), |(f, a)| (f, Some(a)));
        let text = read(&folder().join(file));
        if let Some(anchor) = anchor {
            for mark in ["ANCHOR", "ANCHOR_END"] {
                assert!(
                    text.lines().any(|l| l.trim().ends_with(&format!("{mark}: {anchor}"))),
                    "{chapter}: {include}"
                );
            }
        }
    }
}

/// A chapter that nobody can reach, or that does not exist, is a mistake.
#[test]
fn every_chapter_is_in_the_summary() {
    let summary = read(&folder().join("SUMMARY.md"));
    let linked: BTreeSet<&str> =
        summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    for entry in std::fs::read_dir(folder()).expect("the chapters") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(!name.ends_with(".md") || name == "SUMMARY.md" || linked.contains(name.as_str()), "{name}");
    }
    let own = linked.iter().filter(|name| !name.starts_with("generated/"));
    own.for_each(|name| assert!(folder().join(name).exists(), "{name}"));
    assert!(linked.len() >= 20, "{}", linked.len());
}

/// Every output is shown by a chapter.
#[test]
fn every_output_is_shown() {
    let included: BTreeSet<String> =
        named("{{#include output/", '}').into_iter().map(|(_, name)| name).collect();
    for entry in std::fs::read_dir(folder().join("output")).expect("the outputs") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(included.contains(&name), "no chapter shows {name}");
    }
}
