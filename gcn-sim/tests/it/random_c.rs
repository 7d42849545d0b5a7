//! Random programs in C, compiled by clang for this machine and for the targets: the simulator must compute the same result as this
//! machine. The test is skipped with a message if clang 22 is not installed; with `GCN_REQUIRE_LLVM=1` that is an error.
//!
//! `GCN_RANDOM_C=FIRST,COUNT cargo test -p gcn-sim-tests --test it random_c` selects other programs by their seeds.

mod expression;
mod generate;

use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gcn_sim::launch::{Buffer, Element, Program, Spec};
use gcn_sim::{Options, Sanitize};
use gcn_test_support::Random;
use gcn_test_support::env::fuzz_count;
use gcn_test_support::llvm::tool;

const CLANG: &str = "clang-22";
pub const TARGETS: [&str; 6] = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"];
const LEVELS: [&str; 3] = ["-O0", "-O1", "-O3"];
/// Options that disable fusing, which may differ between the machines, and that define overflow.
const COMMON: [&str; 7] =
    ["-x", "c", "-std=c23", "-fwrapv", "-ffp-contract=off", "-fno-strict-aliasing", "-w"];

/// Options for the targets, including one that avoids the error in docs/findings.md, C4.
pub const TARGET: [&str; 4] =
    ["--target=amdgcn-amd-amdhsa", "-nogpulib", "-mllvm", "-amdgpu-codegenprepare-break-large-phis=0"];

pub fn compile(source: &Path, to: &Path, arguments: &[&str]) {
    let output =
        Command::new(CLANG).args(COMMON).args(arguments).arg("-o").arg(to).arg(source).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {arguments:?}: {stderr}", source.display());
}

/// The result on this machine.
fn on_host(program: &Path, input: &[u8]) -> Vec<u8> {
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}: {}", program.display(), output.status);
    output.stdout
}

fn on_target(object: &[u8], input: &[u8], options: &Options) -> Result<Vec<u8>, String> {
    let spec = Spec::new([2, 1, 1], [128, 1, 1])
        .next(Buffer::bytes(Element::U32, input.to_vec()))
        .next(Buffer::zeros(Element::U32, 2048))
        .next(Buffer::zeros(Element::U64, 2048).shown());
    let program = Program::load(object, None).map_err(|e| e.to_string())?;
    let mut launch = program.prepare(&spec, ".".as_ref()).map_err(|e| e.to_string())?;
    let stats = launch.run(options).map_err(|e| e.to_string())?;
    if let Some(finding) = stats.findings.first() {
        return Err(finding.to_string());
    }
    Ok(launch.buffer_at(2).unwrap().bytes)
}

/// The first difference between two outputs, described; `None` if they are equal.
fn difference(found: &[u8], expected: &[u8]) -> Option<String> {
    let words =
        |bytes: &[u8]| bytes.chunks(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect::<Vec<_>>();
    let (found, expected) = (words(found), words(expected));
    let at = (0..expected.len()).find(|at| found.get(*at) != expected.get(*at))?;
    let count = (0..expected.len()).filter(|at| found.get(*at) != expected.get(*at)).count();
    Some(format!(
        "item {}, output {}: {:#x} instead of {:#x} ({count} differ)",
        at / 8,
        at % 8,
        found.get(at).copied().unwrap_or_default(),
        expected[at]
    ))
}

/// A folder that is removed when dropped, unless the test has failed.
pub struct Folder(PathBuf);

impl Folder {
    /// A new folder for the program with this seed, of the test `test`.
    pub fn new(test: &str, seed: u64) -> Folder {
        let folder = std::env::temp_dir().join(format!("gcn-sim-{test}-{}-{seed}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // If the folder cannot be removed, the system cleans up its temporary files anyway.
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

fn check(seed: u64) -> Vec<String> {
    let folder = Folder::new("c", seed);
    let file = |name: &str| folder.file(name);
    let source = file("program.c");
    std::fs::write(&source, generate::program(seed)).unwrap();
    let mut random = Random::new(seed ^ 0x5eed);
    let input: Vec<u8> = (0..512).flat_map(|_| (random.next_u64() as u32).to_le_bytes()).collect();
    compile(&source, &file("host"), &["-O0", "-lm"]);
    let expected = on_host(&file("host"), &input);
    let mut wrong = Vec::new();
    // Each program runs on two targets, each with a random optimisation level and mode.
    for _ in 0..2 {
        let (target, level) = (*random.pick(&TARGETS), *random.pick(&LEVELS));
        let mcpu = format!("-mcpu={target}");
        let object = file("object");
        compile(&source, &object, &[&TARGET[..], &[&mcpu, level]].concat());
        let code = std::fs::read(&object).unwrap();
        // Waits that the manuals require and a compiler omits are the subject of other tests (docs/findings.md).
        let sanitized = Options { sanitize: Sanitize::ACCESSES, findings: 1, ..Options::default() };
        let options =
            *random.pick(&[Options::default(), sanitized, Options { parallel: true, ..Options::default() }]);
        let result = on_target(&code, &input, &options);
        if let Some(what) = result.map_or_else(Some, |found| difference(&found, &expected)) {
            wrong.push(format!("program {seed}, {target} {level}: {what}"));
        }
    }
    wrong
}

/// The seeds that `variable` selects in the form `FIRST,COUNT`, if it is set.
pub fn asked(variable: &str) -> Option<Range<u64>> {
    let text = std::env::var(variable).ok()?;
    let (first, count) = text.split_once(',').expect("FIRST,COUNT");
    let [first, count]: [u64; 2] = [first, count].map(|n| n.parse().expect("a number"));
    Some(first..first + count)
}

#[test]
fn random_programs_in_c_compute_what_this_machine_does() {
    if tool("clang").is_none() {
        return;
    }
    let wrong: Vec<String> = asked("GCN_RANDOM_C").unwrap_or(0..fuzz_count(8)).flat_map(check).collect();
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
