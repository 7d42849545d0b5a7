//! `gcn run`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use gcn_sim::{MatrixArithmetic, Mode};
use serde_json::{Value, json};

use crate::commands;
use crate::commands::detection::Detection;
use crate::failure::{Failure, complain};

/// Runs a HIP program on the CPU, with the simulator as its GPU.
///
/// The program may come from clang, hipcc or another compiler, for gfx900, gfx906, gfx908, gfx90a, gfx942 or gfx950; it need not be
/// changed. It loads `libamdhip64.so` of gcn-hip instead of ROCm's. Errors of kernels are reported on standard error, with the source line
/// if the program was compiled with -g.
///
/// Signals are passed on to the program. Exit code: that of the program; 128 plus the signal's number if a signal ended it; 3 if the
/// program succeeded and there were findings of --strict, --faithful or --sanitize; 2 if it cannot be started.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The GPU to simulate; by default the first one that the program was compiled for
    #[arg(long, value_name = "TARGET", value_parser = commands::target)]
    target: Option<gcn_isa::Target>,
    /// The number of GPUs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    devices: Option<u8>,
    #[command(flatten)]
    detection: Detection,
    /// Count cycles by the model of docs/timing.md; events and the table at the end then have its times
    #[arg(long, conflicts_with_all = ["strict", "faithful", "sanitize"])]
    timed: bool,
    /// Parameters of the model, from a table in the form of gcn-sim/data/timing.tsv, such as `gcn probe --timing` writes
    #[arg(long, value_name = "TABLE.tsv", requires = "timed")]
    params: Option<PathBuf>,
    /// Write a record of every launch to a file, as JSON
    #[arg(long, value_name = "OUT.json")]
    report: Option<PathBuf>,
    /// Report every launch on standard error
    #[arg(long)]
    trace: bool,
    /// The largest number of instructions that a wave may execute
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// How matrix instructions add products: like the hardware, where a model of it was validated, or as a chain of fused multiply-adds,
    /// which is faster
    #[arg(long, value_name = "hardware|chain")]
    matrix: Option<MatrixArithmetic>,
    /// Run workgroups one after the other, in order
    #[arg(long)]
    sequential: bool,
    /// End the program if a kernel fails
    #[arg(long)]
    abort: bool,
    /// libamdhip64.so of gcn-hip; by default the one next to this command, or in ../lib
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  gcn run -- ./saxpy                               a HIP program without a GPU
  gcn run --sanitize all -- ./saxpy 1000           races, bounds, undefined values
  gcn run --target gfx90a --timed -- ./saxpy       cycles of each kernel
  gcn run --report out.json -- python3 train.py    every launch, as JSON";

/// The names under which programs look for the library: programs for HIP 5, 6 and 7, and programs that load it at run time. The library
/// also contains the functions of `libhiprtc.so`.
const NAMES: [&str; 2] = ["libamdhip64.so", "libhiprtc.so"];
const SUFFIXES: [&str; 4] = ["", ".5", ".6", ".7"];

/// The exit code if there are findings and the program itself succeeds.
const FOUND: u8 = 3;

/// Runs the program and waits for it.
pub fn run(args: &Args) -> Result<(), Failure> {
    let library = library(args.library.as_deref())?;
    let folder = tempfile::tempdir().map_err(unusable("cannot make a temporary folder"))?;
    for name in NAMES.iter().flat_map(|name| SUFFIXES.map(|suffix| format!("{name}{suffix}"))) {
        link(&library, &folder.path().join(name)).map_err(unusable("cannot link the library"))?;
    }
    let lines = folder.path().join("launches");
    let mut command = Command::new(&args.program[0]);
    command.args(&args.program[1..]).envs(settings(args));
    if let Some(path) = &args.params {
        // A relative path would be invalid if the program changed its directory.
        let path = path.canonicalize().map_err(unusable(&format!("cannot read {}", path.display())))?;
        command.env("GCN_HIP_PARAMS", path);
    }
    command.env("LD_LIBRARY_PATH", search_path(folder.path()));
    if args.report.is_some() || args.timed {
        command.env("GCN_HIP_REPORT", &lines);
    }
    let found = folder.path().join("findings");
    if args.detection.mode() != Mode::Functional || !args.detection.sanitize().is_empty() {
        command.env("GCN_HIP_FINDINGS", &found);
    }
    command.env("GCN_HIP_PARENT", std::process::id().to_string());
    let program = args.program[0].to_string_lossy();
    let status = wait(&mut command).map_err(unusable(&format!("cannot start {program}")))?;
    let code = match exit_code(status) {
        0 if found.exists() => FOUND,
        code => code,
    };
    // A missing file means that there was no launch.
    let text = std::fs::read_to_string(&lines).unwrap_or_default();
    let launches: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if args.timed {
        complain(&table(&launches));
    }
    if let Some(path) = &args.report {
        let words: Vec<_> = args.program.iter().map(|word| word.to_string_lossy()).collect();
        let report = json!({ "program": words, "exit_code": code, "launches": launches });
        let text = serde_json::to_string_pretty(&report).unwrap_or_default() + "\n";
        std::fs::write(path, text).map_err(unusable(&format!("cannot write {}", path.display())))?;
    }
    if code == 0 { Ok(()) } else { Err(Failure::silent(code)) }
}

