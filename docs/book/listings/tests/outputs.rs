//! What the chapters show is what their listings print. `GCN_BLESS=1 cargo test -p gcn-book` writes it anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gcn_book::CHAPTERS;
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

chapters! { waves uniform first memory lds barriers reductions matrix gemm attention quantised sanitizers }

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
