//! Libraries of the workspace as its tests were compiled, for tests that call `rustc` themselves: cargo would compile them once
//! more for a project of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library of a crate, by the name that Rust code gives it; the one compiled last if there are several.
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

/// `rustc`, told to take a library and what it depends on.
///
/// # Panics
/// If `library` has no folder.
#[must_use]
pub fn rustc_with(name: &str, library: &Path) -> Command {
    let mut rustc = Command::new("rustc");
    rustc.arg("--edition=2024");
    rustc.arg(format!("-Ldependency={}", library.parent().expect("a library is in a folder").display()));
    rustc.arg(format!("--extern={name}={}", library.display()));
    rustc
}
