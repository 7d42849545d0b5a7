//! Tests programs in C, C++ and Python that launch one of our kernels: the snippets in docs/code-object.md and docs/hip.md, unchanged.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gcn_dsl::prelude::*;
use gcn_test_support::skipped;

use crate::{TARGET, file, saxpy};

/// A folder with `saxpy.hsaco`, and with the library under the names that linkers and loaders look for. It is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("gcn-hip-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for link in ["libamdhip64.so", "libamdhip64.so.7"] {
            std::os::unix::fs::symlink(file(), path.join(link)).unwrap();
        }
        std::fs::write(path.join("saxpy.hsaco"), saxpy.build(Target::GFX942).unwrap().code_object()).unwrap();
        Folder(path)
    }

    /// Runs a command in the folder, with gfx942 as the target. If the command does not exist, returns `None` and reports the running test
    /// as [`skipped`].
    fn run(&self, command: &str, arguments: &[&str]) -> Option<Output> {
        let mut command = Command::new(command);
        command.args(arguments).current_dir(&self.0).env(TARGET, "gfx942").env("LD_LIBRARY_PATH", &self.0);
        match command.output() {
            Ok(output) => Some(output),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let program = command.get_program().to_string_lossy();
                skipped(&format!("`{program}`: {error}"), &format!("install `{program}`"));
                None
            }
            Err(error) => panic!("{command:?}: {error}"),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The first code block in this language that follows the text `after` in a page.
fn snippet<'t>(page: &'t str, after: &str, language: &str) -> &'t str {
    let (_, rest) = page.split_once(after).unwrap();
    let (_, rest) = rest.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[track_caller]
fn succeeded(output: &Output, expected: &str) {
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out == expected, "{out}{errors}");
}

#[test]
fn the_page_launches_from_c_and_cpp() {
    let folder = Folder::new("readme");
    let page = include_str!("../../../docs/code-object.md");
    std::fs::write(folder.0.join("snippet.h"), snippet(page, "## Launching from C or C++", "c")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/readme.c");
    let source = source.to_str().unwrap();
    for (compiler, language) in [("cc", "c"), ("c++", "c++")] {
        let common = ["-Wall", "-Wextra", "-Werror", "-I.", "-DSNIPPET=\"snippet.h\"", "-x", language];
        let rest = [source, "-o", "readme", "-L.", "-lamdhip64"];
        let Some(compiled) = folder.run(compiler, &[&common[..], &rest].concat()) else { continue };
        succeeded(&compiled, "");
        succeeded(&folder.run("./readme", &[]).unwrap(), "hipSuccess\n");
    }
}

#[test]
fn the_page_launches_from_python() {
    let folder = Folder::new("python");
    let page = include_str!("../../../docs/hip.md");
    std::fs::write(folder.0.join("saxpy.py"), snippet(page, "## From Python", "python")).unwrap();
    if let Some(ran) = folder.run("python3", &["saxpy.py"]) {
        succeeded(&ran, "4.0\n");
    }
}
