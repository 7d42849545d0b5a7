//! `gcn tune`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gcn_emit::object::read_code_object;
use gcn_isa::Target;
use gcn_sim::launch::{Program, Spec};
use gcn_sim::timed;
use gcn_sim::tune::{Outcome, Shard, Table, Variant, run as measure_all};
use serde::Deserialize;

use crate::commands;
use crate::commands::progress::Bar;
use crate::failure::Failure;

/// Finds the fastest of several variants of a kernel, with the timed mode of the simulator.
///
/// Each candidate is a JSON file: {"object": CODE OBJECT, "kernel": NAME, "long": SPEC} with a spec as `gcn sim --args` reads it; paths are
/// relative to the file. With "short", a second spec, the result is the difference of both runs: the steady state. "name" is the common
/// name of the variants, "problem" a list of its extents, "parameters" the values by name; without them the file's name is the parameter. A
/// directory stands for its *.tune.json and *.steady.json. See docs/tuning.md.
///
/// The table is saved after each run; results that it has are not measured again. Exit code 0: done; 1: a candidate or table is wrong; 2:
/// the command line is wrong or a file cannot be read or written. If a variant does not run, that is a result, not an error.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Candidates: JSON files, and directories with such files
    #[arg(value_name = "CANDIDATE", required_unless_present = "merge")]
    candidates: Vec<PathBuf>,
    /// The table of results, read if it exists
    #[arg(short, long, value_name = "TABLE.json")]
    output: PathBuf,
    /// Measure only every N-th candidate, starting with the I-th
    #[arg(long, value_name = "I/N", default_value = "0/1")]
    shard: Shard,
    /// First take over the results of these tables
    #[arg(long, value_name = "TABLE.json", num_args = 1..)]
    merge: Vec<PathBuf>,
    /// Threads; by default one per core
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    parameters: commands::Parameters,
    /// Compute units over which the grid is distributed; one of them is simulated
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    cus: u32,
}

const EXAMPLES: &str = "\
Examples:
  gcn tune variants -o gemm.json                          # every candidate in the directory
  gcn tune variants -o part1.json --shard 1/4             # a quarter of them
  gcn tune -o gemm.json --merge part0.json part1.json     # put together, print the best";

/// The content of a candidate's file.
#[derive(Deserialize)]
struct Candidate {
    object: PathBuf,
    kernel: Option<String>,
    long: serde_json::Value,
    short: Option<serde_json::Value>,
    name: Option<String>,
    #[serde(default)]
    problem: Vec<u64>,
    parameters: Option<BTreeMap<String, String>>,
}

/// A candidate, with the code object that its file names.
struct Read {
    folder: PathBuf,
    candidate: Candidate,
    object: Vec<u8>,
}

/// Measures the candidates and prints the best variants.
pub fn run(args: &Args) -> Result<(), Failure> {
    let config = timed::Config { cus: Some(args.cus), complete: false, ..timed::Config::default() };
    let parameters = args.parameters.read()?;
    // Errors in the parameters are reported before anything runs.
    Target::KNOWN.into_iter().try_for_each(|target| parameters.apply(&mut config.clone(), target))?;
    let wrong = |error: gcn_sim::tune::Error| match error {
        gcn_sim::tune::Error::File { .. } => Failure::usage(error.to_string()),
        _ => Failure::input(error.to_string()),
    };
    if !args.merge.is_empty() {
        let mut table = Table::load(&args.output).map_err(wrong)?;
        for path in &args.merge {
            if !path.exists() {
                return Err(Failure::usage(format!("{}: there is no such table", path.display())));
            }
            table.merge(Table::load(path).map_err(wrong)?);
        }
        table.save(&args.output).map_err(wrong)?;
    }
    let mut known = BTreeMap::new();
    let mut variants = Vec::new();
    for path in files(&args.candidates)? {
        let (variant, read) = read(&path)?;
        if known.insert(variant.clone(), read).is_some() {
            let what = format!(
                "{}: another candidate has the same name, target, problem and parameters; give them different \"parameters\"",
                path.display()
            );
            return Err(Failure::input(what));
        }
        variants.push(variant);
    }
    let bar = Bar::new("variants");
    let cycles = |variant: &Variant| {
        known.get(variant).map_or(Err("unknown".to_owned()), |read| time(read, &config, &parameters))
    };
    let progress = |done: usize, all: usize| bar.tell(done as u64, all as u64);
    let table =
        measure_all(&variants, args.shard, args.jobs, &args.output, cycles, progress).map_err(wrong)?;
    bar.clear();
    print!("{}", best(&table));
    Ok(())
}

