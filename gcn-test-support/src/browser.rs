//! Runs a headless browser, for tests of what a page shows.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skipped;

/// The names under which distributions install Chromium.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The properties of the browser window.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Whether the user prefers dark colours.
    pub dark: bool,
}

/// Path of Chromium; if it is not installed, reports the running test as [`skipped`] and returns `None`.
///
/// If Chromium is not installed although `GCN_REQUIRE_CHROMIUM=1` requires it.
#[must_use]
pub fn chromium() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).flat_map(|f| NAMES.map(|n| f.join(n))).find(|p| p.is_file());
    if found.is_none() {
        let required = std::env::var_os("GCN_REQUIRE_CHROMIUM").is_some_and(|v| v == "1");
        assert!(!required, "Chromium is not in PATH, but GCN_REQUIRE_CHROMIUM=1");
        skipped("Chromium is not in PATH", "install Chromium (Debian and Ubuntu: apt-get install chromium)");
    }
    found
}

/// Opens a copy of `page` in `folder`, runs `script` at its end, and returns the text that the script passes to its function `report()`.
///
/// # Panics
/// If the browser does not start, or the script reports nothing; the message contains the browser's output.
#[must_use]
pub fn ask(chromium: &Path, folder: &Path, page: &str, script: &str, window: Window) -> String {
    // The text is returned in an attribute, six digits for each character, so that it can be found without an HTML parser.
    let answer = "const report = text => document.documentElement.setAttribute('data-answer', \
                  [...text].map(c => c.codePointAt(0).toString(16).padStart(6, '0')).join(''));\
                  addEventListener('error', e => report('error: ' + e.message));";
    let file = folder.join("asked.html");
    let head = format!("<head><script>{answer}</script>");
    let tail =
        format!("<script>(async () => {{ {script} }})().catch(e => report('error: ' + e));</script></body>");
    let asked = page.replacen("<head>", &head, 1).replacen("</body>", &tail, 1);
    std::fs::write(&file, asked).expect("the page is written");
    let (width, height) = window.size;
    let run = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--virtual-time-budget=5000",
        ])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("--blink-settings=preferredColorScheme={}", u32::from(!window.dark)))
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("Chromium starts");
    let dom = String::from_utf8_lossy(&run.stdout);
    let digits = dom.split_once("data-answer=\"").and_then(|(_, rest)| rest.split_once('"'));
    let Some((digits, _)) = digits else {
        panic!("the page reported nothing; Chromium said: {}", String::from_utf8_lossy(&run.stderr))
    };
    let numbers = digits.as_bytes().chunks(6).filter_map(|six| std::str::from_utf8(six).ok());
    numbers.filter_map(|six| u32::from_str_radix(six, 16).ok().and_then(char::from_u32)).collect()
}
