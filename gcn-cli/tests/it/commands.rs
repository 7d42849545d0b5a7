//! Checks that each command in a shell block of a page or of a `--help` runs, unless a short list gives the reason why it cannot.
//! (`console` blocks, which also show output, are run by the tests `book` and `docs`.)

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use gcn_test_support::skip::has_program;
use gcn_test_support::skipped;

use crate::gcn;

/// Commands that do not run here: the start of each command, and which other test runs it or why none can.
const NOT_HERE: [(&str, &str); 29] = [
    ("cargo ", "compiles or installs; .ci/run does that"),
    ("RAY_ADDRESS=", "a cluster; gcn-py/tests have one"),
    ("GCN_", "tests that take hours, or programs of others"),
    ("rocprofv3 ", "a GPU"),
    ("hipcc ", "ROCm"),
    ("git clone ", "the network"),
    ("pip install ", "the network"),
    ("pytest ", "gcn-py/tests have such runs"),
    ("python -m gcn_tools.cluster ", "a cluster; gcn-py/tests have one"),
    ("ray start ", "a cluster"),
    ("parallel ", "GNU parallel; tests/it/tune.rs runs the shards"),
    ("gcn tune variants -o part$SLURM", "Slurm; tests/it/tune.rs runs the shards"),
    ("gcn run ", "a HIP program; tests/it/run.rs has some"),
    ("gcn probe --page", "minutes; gcn-probe's tests run the suites"),
    ("gcn probe adopt", "the report of a GPU; gcn-probe/tests/adopt.rs adopts one"),
    ("gcn probe compare", "the reports of two GPUs; the documentation of gcn-probe compares two"),
    ("target/release/gcn run ", "a HIP program; tests/it/run.rs has some"),
    ("gcn lsp", "an editor; tests/it/lsp.rs is one"),
    ("gcn new my-kernels && cd my-kernels && cargo test", "compiles; tests/it/new.rs does that"),
    ("playground/build", "WebAssembly; .ci/run does that"),
    ("node playground/", "a browser; .ci/run does that"),
    (".ci/run", "everything"),
    ("python3 gcn-hip/tests/tinygrad.py", "a checkout of tinygrad, and pytest"),
    ("python3 gcn-hip/tests/random_instructions.py", "a checkout of tinygrad"),
    ("python3 gcn-hip/tests/conformance.py", "a checkout of AMD's hip-tests, and an hour"),
    (".ci/asan", "compiles with another toolchain"),
    ("gcn-isa/tests/mutants/run.py", "a day"),
    ("gcn check ~/.triton/cache", "the user's own files; docs/ci.md has the same with a folder"),
    ("cd ", "another folder"),
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// The pages whose `sh` blocks contain commands.
fn pages() -> Vec<PathBuf> {
    let root = workspace();
    let in_folder = |folder: &str| {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder");
        entries.map(|e| e.expect("an entry").path()).filter(|p| p.extension().is_some_and(|e| e == "md"))
    };
    let mut pages: Vec<PathBuf> =
        ["docs", "docs/book/src", "gcn-dsl/guide"].into_iter().flat_map(in_folder).collect();
    let folders = [
        "",
        "gcn-cli",
        "gcn-dsl",
        "gcn-emit",
        "gcn-hip",
        "gcn-isa",
        "gcn-py",
        "gcn-sim",
        "playground",
        "editors/vscode",
    ];
    pages.extend(folders.iter().map(|folder| root.join(folder).join("README.md")));
    pages.push(root.join("CONTRIBUTING.md"));
    pages.sort();
    pages
}

/// The lines of a text; a line that ends with `\` is joined with the next one.
fn joined(lines: &str) -> Vec<String> {
    let mut joined: Vec<String> = vec![String::new()];
    for line in lines.lines() {
        let last = joined.last_mut().expect("never empty");
        match line.trim().strip_suffix('\\') {
            Some(begin) => *last += begin,
            None => {
                *last += line.trim();
                joined.push(String::new());
            }
        }
    }
    joined.retain(|line| !line.is_empty());
    joined
}

/// The commands of each `sh` block of a page.
fn blocks(page: &str) -> Vec<Vec<String>> {
    let mut parts = page.split("```sh\n");
    parts.next();
    let inside = parts.map(|part| part.split("```").next().expect("one part"));
    let command = |line: &String| line.split(" #").next().unwrap_or_default().trim().to_owned();
    inside
        .map(|block| {
            joined(block).iter().map(command).filter(|c| !c.is_empty() && !c.starts_with('#')).collect()
        })
        .collect()
}

/// The examples in a command's `--help`; two blanks separate a command from its description.
fn examples(name: &str) -> Vec<String> {
    let help = gcn(&[name, "--help"]).text();
    let examples = help.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{name} has no examples"));
    joined(examples)
        .iter()
        .map(|line| line.split("  ").next().unwrap_or_default().trim().to_owned())
        .collect()
}

/// A folder with the files that the commands name.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        // A stand-in for clang: whatever its arguments, it prints the kernel.
        folder.write("bin/clang", "#!/bin/sh\ncat kernel.s\n");
        folder.write("inc/empty.inc", "");
        // The folders in which shells look for completions.
        for place in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"] {
            std::fs::create_dir_all(folder.path(place)).expect("a folder");
        }
        let made = Command::new("chmod").arg("+x").arg(folder.path("bin/clang")).status();
        assert!(made.expect("chmod").success());
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    fn shell(&self, command: &str) -> std::process::Output {
        let gcn = Path::new(env!("CARGO_BIN_EXE_gcn")).parent().expect("a folder").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [gcn, self.path("bin")].into_iter().chain(std::env::split_paths(&path));
        Command::new("sh")
            .args(["-c", command])
            .current_dir(self.0.path())
            .env("PATH", std::env::join_paths(path).expect("paths"))
            .env("HOME", self.0.path())
            .env("NO_COLOR", "1")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("a shell")
    }

    /// Creates the files that a command reads, unless an earlier command has created them.
    fn provide(&self, command: &str) {
        let words: Vec<&str> = command.split([' ', '\'']).filter(|w| !w.is_empty()).collect();
        let after = |option: &str| words.iter().skip_while(|w| **w != option).nth(1).copied();
        let kernel = after("--kernel").unwrap_or("saxpy");
        let needs_target = !words.contains(&"--target");
        let samples = command.starts_with("gcn annotate");
        let source = |target: &str| source(if samples { "sum" } else { kernel }, target);
        let text = source("gfx942");
        let text = if needs_target || samples { text } else { without_target(&text) };
        self.write("kernel.s", &text);
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).map_or("", |at| words[at]);
            // A spec that an earlier command wrote as a template is replaced by one that is filled in.
            let written = self.path(word).exists() && !word.ends_with(".s") && before != "--args";
            if matches!(before, "-o" | ">" | "--set") || written {
                continue;
            }
            match word.rsplit_once('.').map(|w| w.1) {
                _ if before == "--args" && samples => {
                    self.write(word, include_str!("../../../docs/book/examples/sum.json"));
                }
                _ if before == "--args" && words.contains(&"--case") => {
                    self.write(word, format!(r#"{{"kernel": "saxpy", "short": {0}, "long": {0}}}"#, spec()));
                }
                _ if before == "--args" => self.write(word, spec()),
                _ if matches!(*word, "build/" | "kernels/" | "triton-cache") => {
                    self.write(&format!("{word}/k.hsaco"), object(&source("gfx942")));
                }
                _ if *word == "variants" => self.variants(),
                Some("s") => self.write(word, &text),
                Some("hsaco" | "co" | "o") => self.write(word, object(&source("gfx942"))),
                Some("so" | "bundle") => self.write(word, bundle(&["gfx942", "gfx90a"])),
                Some("csv") => {
                    self.write(word, include_str!("../../../docs/book/examples/made-host-trap.csv"));
                }
                Some("json") if samples => {
                    self.write(word, include_str!("../../../docs/book/examples/made-stochastic.json"));
                }
                Some("json") if word.starts_with("part") => {
                    self.variants();
                    assert!(self.shell(&format!("gcn tune variants -o {word}")).status.success());
                }
                Some("txt") => self.write(word, "func f:\ns_endpgm\n"),
                _ => {}
            }
        }
    }

    fn variants(&self) {
        self.write("variants/k.hsaco", object(&source("saxpy", "gfx942")));
        let candidate =
            format!(r#"{{"object": "k.hsaco", "name": "saxpy", "problem": [256], "long": {}}}"#, spec());
        self.write("variants/k.tune.json", candidate);
    }
}

