//! Makes what the book does not store: `gcn-book make` writes pictures, reference pages and the guide into
//! `docs/book/src/generated`, `gcn-book links HTML` checks the links of the rendered book.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gcn_book::{Fault, figures, gemm, page, reference};

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make"] => make(),
        ["links", folder] => links(Path::new(folder)),
        _ => Err("usage: gcn-book make, or gcn-book links FOLDER; docs/book/build runs both".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Fault> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}

fn read(path: &Path) -> Result<String, Fault> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

/// Names of the Markdown files in a folder.
fn pages_in(folder: &Path) -> Result<BTreeSet<String>, Fault> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            names.insert(name);
        }
    }
    Ok(names)
}

fn make() -> Result<(), Fault> {
    let generated = root().join("docs/book/src/generated");
    let (reference_folder, guide) = (generated.join("reference"), generated.join("guide"));
    fs::create_dir_all(&reference_folder)?;
    fs::create_dir_all(&guide)?;
    for (name, text) in reference::chapters() {
        write(&reference_folder.join(name + ".md"), &text)?;
    }
    let rules = read(&root().join("docs/hazards.md"))?;
    write(&reference_folder.join("rules.md"), &page::chapter(&rules, "docs", &BTreeSet::new()))?;
    let source = root().join("gcn-dsl/guide");
    let names = pages_in(&source)?;
    for name in &names {
        let text = read(&source.join(name))?;
        write(&guide.join(name), &page::chapter(&text, "gcn-dsl/guide", &names))?;
    }
    for picture in figures::pictures()?.into_iter().chain(gemm::pictures()?) {
        write(&generated.join(format!("{}.svg", picture.name)), &picture.svg)?;
    }
    Ok(())
}

/// All HTML pages below a folder, by their paths in it.
fn html(folder: &Path, below: &Path, found: &mut BTreeMap<PathBuf, String>) -> Result<(), Fault> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            html(folder, &path, found)?;
        } else if path.extension().is_some_and(|e| e == "html") {
            found.insert(path.clone(), read(&folder.join(&path))?);
        }
    }
    Ok(())
}

fn links(folder: &Path) -> Result<(), Fault> {
    let mut pages = BTreeMap::new();
    html(folder, Path::new(""), &mut pages)?;
    // The page for printing has all chapters under one address, the page for missing pages has none of its own.
    pages.retain(|path, _| !path.ends_with("print.html") && !path.ends_with("404.html"));
    let exists = |path: &Path| folder.join(path).exists();
    let faults = page::faults(&pages, &exists, &root());
    if pages.is_empty() || !faults.is_empty() {
        return Err(
            format!("{} pages, {} broken links\n{}", pages.len(), faults.len(), faults.join("\n")).into()
        );
    }
    println!("{} pages, no broken link", pages.len());
    Ok(())
}
