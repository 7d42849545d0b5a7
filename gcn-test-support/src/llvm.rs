//! Finds LLVM's tools, for all tests that compare with LLVM.

use std::path::PathBuf;

use crate::skipped;

/// The major version whose output the tests expect.
const VERSION: &str = "22";

/// How to install everything that the tests use.
const REMEDY: &str =
    "install LLVM 22 (Debian and Ubuntu: apt-get install llvm-22 lld-22 clang-22 clang-tools-22)";

/// Path of a tool; if it is not installed, reports the running test as [`skipped`] and returns `None`.
///
/// If the tool is not installed although `GCN_REQUIRE_LLVM=1` requires it.
pub fn tool(name: &str) -> Option<PathBuf> {
    let versioned = format!("{name}-{VERSION}");
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|f| f.join(&versioned)).find(|p| p.is_file());
    if found.is_none() {
        let required = std::env::var_os("GCN_REQUIRE_LLVM").is_some_and(|v| v == "1");
        assert!(!required, "`{versioned}` is not in PATH, but GCN_REQUIRE_LLVM=1");
        skipped(&format!("`{versioned}` is not in PATH"), REMEDY);
    }
    found
}