/// The source of the kernel with this name: `sum` is the book's kernel, for which there are samples; all other names give the playground's
/// kernel.
fn source(kernel: &str, target: &str) -> String {
    let text = match kernel {
        "sum" => include_str!("../../../docs/book/examples/sum.s").to_owned(),
        _ => include_str!("../../../playground/examples/3-saxpy.s").replace("saxpy", kernel),
    };
    text.replace("gfx942", target)
}

fn without_target(text: &str) -> String {
    text.lines().filter(|line| !line.contains(".amdgcn_target")).map(|line| format!("{line}\n")).collect()
}

/// A spec for a launch of the kernel, with buffers for 16 workgroups.
fn spec() -> &'static str {
    r#"{"grid": 4, "workgroup": 64, "args": {"a": {"f32": 2}, "x": {"buffer": "f32", "count": 1024, "init": "iota"},
        "y": {"buffer": "f32", "count": 1024, "out": true}}}"#
}

fn object(text: &str) -> Vec<u8> {
    let run = crate::gcn_with(&["asm", "-", "-o", "-"], text.as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    run.out
}

/// An offload bundle with the kernel `gemm` for each target (clang's documentation, *Bundled Binary File Layout*).
fn bundle(targets: &[&str]) -> Vec<u8> {
    let objects: Vec<Vec<u8>> = targets.iter().map(|target| object(&source("gemm", target))).collect();
    let ids: Vec<String> =
        targets.iter().map(|target| format!("hipv4-amdgcn-amd-amdhsa--{target}")).collect();
    let mut out = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    out.extend((objects.len() as u64).to_le_bytes());
    let mut at = 32 + ids.iter().map(|id| 24 + id.len()).sum::<usize>();
    for (object, id) in objects.iter().zip(&ids) {
        for number in [at, object.len(), id.len()] {
            out.extend((number as u64).to_le_bytes());
        }
        out.extend(id.as_bytes());
        at += object.len();
    }
    objects.iter().for_each(|object| out.extend(object));
    out
}

/// Runs the commands of a block, one after the other, in one folder. Returns the starts of those commands that are listed as not running
/// here.
fn run(place: &str, block: &[String], has_runtime: bool, faults: &mut Vec<String>) -> BTreeSet<&'static str> {
    let folder = Folder::new();
    let mut left_out = BTreeSet::new();
    for command in block {
        if let Some((begin, _)) = NOT_HERE.iter().find(|(begin, _)| format!("{command} ").starts_with(begin))
        {
            left_out.insert(*begin);
            continue;
        }
        if command.starts_with("gcn probe ") && !has_runtime {
            continue;
        }
        folder.provide(command);
        let run = folder.shell(command);
        let said = String::from_utf8_lossy(&run.stderr);
        if !run.status.success() || said.contains("panicked") {
            faults.push(format!(
                "{place}: {command}\n{said}{}",
                String::from_utf8_lossy(&run.stdout).chars().take(400).collect::<String>()
            ));
        }
    }
    left_out
}

