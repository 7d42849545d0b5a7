//! Finds the workspace's libraries as they were compiled for the running tests, for tests that call `rustc` directly; a separate cargo
//! project would compile them again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The path of a crate's library, by the crate's name in Rust code; if there are several, the one compiled last.
#[must_use]
pub fn library(name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let files = fs::read_dir(test.parent()?).ok()?.flatten();
    let start = format!("lib{name}-");
    let named = files.filter(|file| {
        let file = file.file_name();
        file.to_str().is_some_and(|file| file.starts_with(&start) && file.ends_with(".rlib"))
    });
    named.max_by_key(|file| file.metadata().and_then(|data| data.modified()).ok()).map(|file| file.path())
}

/// A `rustc` command with options that make a library and its dependencies available.
///
/// If the path of `library` has no parent folder.
#[must_use]
pub fn rustc_with(name: &str, library: &Path) -> Command {
    let mut rustc = Command::new("rustc");
    rustc.arg("--edition=2024");
    rustc.arg(format!("-Ldependency={}", library.parent().expect("a library is in a folder").display()));
    rustc.arg(format!("--extern={name}={}", library.display()));
    rustc
}