/// Starts the program and waits for it; signals to this process are passed on to the program.
#[cfg(unix)]
fn wait(command: &mut Command) -> std::io::Result<ExitStatus> {
    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

    // Installed before the program starts, so that no signal ends this process alone.
    let mut signals =
        signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for number in signals.forever() {
                // If both processes are in the foreground, the terminal sends these two signals to the program as well.
                let sent_already = matches!(number, SIGINT | SIGQUIT) && in_foreground();
                if let Some(signal) = Signal::from_named_raw(number).filter(|_| !sent_already) {
                    // An error means that the program has already ended.
                    let _ = kill_process(pid, signal);
                }
            }
        });
        let status = child.wait();
        handle.close();
        status
    })
}

/// True if this process and its children are in the terminal's foreground process group, to which the terminal sends signals.
#[cfg(unix)]
fn in_foreground() -> bool {
    rustix::termios::tcgetpgrp(rustix::stdio::stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}

#[cfg(not(unix))]
fn wait(command: &mut Command) -> std::io::Result<ExitStatus> {
    command.status()
}

/// Converts an I/O error to the command's failure.
fn unusable(what: &str) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::usage(format!("{what}: {error}"))
}

/// The environment variables through which the options are passed to the library.
fn settings(args: &Args) -> Vec<(&'static str, String)> {
    let flag = |set: bool| set.then(|| "1".to_owned());
    let detection = &args.detection;
    let mode = match detection.mode() {
        Mode::Functional => None,
        Mode::Strict => Some("strict"),
        Mode::Faithful => Some("faithful"),
    };
    let sanitize = detection.sanitize();
    let all = [
        ("GCN_HIP_TARGET", args.target.map(|t| t.to_string())),
        ("GCN_HIP_DEVICES", args.devices.map(|n| n.to_string())),
        ("GCN_HIP_MODE", mode.map(str::to_owned)),
        ("GCN_HIP_LEVEL", mode.map(|_| detection.level.to_string())),
        ("GCN_HIP_SANITIZE", (!sanitize.is_empty()).then(|| sanitize.to_string())),
        ("GCN_HIP_TIMED", flag(args.timed)),
        ("GCN_HIP_TRACE", flag(args.trace)),
        ("GCN_HIP_LIMIT", args.limit.map(|n| n.to_string())),
        ("GCN_HIP_MATRIX", args.matrix.map(|matrix| matrix.to_string())),
        ("GCN_HIP_PARALLEL", args.sequential.then(|| "0".to_owned())),
        ("GCN_HIP_ABORT", flag(args.abort)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The library that `--library` names, or else the one installed with this command.
fn library(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let remedy = "build it with `cargo build --release -p gcn-hip`, or name it with --library";
    if let Some(path) = given {
        let found = path.canonicalize();
        return found.map_err(|e| Failure::usage(format!("{}: {e}; {remedy}", path.display())));
    }
    let command = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    let folder = command.parent().unwrap_or(Path::new("."));
    let places = [folder.join(NAMES[0]), folder.join("../lib").join(NAMES[0])];
    let found = places.iter().find(|path| path.is_file());
    let missing = || Failure::usage(format!("{} is not beside this command; {remedy}", NAMES[0]));
    found.cloned().ok_or_else(missing)
}

fn search_path(folder: &Path) -> OsString {
    let mut path = folder.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    path
}

#[cfg(unix)]
fn link(library: &Path, name: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(library, name)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("the HIP runtime is for Linux"))
}

fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128u8.wrapping_add(signal as u8);
    }
    status.code().map_or(1, |code| code as u8)
}

/// The table of launches and cycles of each kernel.
fn table(launches: &[Value]) -> String {
    let mut kernels: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for launch in launches {
        let sum = kernels.entry(launch["kernel"].as_str().unwrap_or_default()).or_default();
        *sum = (sum.0 + 1, sum.1 + launch["cycles"].as_u64().unwrap_or(0));
    }
    let mut rows: Vec<_> = kernels.into_iter().collect();
    rows.sort_by_key(|(name, (_, cycles))| (std::cmp::Reverse(*cycles), *name));
    let mut out = format!("{:>9} {:>14}  kernel\n", "launches", "cycles");
    for (name, (count, cycles)) in rows {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{count:>9} {cycles:>14}  {name}");
    }
    out
}