#[test]
fn every_command_that_is_shown_runs() {
    if !has_program("sh") {
        return;
    }
    let mut blocks_run: Vec<(String, Vec<String>)> = Vec::new();
    for page in pages() {
        let Ok(text) = std::fs::read_to_string(&page) else { continue };
        let name = page.strip_prefix(workspace()).expect("a page of the workspace").display().to_string();
        blocks_run.extend(blocks(&text).into_iter().map(|block| (name.clone(), block)));
    }
    let of_pages = blocks_run.len();
    blocks_run.extend(
        crate::shell::commands().into_iter().map(|name| (format!("gcn {name} --help"), examples(&name))),
    );
    // A build of the whole workspace puts it there.
    let has_runtime = Path::new(env!("CARGO_BIN_EXE_gcn")).with_file_name("libamdhip64.so").exists();
    if !has_runtime {
        skipped(
            "`libamdhip64.so` is not beside `gcn`, for the commands of `gcn probe`",
            "cargo build -p gcn-hip",
        );
    }
    let (mut faults, mut left_out, mut commands) = (Vec::new(), BTreeSet::new(), 0);
    for (place, block) in &blocks_run {
        commands += block.len();
        left_out.extend(run(place, block, has_runtime, &mut faults));
    }
    assert!(faults.is_empty(), "{}\n{} of {commands} fail", faults.join("\n"), faults.len());
    assert!(of_pages >= 30 && commands >= 130, "{of_pages} blocks, {commands} commands");
    let stale: Vec<&str> = NOT_HERE.iter().map(|n| n.0).filter(|begin| !left_out.contains(begin)).collect();
    assert!(stale.is_empty(), "nothing begins with {stale:?}");
}

/// The description of a target has the name of a series, not those of its products.
#[test]
fn a_product_is_a_hint_to_its_series() {
    let run = gcn(&["targets", "mi300x"]);
    assert!(run.code == 2 && run.err.contains("`gcn targets mi300` finds similar ones"), "{}", run.err);
    // Several words are one text.
    let run = gcn(&["targets", "mi300", "rdna"]);
    assert!(run.code == 2 && run.err.contains("`gcn targets mi300` finds similar ones"), "{}", run.err);
    let run = gcn(&["targets", "rdna", "4"]);
    let out = String::from_utf8_lossy(&run.out);
    assert!(run.code == 0 && out.contains("gfx1201") && !out.contains("gfx1034"), "{out}");
    assert_eq!(run.out, gcn(&["targets", "rdna 4"]).out);
    let none = gcn(&["targets", "xyzzy"]);
    assert!(none.code == 2 && !none.err.contains("finds similar ones"), "{}", none.err);
}
