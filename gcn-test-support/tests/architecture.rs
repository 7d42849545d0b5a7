//! Checks mechanically that the pages named ARCHITECTURE.md are complete and correct: each crate's table names every file and folder at the
//! top of its sources and nothing else, and has short cells; the list of modules with `unsafe` code agrees with the sources; and
//! README.md is short.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The crates that have an ARCHITECTURE.md.
const CRATES: [&str; 9] = [
    "gcn-isa",
    "gcn-emit",
    "gcn-dsl",
    "gcn-dsl-macros",
    "gcn-sim",
    "gcn-report",
    "gcn-probe",
    "gcn-cli",
    "gcn-hip",
];

/// Maximum length of a cell: longer cells are lists, which should not be in a table.
const WIDEST_CELL: usize = 120;
/// Maximum number of lines of README.md.
const LONGEST_README: usize = 180;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is a folder of the repository")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The rows of a page's tables, each as a list of cells.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = page.lines().filter(|line| line.starts_with('|') && !line.starts_with("|-"));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

/// The parts of a text that are in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Names of the files and folders in `folder`; those of folders end with a slash.
fn entries(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let named = entries.map(|entry| {
        let entry = entry.expect("an entry of a folder");
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        if entry.path().is_dir() { name + "/" } else { name }
    });
    named.collect()
}

/// Names that a crate's table lacks, and names in it that do not exist.
fn faults(page: &str, src: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    let mut unnamed = entries(src);
    unnamed.remove("lib.rs");
    for row in rows(page).skip(1) {
        for path in quoted(row[0]) {
            let there = src.join(path);
            if !there.exists() || path.ends_with('/') != there.is_dir() {
                faults.push(format!("there is no {path}"));
            }
            unnamed.remove(path);
        }
    }
    // A module with submodules may be in the table as its file or as its folder.
    let missing = |name: &String| {
        let twin =
            name.strip_suffix('/').map_or_else(|| name.replace(".rs", "/"), |stem| format!("{stem}.rs"));
        !entries(src).contains(&twin) || unnamed.contains(&twin)
    };
    faults.extend(
        unnamed.iter().filter(|name| missing(name)).map(|name| format!("{name} is not in the table")),
    );
    faults
}

#[test]
fn each_crate_has_a_page_that_names_its_rooms() {
    for name in CRATES {
        let folder = repository().join(name);
        let page = read(&folder.join("ARCHITECTURE.md"));
        assert_eq!(faults(&page, &folder.join("src")), Vec::<String>::new(), "{name}/ARCHITECTURE.md");
    }
}

#[test]
fn a_page_that_is_wrong_is_found() {
    let src = repository().join("gcn-report/src");
    let page = read(&repository().join("gcn-report/ARCHITECTURE.md"));
    let without = page.replace("| `error.rs` | errors of reading files with code |\n", "");
    assert_eq!(faults(&without, &src), ["error.rs is not in the table"]);
    assert_eq!(faults(&page.replace("`error.rs`", "`error.rs`, `errors/`"), &src), ["there is no errors/"]);
}

#[test]
fn cells_stay_readable() {
    let pages = CRATES.iter().map(|name| repository().join(name)).chain([repository().to_owned()]);
    for path in pages.map(|folder| folder.join("ARCHITECTURE.md")) {
        for cell in rows(&read(&path)).flatten() {
            assert!(
                cell.chars().count() <= WIDEST_CELL,
                "{}: longer than {WIDEST_CELL}: {cell}",
                path.display()
            );
        }
    }
}

/// The first page is read in one sitting; what it has no room for is in docs/.
#[test]
fn the_readme_is_short() {
    let lines = read(&repository().join("README.md")).lines().count();
    assert!(
        lines <= LONGEST_README,
        "README.md has {lines} lines, at most {LONGEST_README}: move a part to docs/"
    );
}

/// Collects the files in a folder of sources that allow unsafe code for themselves and their submodules.
fn unsafe_files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in entries(folder) {
        let path = folder.join(&entry);
        if path.is_dir() {
            unsafe_files(&path, found);
        } else if entry.ends_with(".rs") {
            let attributes: String =
                read(&path).lines().take_while(|line| !line.starts_with("use ")).collect();
            let opened = attributes.split("#![").skip(1).any(|attribute| {
                (attribute.starts_with("allow(") || attribute.starts_with("expect("))
                    && attribute.contains("unsafe_code")
            });
            if opened {
                found.insert(path);
            }
        }
    }
}

#[test]
fn the_list_of_unsafe_code_is_true() {
    let mut found = BTreeSet::new();
    let folders = entries(repository()).into_iter().map(|name| repository().join(name).join("src"));
    folders.filter(|src| src.is_dir()).for_each(|src| unsafe_files(&src, &mut found));
    let found: BTreeSet<String> = found
        .iter()
        .map(|path| path.strip_prefix(repository()).expect("a file of the repository").display().to_string())
        .collect();
    let page = read(&repository().join("ARCHITECTURE.md"));
    let (_, list) = page.split_once("**Unsafe code**").expect("the list");
    let (list, _) = list.split_once("\n- ").expect("a point after the list");
    // Folders in the list are skipped: the file of the same name, which allows their code, is listed as well.
    let listed: BTreeSet<String> =
        quoted(list).filter(|path| !path.ends_with('/')).map(str::to_owned).collect();
    assert_eq!(listed, found);
}
