//! Files in the repository that tests generate and compare with: pages with examples, golden data.

use std::path::Path;
use std::{fs, thread};

use crate::env;

/// Compares the stored file with `fresh`; with `GCN_BLESS=1`, overwrites it.
///
/// # Panics
/// If they differ; the message names the first line that differs, and the variable.
#[track_caller]
pub fn assert_current(path: impl AsRef<Path>, fresh: &str) {
    current(path, fresh).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Like [`assert_current`], but returns the message, for tests that compare many files and report all differences.
///
/// # Errors
/// If they differ, or the file cannot be read or written.
pub fn current(path: impl AsRef<Path>, fresh: &str) -> Result<(), String> {
    let path = path.as_ref();
    let named = |error| format!("{}: {error}", path.display());
    if env::bless() {
        return fs::write(path, fresh).map_err(named);
    }
    let stored = fs::read_to_string(path).map_err(named)?;
    if stored == fresh {
        return Ok(());
    }
    let (mut old, mut new, mut line) = (stored.lines(), fresh.lines(), 1);
    let (old, new) = loop {
        match (old.next(), new.next()) {
            (Some(old), Some(new)) if old == new => line += 1,
            (None, None) => break ("<line endings>", "<line endings>"),
            (old, new) => break (old.unwrap_or("<end>"), new.unwrap_or("<end>")),
        }
    };
    let test = thread::current().name().unwrap_or_default().to_owned();
    Err(format!(
        "{} is out of date from line {line} on; run the test {test} with GCN_BLESS=1 to write it\n  stored: {old}\n  fresh:  {new}",
        path.display()
    ))
}
