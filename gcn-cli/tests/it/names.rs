//! Checks the names under which documents, workflows and templates install our programs. The manifests define these names; this test reads
//! every other file of the repository for the names that it passes to cargo and pip.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The name of this package in the registry.
const PACKAGE: &str = env!("CARGO_PKG_NAME");

/// Third-party programs that documents install.
const OTHERS: [&str; 1] = ["cargo-fuzz"];

const KINDS: [&str; 11] = ["md", "rs", "toml", "yml", "yaml", "json", "in", "py", "mjs", "js", "txt"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// Every file that somebody may read or run, with its path in the repository, except generated files and test data.
fn files() -> Vec<(String, String)> {
    let (mut folders, mut found) = (vec![root().to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let script = folder.file_name().is_some_and(|name| name == ".ci");
            if path.is_dir() {
                if !matches!(&*name, "target" | ".git" | "node_modules" | "data" | "generated") {
                    folders.push(path);
                }
            } else if (script || path.extension().is_some_and(|e| KINDS.iter().any(|kind| e == *kind)))
                && !path.ends_with(file!())
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                let place =
                    path.strip_prefix(root()).expect("a file of the repository").display().to_string();
                found.push((place, text));
            }
        }
    }
    found
}

/// The folder and the name of each package.
fn packages(files: &[(String, String)]) -> Vec<(PathBuf, String)> {
    let manifests = files.iter().filter(|(place, _)| Path::new(place).ends_with("Cargo.toml"));
    let name = |text: &str| {
        let package = text.split("[package]").nth(1)?;
        Some(package.lines().find_map(|line| line.strip_prefix("name = \""))?.split('"').next()?.to_owned())
    };
    manifests.filter_map(|(place, text)| Some((Path::new(place).parent()?.to_owned(), name(text)?))).collect()
}

/// For each occurrence of `command` in a line, the words that follow it, up to the end of the quotation or of the command.
fn calls<'t>(line: &'t str, command: &'static str) -> impl Iterator<Item = Vec<&'t str>> {
    let ends = |c: char| "`\"';|&#)<,".contains(c);
    let after = line.match_indices(command).map(move |(at, _)| &line[at + command.len()..]);
    after.map(move |rest| rest.split(ends).next().unwrap_or_default().split_whitespace().collect())
}

/// Of the words after `cargo install` or `pip install`, those that are names of packages to install.
fn installed(words: Vec<&str>) -> Vec<&str> {
    const WITH_VALUE: [&str; 7] = ["--path", "--git", "--version", "--rev", "--tag", "--branch", "--root"];
    let mut words = words.into_iter();
    let mut names = Vec::new();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            names.push(word);
        }
    }
    names
}

/// The crate names that a line passes to cargo, or that it links to in the registry.
fn crates(line: &str) -> Vec<&str> {
    let mut names: Vec<&str> = calls(line, "cargo install ").flat_map(installed).collect();
    for words in calls(line, "cargo ") {
        let flags = ["-p", "--package", "--exclude"];
        names.extend(words.windows(2).filter(|pair| flags.contains(&pair[0])).map(|pair| pair[1]));
        names.extend(words.iter().filter_map(|word| word.strip_prefix("--package=")));
    }
    names.extend(calls(line, "crates.io/crates/").filter_map(|words| words.first().copied()));
    names.retain(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    names
}

/// True if a line uses the folder name `folder` as if it were the name of a package. A folder name may be used in a path, alone in a list,
/// and after the word "folder".
fn names_as_package(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + folder.len()..]);
        let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let other_word = before.ends_with(part_of_word) || after.starts_with(part_of_word);
        let place = after.starts_with('/')
            || ["/", "--path ", "folder `"].iter().any(|start| before.ends_with(start));
        let alone = before.ends_with('"') && after.starts_with('"');
        !(other_word || place || alone)
    })
}

#[test]
fn documents_workflows_and_templates_name_the_packages_that_exist() {
    let files = files();
    let packages = packages(&files);
    let names: BTreeSet<&str> = packages.iter().map(|(_, name)| name.as_str()).chain(OTHERS).collect();
    assert!(names.contains(PACKAGE) && names.len() > 10, "{names:?}");
    let folders: Vec<&str> = packages
        .iter()
        .filter_map(|(folder, name)| {
            folder.file_name()?.to_str().filter(|folder| folder.starts_with("gcn-") && folder != name)
        })
        .collect();
    let own =
        Path::new(env!("CARGO_MANIFEST_DIR")).strip_prefix(root()).expect("a folder").join("Cargo.toml");
    let (mut faults, mut installs) = (Vec::new(), 0);
    for (place, text) in &files {
        for (number, line) in text.lines().enumerate() {
            let mut fault =
                |what: String| faults.push(format!("{place}:{}: {what}: {}", number + 1, line.trim()));
            for name in crates(line) {
                installs += usize::from(name == PACKAGE);
                if !names.contains(name) {
                    fault(format!("there is no package `{name}`"));
                }
            }
            for folder in
                folders.iter().filter(|folder| Path::new(place) != own && names_as_package(line, folder))
            {
                fault(format!("`{folder}` is a folder; the package in it has another name"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(installs > 10, "{installs} places that name {PACKAGE}");
}

#[test]
fn python_is_told_the_names_of_the_python_package() {
    let manifest = std::fs::read_to_string(root().join("gcn-py/pyproject.toml")).expect("the manifest");
    let module = PACKAGE.replace('-', "_");
    assert!(manifest.contains(&format!("[project]\nname = \"{PACKAGE}\"")), "one name on both registries");
    assert!(manifest.contains(&format!("module-name = \"{module}._gcn\"")));
    let (mut faults, mut imports) = (Vec::new(), 0);
    for (place, text) in &files() {
        for line in text.lines() {
            let statement = line.trim_start().trim_start_matches(">>> ");
            let imported = ["import ", "from "].iter().find_map(|start| statement.strip_prefix(start));
            let imported = imported.filter(|_| !place.ends_with(".rs")).into_iter();
            let imported =
                imported.filter_map(|rest| rest.split(['.', ' ', ',']).next()).map(|name| (name, &*module));
            let installed = calls(line, "pip install ").flat_map(installed).map(|name| (name, PACKAGE));
            for (name, right) in imported.chain(installed).filter(|(name, _)| name.starts_with("gcn")) {
                imports += 1;
                if name != right {
                    faults.push(format!("{place}: `{name}` is not ours, `{right}` is: {}", line.trim()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(imports > 5, "{imports} imports");
}

#[test]
fn the_readers_of_names_find_others() {
    let line = "run `cargo install gcn-foo --locked`, cargo test -p gcn-bar --test it; cargo install --path gcn-baz && cargo install --git x y";
    assert_eq!(crates(line), ["gcn-foo", "y", "gcn-bar"]);
    for named in ["| `gcn-cli` | the command", "cargo run -p gcn-cli", "[profile.dev.package.gcn-cli]"] {
        assert!(names_as_package(named, "gcn-cli"), "{named}");
    }
    for place in
        ["[x](../gcn-cli/tests/x.s)", "cargo install --path gcn-cli", "members = [\"gcn-cli\"]", "gcn-client"]
    {
        assert!(!names_as_package(place, "gcn-cli"), "{place}");
    }
}
