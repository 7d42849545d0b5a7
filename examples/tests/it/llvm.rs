//! LLVM's tools, if they are installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

pub use gcn_test_support::llvm::tool;

/// A folder that is removed when the value is dropped.
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
        // Errors are ignored, because the system's temporary folder is cleaned anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a tool that must succeed without output on stderr; returns its stdout.
pub fn run(tool: &Path, arguments: &[&str], files: &[&Path]) -> String {
    let output = Command::new(tool).args(arguments).args(files).output();
    let Output { status, stdout, stderr } = output.unwrap_or_else(|e| panic!("{}: {e}", tool.display()));
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success() && stderr.is_empty(), "{} says: {stderr}", tool.display());
    String::from_utf8(stdout).unwrap()
}