/// The files that the arguments name, in order; a directory is replaced by the candidates' files in it.
fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let unreadable =
        |path: &Path, error: std::io::Error| Failure::usage(format!("{}: {error}", path.display()));
    let mut all = Vec::new();
    for path in given {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(|e| unreadable(path, e))?;
        let mut inside: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|p| p.to_str().is_some_and(|p| p.ends_with(".tune.json") || p.ends_with(".steady.json")))
            .collect();
        if inside.is_empty() {
            let what = format!("{}: there is no *.tune.json or *.steady.json", path.display());
            return Err(Failure::usage(what));
        }
        inside.sort();
        all.extend(inside);
    }
    Ok(all)
}

fn read(path: &Path) -> Result<(Variant, Read), Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| Failure::usage(format!("{shown}: {e}")))?;
    let candidate: Candidate = serde_json::from_str(&text)
        .map_err(|e| Failure::input(format!("{shown}: {e}; see `gcn tune --help`")))?;
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let file = folder.join(&candidate.object);
    let object = std::fs::read(&file).map_err(|e| Failure::usage(format!("{}: {e}", file.display())))?;
    let code = read_code_object(&object).map_err(|e| Failure::input(format!("{}: {e}", file.display())))?;
    let stem = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = stem.trim_end_matches(".json").trim_end_matches(".tune").trim_end_matches(".steady");
    let parameters = candidate.parameters.clone();
    let variant = Variant {
        kernel: candidate.name.clone().unwrap_or_else(|| "kernel".to_owned()),
        target: code.target_id.target.to_string(),
        problem: candidate.problem.clone(),
        parameters: parameters.unwrap_or_else(|| BTreeMap::from([("file".to_owned(), stem.to_owned())])),
    };
    Ok((variant, Read { folder, candidate, object }))
}

/// The cycles of a candidate: those of the long run, minus those of the short run if there is one.
fn time(read: &Read, config: &timed::Config, parameters: &commands::Given) -> Result<u64, String> {
    let one = |spec: &serde_json::Value| {
        let spec = Spec::from_json(&spec.to_string()).map_err(|e| e.to_string())?;
        let kernel = read.candidate.kernel.as_deref().or(spec.kernel.as_deref());
        let program = Program::load(&read.object, kernel).map_err(|e| e.to_string())?;
        let mut prepared = program.prepare(&spec, &read.folder).map_err(|e| e.to_string())?;
        let mut config = config.clone();
        parameters.set(&mut config, program.machine().target()).map_err(|(_, error)| error.to_string())?;
        prepared.run_timed(&config).map(|report| report.cycles).map_err(|e| e.to_string())
    };
    let long = one(&read.candidate.long)?;
    match &read.candidate.short {
        Some(short) => Ok(long.saturating_sub(one(short)?)),
        None => Ok(long),
    }
}

/// The best variants: a line for each kernel, target and problem.
fn best(table: &Table) -> String {
    let mut lines: BTreeMap<(String, String, Vec<u64>), (usize, usize)> = BTreeMap::new();
    for entry in table.entries() {
        let v = entry.variant;
        let counts = lines.entry((v.kernel, v.target, v.problem)).or_default();
        counts.0 += 1;
        counts.1 += usize::from(matches!(entry.outcome, Outcome::Error(_)));
    }
    let line =
        |((kernel, target, problem), (all, failed)): (&(String, String, Vec<u64>), &(usize, usize))| {
            let extents: Vec<String> = problem.iter().map(u64::to_string).collect();
            let of = format!("{kernel} {target} {}", extents.join("x"));
            let counts = format!("{all} variants, {failed} do not run");
            match table.best(kernel, target, problem) {
                Some(entry) => {
                    let values =
                        entry.variant.parameters.iter().map(|(name, value)| format!("{name}={value}"));
                    let cycles = if let Outcome::Cycles(cycles) = entry.outcome { cycles } else { 0 };
                    format!(
                        "{}: {} takes {cycles} cycles ({counts})\n",
                        of.trim_end(),
                        values.collect::<Vec<_>>().join(" ")
                    )
                }
                None => format!("{}: none runs ({counts})\n", of.trim_end()),
            }
        };
    lines.iter().map(line).collect()
}
