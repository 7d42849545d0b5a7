//! LLVM's tools, where they are installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// The version whose output these tests were written against.
const VERSION: &str = "22";

/// Path of a tool, `None` (with a loud line) where it is not installed.
///
/// # Panics
/// If it is not installed although `GCN_REQUIRE_LLVM=1` says that it must be.
pub fn tool(name: &str) -> Option<PathBuf> {
    let versioned = format!("{name}-{VERSION}");
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|f| f.join(&versioned)).find(|p| p.is_file());
    if found.is_none() {
        let required = std::env::var_os("GCN_REQUIRE_LLVM").is_some_and(|v| v == "1");
        assert!(!required, "`{versioned}` is not in PATH, but GCN_REQUIRE_LLVM=1");
        eprintln!("SKIPPED: `{versioned}` is not in PATH; install LLVM {VERSION} to compare with it");
    }
    found
}

/// A folder that goes away with the value.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new empty folder.
    pub fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("gcn-examples-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// A path in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on it: the system's temporary folder is cleaned anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a tool that must succeed without a word on stderr; gives its stdout.
pub fn run(tool: &Path, arguments: &[&str], files: &[&Path]) -> String {
    let output = Command::new(tool).args(arguments).args(files).output();
    let Output { status, stdout, stderr } = output.unwrap_or_else(|e| panic!("{}: {e}", tool.display()));
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success() && stderr.is_empty(), "{} says: {stderr}", tool.display());
    String::from_utf8(stdout).unwrap()
}
