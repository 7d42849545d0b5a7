//! Compares `gcn fix` with LLVM's pass that inserts wait states, on the same instructions: the whole processes, and the passes alone.
//!
//! The input repeats gcn-isa's `benches/stream.s`. `stream.mir` contains the same instructions in LLVM's machine IR, which `llc` reads
//! instead of assembly. Both processes read text, insert wait states, and write text.
//!
//! Measured with LLVM 22.1.8 in two runs, on 100,013 and on 1,000,011 instructions. By processor time of the whole process, `gcn fix` is
//! 10.0 to 10.6 times as fast; much of the time of both programs is spent on reading and writing text. The pass alone is 11.6 to 23.5 times
//! as fast; this ratio varies most. Both programs insert 40,914 and 409,095 wait states.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gcn_emit::asm::{Options, assemble};
use gcn_emit::code::Unit;
use gcn_isa::wait::{WaitOptions, insert_wait_states};
use gcn_test_support::llvm::tool;

use crate::times::{Times, ratio, timed};

const ASSEMBLY: &str = include_str!("../../../gcn-isa/benches/stream.s");
const MACHINE_IR: &str = include_str!("stream.mir");
/// The approximate number of instructions, and the number of counted runs of each process; one run before them is not counted.
const LENGTHS: [(usize, usize); 2] = [(100_000, 9), (1_000_000, 3)];
const LLC: &str = "llc-22";
const TARGET: &str = "gfx942";

/// Runs both programs on inputs of increasing length, if LLVM is installed.
pub fn compare() {
    if tool("llc").is_some() {
        LENGTHS.into_iter().for_each(|(length, runs)| compare_at(length, runs));
    }
}

fn compare_at(length: usize, runs: usize) {
    let pieces = length / ASSEMBLY.lines().count() + 1;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (assembly, ir) = (folder.path().join("stream.txt"), folder.path().join("stream.mir"));
    let code = ASSEMBLY.repeat(pieces);
    std::fs::write(&assembly, format!("func f:\n{code}s_endpgm\n")).expect("the folder can be written");
    let head = "---\nname: f\ntracksRegLiveness: false\nbody: |\n  bb.0:\n";
    let text = format!("{head}{}    S_ENDPGM 0\n...\n", MACHINE_IR.repeat(pieces));
    std::fs::write(&ir, text).expect("the folder can be written");

    let (mut ours, mut theirs) = (Times::default(), Times::default());
    let (mut our_states, mut their_states) = (0, 0);
    for run in 0..=runs {
        let (ours_once, out) = timed(&mut gcn(&assembly));
        our_states = states(&out, "s_nop ");
        let (theirs_once, out) = timed(&mut llc(&ir));
        their_states = states(&out, "S_NOP ");
        if run > 0 {
            ours.add(ours_once);
            theirs.add(theirs_once);
        }
    }
    println!("gcn fix, {} instructions, {runs} runs of each in turn", pieces * ASSEMBLY.lines().count() + 1);
    println!("  wait states inserted    gcn {our_states}, {LLC} {their_states}");
    ours.print(LLC, &mut theirs);
    let theirs = their_pass(&ir, runs).map_or(Duration::ZERO, Duration::from_secs_f64);
    println!("  the pass alone          {}", ratio(our_pass(&code, runs), LLC, theirs));
}

fn gcn(file: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gcn"));
    command.args(["fix", "--target", TARGET, "--only", "wait-states", "--functions"]).arg(file);
    command
}

fn llc(file: &Path) -> Command {
    let mut command = Command::new(LLC);
    command.args(["-mtriple=amdgcn-amd-amdhsa", "-run-pass=post-RA-hazard-rec", "-verify-machineinstrs=0"]);
    command.arg(format!("-mcpu={TARGET}")).arg(file).args(["-o", "-"]);
    command
}

/// The number of wait states of all instructions with this mnemonic in a text.
fn states(text: &str, name: &str) -> u32 {
    let operands = text.lines().filter_map(|line| line.trim().strip_prefix(name)?.trim().parse::<u32>().ok());
    operands.map(|n| n + 1).sum()
}

/// The time of the inserter alone on the input that `gcn fix` gives it: the shortest of `runs` runs.
fn our_pass(code: &str, runs: usize) -> Duration {
    let options = Options { target: TARGET.parse().ok(), keep_instructions: true, ..Options::default() };
    let assembly = assemble("stream.s", code, &options).expect("the stream assembles");
    let unit = Unit::from_assembly(assembly).expect("the instructions were kept");
    let program = &unit.sections.first().expect("the stream has code").program;
    let once = || {
        let mut program = program.clone();
        let options = WaitOptions { notes: false, ..WaitOptions::default() };
        let start = Instant::now();
        insert_wait_states(&mut program, &options);
        start.elapsed()
    };
    (0..runs).map(|_| once()).min().unwrap_or_default()
}

/// The seconds that LLVM reports for its pass: the shortest of `runs` runs; `None` if LLVM reports no time.
fn their_pass(ir: &Path, runs: usize) -> Option<f64> {
    let once = || {
        let out = llc(ir).arg("-time-passes").stdout(Stdio::null()).output().ok()?;
        let report = String::from_utf8_lossy(&out.stderr).into_owned();
        let line = report.lines().find(|l| l.contains("hazard recognizer"))?;
        // The columns are user time, system time, their sum and elapsed time, each followed by its percentage in parentheses.
        let times: Vec<f64> =
            line.split(['(', ')']).step_by(2).filter_map(|t| t.trim().parse().ok()).collect();
        times.get(2).copied()
    };
    (0..runs).filter_map(|_| once()).min_by(f64::total_cmp)
}
