//! `gcn new`.

use std::path::{Path, PathBuf};

use gcn_isa::Target;

use crate::commands;
use crate::failure::Failure;
use crate::file;

/// Creates a Rust project with a kernel, a program that runs it, a test and a workflow for CI.
///
/// `cargo test` in the new folder runs the kernel in the simulator; `cargo run` also writes its assembly and code
/// object to `target/gcn`. With `--features hip` the program runs on a GPU.
///
/// The project depends on the checkout from which `gcn` was compiled, or, if there is none, on the version on crates.io.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder; its last component is the name of the package
    #[arg(value_name = "NAME")]
    path: String,
    /// The target for which the program and its test build
    #[arg(long, value_name = "T", value_parser = commands::target, default_value = "gfx942")]
    target: Target,
}

const EXAMPLES: &str = "\
Examples:
  gcn new my-kernels && cd my-kernels && cargo test
  gcn new radeon --target gfx1100";

/// The files of a project, with their text before names are filled in.
const FILES: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("new/Cargo.toml.in")),
    ("src/lib.rs", include_str!("new/lib.rs.in")),
    ("src/main.rs", include_str!("new/main.rs.in")),
    ("tests/axpy.rs", include_str!("new/test.rs.in")),
    (".github/workflows/ci.yml", include_str!("new/ci.yml.in")),
];

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes the project.
pub fn run(args: &Args) -> Result<(), Failure> {
    let folder = Path::new(&args.path);
    let name = folder.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    check(name)?;
    if folder.exists() {
        return Err(Failure::usage(format!("{} exists already", folder.display())));
    }
    let library = Library::beside(Path::new(env!("CARGO_MANIFEST_DIR")));
    let filled = |text: &str| {
        text.replace("{{name}}", name)
            .replace("{{krate}}", &name.replace('-', "_"))
            .replace("{{dependency}}", &library.dependency())
            .replace("{{checkout}}", library.checkout())
            .replace("{{action}}", &library.action())
            .replace(
                "{{workspace}}",
                if is_in_a_workspace(folder) {
                    "\n[workspace] # not a member of the one around it\n"
                } else {
                    ""
                },
            )
            .replace("{{TARGET}}", &args.target.name().to_ascii_uppercase())
    };
    for (path, text) in FILES {
        write(&folder.join(path), &filled(text))?;
    }
    write(&folder.join(".gitignore"), "/target\n")?;
    let hint = format!("made {0}; try `cd {0} && cargo test`\n", folder.display());
    file::print(hint.as_bytes())
}

/// The source from which the project takes gcn-dsl. Manifest and workflow must use the same source.
#[derive(Debug, PartialEq)]
enum Library {
    /// The crate in a checkout, by path.
    Checkout(PathBuf),
    /// The release on crates.io with the version of this `gcn`.
    Release,
}

impl Library {
    /// The library for a `gcn` that was compiled in the folder `package`: in a checkout, the crate in the sibling folder. A package from
    /// crates.io has no such sibling, since cargo unpacks packages into folders whose names contain versions.
    fn beside(package: &Path) -> Library {
        let library = package.with_file_name("gcn-dsl");
        if library.join("Cargo.toml").is_file() { Library::Checkout(library) } else { Library::Release }
    }

    /// The entry in `[dependencies]`.
    fn dependency(&self) -> String {
        match self {
            Library::Checkout(library) => format!("gcn-dsl = {{ path = '{}' }}", library.display()),
            Library::Release => format!("gcn-dsl = \"{VERSION}\""),
        }
    }

    /// The steps of the workflow that check out the library.
    fn checkout(&self) -> &'static str {
        match self {
            Library::Checkout(_) => include_str!("new/checkout.yml.in"),
            Library::Release => "",
        }
    }

    /// The GitHub action that installs `gcn` and checks the code, from the same source as the library.
    fn action(&self) -> String {
        match self {
            Library::Checkout(_) => "./gcn-dsl".to_owned(),
            Library::Release => format!("gcn-dsl/gcn-dsl@v{VERSION}"),
        }
    }
}

/// True if cargo would consider a project in this folder a member of an enclosing workspace.
fn is_in_a_workspace(folder: &Path) -> bool {
    let Ok(folder) = std::path::absolute(folder) else { return false };
    let is_workspace = |manifest: String| manifest.lines().any(|line| line.starts_with("[workspace"));
    folder.ancestors().skip(1).any(|f| std::fs::read_to_string(f.join("Cargo.toml")).is_ok_and(is_workspace))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::usage(format!("cannot write {}: {error}", path.display()));
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    std::fs::write(path, text).map_err(failed)
}

/// Rust's keywords, strict and reserved, of every edition ("The Rust Reference", Keywords). A crate cannot be imported under such a name.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "Self",
    "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Accepts a package name if cargo accepts it and it does not collide with paths in the generated program.
fn check(name: &str) -> Result<(), Failure> {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !first || !plain {
        return Err(Failure::usage(format!(
            "`{name}` cannot be the name of a package: it is made of letters, digits, `-` and `_`, and begins with a letter"
        )));
    }
    if KEYWORDS.contains(&name) {
        return Err(Failure::usage(format!(
            "`{name}` cannot be the name of a package: it is a keyword of Rust"
        )));
    }
    if matches!(name, "gcn-dsl" | "gcn_dsl" | "test" | "core" | "std" | "alloc" | "self" | "super" | "crate")
    {
        return Err(Failure::usage(format!("`{name}` cannot be the name of a package: the name is taken")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_that_of_the_checkout_or_a_version() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let library = here.with_file_name("gcn-dsl");
        assert_eq!(
            Library::beside(here).dependency(),
            format!("gcn-dsl = {{ path = '{}' }}", library.display())
        );
        let unpacked = Library::beside(Path::new("/registry/src/gcn-tools-0.1.0"));
        assert_eq!(unpacked.dependency(), format!("gcn-dsl = \"{VERSION}\""));
        assert_eq!(unpacked.action(), format!("gcn-dsl/gcn-dsl@v{VERSION}"));
        assert_eq!(unpacked.checkout(), "");
    }

    #[test]
    fn a_project_inside_a_workspace_is_none_of_its_members() {
        assert!(is_in_a_workspace(Path::new("my-kernels")));
        assert!(!is_in_a_workspace(&std::env::temp_dir().join("my-kernels")));
    }
}
