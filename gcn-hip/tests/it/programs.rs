//! Tests third-party programs, compiled unchanged and run with the library; each program checks its own results.
//!
//! `GCN_HIP_PROGRAMS` is a folder that contains a folder for each program with a file `cmd.json`: `sources`, `flags`, `args`, and `ok`, a
//! Python regular expression that matches the output of a successful run. `GCN_HIP_SDK` contains the headers (`include`), the device
//! libraries (`bc`) and a library to link with (`lib`). `GCN_HIP_ONLY` is a list of programs to run, `GCN_HIP_SECONDS` the time limit for
//! each run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gcn_test_support::{env, llvm::tool, skipped};
use serde_json::Value;

use crate::api::library;

/// The targets for which programs are compiled.
pub const TARGETS: [&str; 2] = ["gfx90a", "gfx942"];

/// Compiles for the targets of one wave size.
pub struct Compiler<'a> {
    pub clang: &'a Path,
    pub sdk: &'a Path,
    pub targets: &'a [&'a str],
    pub lanes: u32,
}

/// Programs that are known not to report success, with the reasons.
const KNOWN: &str = include_str!("../programs/known.tsv");

struct Program {
    name: String,
    folder: PathBuf,
    command: Value,
}

impl Program {
    fn list(&self, key: &str) -> Vec<&str> {
        self.command[key].as_array().map(|l| l.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    }

    /// Runs a program. Returns true if it reports success, and the seconds that it took.
    fn run(&self, program: &Path, libraries: &Path, target: &str, limit: Duration) -> (bool, f64) {
        let start = Instant::now();
        let output = libraries.join(format!("{}.out", self.name));
        let file = std::fs::File::create(&output).unwrap();
        let mut child = Command::new(program)
            .current_dir(&self.folder)
            .args(self.list("args"))
            .env("LD_LIBRARY_PATH", libraries)
            .env("GCN_HIP_TARGET", target)
            .stdout(Stdio::from(file.try_clone().unwrap()))
            .stderr(Stdio::from(file))
            .spawn()
            .unwrap();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > limit {
                child.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let seconds = start.elapsed().as_secs_f64();
        // The expressions use look-ahead and are evaluated by Python, for which they were written.
        let search = "import re,sys; sys.exit(re.search(sys.argv[1], open(sys.argv[2], errors='replace').read()) is None)";
        let ok = self.command["ok"].as_str().unwrap_or("$^");
        let judged = Command::new("python3").args(["-c", search, ok]).arg(&output).status().unwrap();
        (judged.success() && seconds < limit.as_secs_f64(), seconds)
    }
}

impl Compiler<'_> {
    /// Compiles a program in its folder, with its sources and clang flags.
    pub fn run(&self, folder: &Path, sources: &[&str], flags: &[&str], out: &Path) -> Result<(), String> {
        let joined = |part: &str| self.sdk.join(part).display().to_string();
        let lanes = ["__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__"];
        let result = Command::new(self.clang)
            .current_dir(folder)
            .args(["-w", "-O2", "-std=c++17", "-D__HIP_PLATFORM_AMD__", "-x", "hip"])
            .args(lanes.map(|name| format!("-D{name}={}", self.lanes)))
            .args(self.targets.iter().map(|target| format!("--offload-arch={target}")))
            .arg(format!("--rocm-path={}", self.sdk.display()))
            .arg(format!("--rocm-device-lib-path={}", joined("bc")))
            .args(["-isystem", &joined("include")])
            .args(sources)
            .args(["-x", "none", "-o"])
            .arg(out)
            .args(flags)
            .args(["--hip-link", &format!("-L{}", joined("lib")), "-lamdhip64", "-ldl", "-lpthread"])
            .output()
            .unwrap();
        let error = || String::from_utf8_lossy(&result.stderr).into_owned();
        result.status.success().then_some(()).ok_or_else(error)
    }
}

fn programs(folder: &Path) -> Vec<Program> {
    let only = std::env::var("GCN_HIP_ONLY").unwrap_or_default();
    let wanted = |name: &str| only.is_empty() || only.split(',').any(|n| n == name);
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            let folder = entry.unwrap().path();
            let name = folder.file_name()?.to_str()?.to_owned();
            let text = std::fs::read_to_string(folder.join("cmd.json")).ok()?;
            wanted(&name).then(|| Program { name, folder, command: serde_json::from_str(&text).unwrap() })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

#[test]
fn programs_of_others_report_success() {
    let (folder, sdk) = (std::env::var_os("GCN_HIP_PROGRAMS"), std::env::var_os("GCN_HIP_SDK"));
    let (Some(folder), Some(sdk), Some(clang)) = (folder, sdk, tool("clang++")) else {
        skipped(
            "GCN_HIP_PROGRAMS or GCN_HIP_SDK is not set",
            "set GCN_HIP_PROGRAMS and GCN_HIP_SDK (docs/hip.md)",
        );
        return;
    };
    let limit = Duration::from_secs(env::setting("GCN_HIP_SECONDS", 300));
    let known: BTreeMap<&str, &str> = KNOWN.lines().filter_map(|line| line.split_once('\t')).collect();
    let work = std::env::temp_dir().join(format!("gcn-hip-programs-{}", std::process::id()));
    std::fs::create_dir_all(&work).unwrap();
    std::os::unix::fs::symlink(library(), work.join("libamdhip64.so.7")).unwrap();
    let mut unexpected = Vec::new();
    println!("| program | gfx90a, s | gfx942, s | |\n|---|---:|---:|---|");
    for program in programs(folder.as_ref()) {
        let path = work.join(&program.name);
        let (sources, flags) = (program.list("sources"), program.list("flags"));
        let compiler = Compiler { clang: &clang, sdk: sdk.as_ref(), targets: &TARGETS, lanes: 64 };
        if let Err(error) = compiler.run(&program.folder, &sources, &flags, &path) {
            unexpected.push(format!("{} does not compile: {error}", program.name));
            continue;
        }
        let runs = TARGETS.map(|target| program.run(&path, &work, target, limit));
        let why = known.get(program.name.as_str());
        let [first, second] =
            runs.map(|(ok, s)| if ok { format!("{s:.1}") } else { format!("{s:.1}, no success") });
        println!("| {} | {first} | {second} | {} |", program.name, why.unwrap_or(&""));
        if runs.iter().any(|(ok, _)| !ok) && why.is_none() {
            unexpected.push(format!("{} does not report success", program.name));
        }
        std::fs::remove_file(path).unwrap();
    }
    std::fs::remove_dir_all(&work).unwrap();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}
