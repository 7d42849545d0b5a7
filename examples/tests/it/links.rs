//! Tests that links in the documentation lead to files and headings that exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The address of the repository's files on the web, which the packages' READMEs link to.
const WEB: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is a folder of the repository")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Finds all Markdown files in a folder and its subfolders, except in `src` folders, which contain parts of generated
/// pages.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            if !["target", ".git", "src"].iter().any(|name| path.ends_with(name)) {
                pages(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

/// The lines of a page outside code blocks, without inline code.
fn prose(page: &str) -> impl Iterator<Item = String> {
    let mut fenced = false;
    page.lines().filter_map(move |line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then(|| line.split('`').step_by(2).collect())
    })
}

/// The targets of a page's links: of `[text](target)`, and of `[name]: target` on a line of its own.
fn targets(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(page) {
        let inline = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.extend(inline.map(|(target, _)| target.to_owned()));
        if let Some((_, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            found.push(target.trim().to_owned());
        }
    }
    found
}

/// The anchors of a page, as GitHub derives them from headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let headings = page.lines().filter(|line| {
        fenced ^= line.starts_with("```");
        !fenced && line.starts_with('#')
    });
    let slug = |heading: &str| {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(slug).collect()
}

/// What is wrong with a link of a page; `None` if nothing is.
fn fault(page: &Path, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = match (file.strip_prefix(WEB), file) {
        (Some(file), _) => root().join(file),
        (None, "") => page.to_owned(),
        (None, file) if file.contains("://") => return None,
        (None, file) => page.parent()?.join(file),
    };
    let place = page.strip_prefix(root()).unwrap_or(page).display();
    if !path.exists() {
        return Some(format!("{place}: there is no {file}"));
    }
    let missing = anchor.filter(|anchor| !anchors(&read(&path)).contains(*anchor))?;
    Some(format!("{place}: {file} has no heading for #{missing}"))
}

#[test]
fn links_lead_somewhere() {
    let mut found = Vec::new();
    pages(root(), &mut found);
    let links =
        |page: &PathBuf| targets(&read(page)).iter().filter_map(|t| fault(page, t)).collect::<Vec<_>>();
    let faults: Vec<String> = found.iter().flat_map(links).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn links_of_every_kind_are_seen() {
    let page =
        "[a](a.md) and [`b`](b.md#c-d),\n```\n[no](no.md)\n```\n`[no](no.md)` [e\n](e.md)\n[f]: f.md\n";
    assert_eq!(targets(page), ["a.md", "b.md#c-d", "e.md", "f.md"]);
    assert!(anchors("# A `b-c` (d_e)\n```\n# no\n```\n").iter().eq(["a-b-c-d_e"]));

    let readme = root().join("README.md");
    assert_eq!(fault(&readme, "docs/no.md").unwrap(), "README.md: there is no docs/no.md");
    assert_eq!(fault(&readme, "#no").unwrap(), "README.md:  has no heading for #no");
    assert_eq!(fault(&readme, &format!("{WEB}docs/sim.md")), None);
    assert!(fault(&readme, &format!("{WEB}docs/no.md")).is_some());
}

#[test]
fn every_page_of_the_guide_is_in_the_documentation() {
    let folder = root().join("gcn-dsl/guide");
    let modules = read(&root().join("gcn-dsl/src/guide.rs"));
    let mut found = Vec::new();
    pages(&folder, &mut found);
    for page in found {
        let name = page.file_name().expect("a file").to_string_lossy();
        assert!(modules.contains(&format!("\"{name}\"")), "gcn-dsl/src/guide.rs has no module for {name}");
    }
}
