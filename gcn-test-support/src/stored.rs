//! Files in the repository that tests make and compare: pages with examples, golden data.

use std::path::Path;
use std::{fs, thread};

use crate::env;

/// Compares the stored file with `fresh`, or writes it with `GCN_BLESS=1`.
///
/// # Panics
/// If they differ; the message names the first line that does, and the variable.
#[track_caller]
pub fn assert_current(path: impl AsRef<Path>, fresh: &str) {
    let path = path.as_ref();
    if env::bless() {
        fs::write(path, fresh).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let stored = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if stored == fresh {
        return;
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
    panic!(
        "{} is out of date from line {line} on; run the test {test} with GCN_BLESS=1 to write it\n  stored: {old}\n  fresh:  {new}",
        path.display()
    );
}
