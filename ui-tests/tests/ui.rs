//! Tests the compiler's messages. Each program in `fail/` must not compile, with exactly the messages in its `.stderr`
//! file; the programs in `tests/pass/` are the correct forms and compile. After an intended change of a message, run
//! with `GCN_BLESS=1` and read the diff. `GCN_UI=enum` runs the programs with `enum` in their names.
//!
//! rustc is called directly, with the library that `cargo test --workspace` compiled last, because cargo would compile
//! the library again.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use gcn_test_support::{compiled, env, stored};

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn ui() {
    let library = compiled::library("gcn_dsl").expect("the tests link gcn-dsl");
    let only: String = env::setting("GCN_UI", String::new());
    let files = fs::read_dir(Path::new(FOLDER).join("fail")).expect("the programs").flatten();
    let programs: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .filter(|path| path.file_stem().is_some_and(|name| name.to_string_lossy().contains(&only)))
        .collect();
    assert!(!programs.is_empty(), "no program has {only} in its name");
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(fault) = fails_as_stored(program, &library) {
                faults.lock().expect("no thread panics").push(fault);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(work);
        }
    });
    let faults = faults.into_inner().expect("no thread panics");
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), programs.len(), faults.join("\n"));
}

fn fails_as_stored(program: &Path, library: &Path) -> Result<(), String> {
    let name = program.strip_prefix(FOLDER).expect("a program of this package");
    let mut rustc = compiled::rustc_with("gcn_dsl", library);
    rustc.args(["--emit=metadata", "--out-dir", env!("CARGO_TARGET_TMPDIR")]).arg(name).current_dir(FOLDER);
    let output = rustc.output().map_err(|error| format!("rustc: {error}"))?;
    if output.status.success() {
        return Err(format!("{} compiles", name.display()));
    }
    stored::current(program.with_extension("stderr"), &stable(&String::from_utf8_lossy(&output.stderr)))
}

/// rustc's output without what can change while the message stays the same: the width of the margin (the digits of the
/// largest line number), positions and lines of code outside the program, paths of the machine, and the summary at the
/// end.
fn stable(said: &str) -> String {
    let said = said.split("error: aborting due to").next().expect("the part before");
    let (mut text, mut margin, mut foreign) = (String::new(), 0, false);
    for line in said.lines().filter(|line| !line.contains("type has been written to")) {
        let below = line.trim_start();
        if let Some((arrow @ ("-->" | ":::"), path)) = below.split_once(' ') {
            margin = line.len() - below.len();
            foreign = !path.starts_with("fail/");
            let path = if foreign { library_path(path) } else { path.to_owned() };
            text += &format!("    {arrow} {path}\n");
            continue;
        }
        if line.starts_with(char::is_alphabetic) {
            foreign = false;
        }
        let inside = line.starts_with(|c: char| c == ' ' || c.is_ascii_digit());
        let (number, code) = if inside { line.split_at(margin.min(line.len())) } else { ("", line) };
        let is_source = line == "..." || code.starts_with(" |") || !number.trim().is_empty();
        if foreign && is_source {
            continue;
        }
        let number = number.trim();
        // The number of types that implement a trait changes with each new type.
        let code = if code.ends_with(" others") { "         and others" } else { code };
        text += if inside { format!("{number:>4}{code}") } else { code.to_owned() }.trim_end();
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// A position outside the program, without its line and without what precedes the crate or the folder of generated
/// files.
fn library_path(place: &str) -> String {
    let path = place.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    if let Some((_, generated)) = path.split_once("/out/") {
        return format!("$OUT_DIR/{generated}");
    }
    if let Some((_, standard)) = path.split_once("/library/") {
        return format!("$RUST/{standard}");
    }
    let Some((_, package)) = path.split_once("/registry/src/") else { return path.to_owned() };
    // The registry, the crate with its version, the file.
    let mut parts = package.splitn(3, '/').skip(1);
    let (name, file) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("$CARGO/{}/{file}", name.rsplit_once('-').map_or(name, |(name, _version)| name))
}
