//! Autotuning: measures variants of a kernel in parallel and in shards, resumes interrupted runs, and stores results as JSON.
//!
//! A [`Variant`] is a kernel for a problem on a target with certain parameter values; [`Space`] enumerates the combinations of parameter
//! values. [`run`] measures the variants that a [`Table`] lacks, with any function that returns cycles, for example from the timed model
//! ([`crate::timed`]) or from hardware. The tables of shards can be merged. A program reads the table at build time and uses the
//! [`Table::best`] variant.
//!
//! ```
//! use gcn_sim::tune::{Shard, Space, Table, run};
//!
//! let space = Space::new().with("depth", ["16", "32", "64"]).with("stages", ["1", "2"]);
//! let variants: Vec<_> = space.variants("gemm", "gfx942", &[512, 512, 256]).collect();
//! let path = std::env::temp_dir().join(format!("gcn-tune-{}.json", std::process::id()));
//! let cycles = |v: &gcn_sim::tune::Variant| match &v.parameters["depth"][..] {
//!     "64" => Err("too much LDS"),
//!     depth => Ok(9000 - depth.parse::<u64>().unwrap()),
//! };
//! let table = run(&variants, Shard::default(), None, &path, cycles, |_done, _all| {})?;
//! // A problem that nobody measured: the nearest one's.
//! let best = table.best("gemm", "gfx942", &[600, 512, 256]).unwrap();
//! assert_eq!(best.variant.parameters["depth"], "32");
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A kernel for a problem on a target, with certain parameter values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// A name that the variants of a kernel share.
    pub kernel: String,
    /// The target's name.
    pub target: String,
    /// The problem's extents.
    pub problem: Vec<u64>,
    /// The parameter values by name.
    pub parameters: BTreeMap<String, String>,
}

/// The result of measuring a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The number of cycles that the variant takes.
    Cycles(u64),
    /// The reason why the variant does not run, for example that it needs too many registers.
    Error(String),
}

/// A measured variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The variant.
    pub variant: Variant,
    /// The result.
    pub outcome: Outcome,
}

/// The possible values of each parameter of a kernel.
#[derive(Debug, Clone, Default)]
pub struct Space(Vec<(String, Vec<String>)>);

impl Space {
    /// A space without parameters, which has one variant.
    pub fn new() -> Space {
        Space::default()
    }

    /// Adds a parameter to the space.
    #[must_use]
    pub fn with<T: Into<String>>(mut self, name: &str, values: impl IntoIterator<Item = T>) -> Space {
        self.0.push((name.to_owned(), values.into_iter().map(Into::into).collect()));
        self
    }

    /// All combinations; the last parameter varies fastest.
    pub fn variants(&self, kernel: &str, target: &str, problem: &[u64]) -> impl Iterator<Item = Variant> {
        let all = self.0.iter().fold(vec![BTreeMap::new()], |known, (name, values)| {
            let further = |of: &BTreeMap<String, String>, value: &String| {
                let mut of = of.clone();
                of.insert(name.clone(), value.clone());
                of
            };
            known.iter().flat_map(|of| values.iter().map(move |value| further(of, value))).collect()
        });
        let (kernel, target, problem) = (kernel.to_owned(), target.to_owned(), problem.to_vec());
        all.into_iter().map(move |parameters| Variant {
            kernel: kernel.clone(),
            target: target.clone(),
            problem: problem.clone(),
            parameters,
        })
    }
}

/// Results by variant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table(BTreeMap<Variant, Outcome>);

/// An error that prevents a table from being read or written, or the measurements from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The contents of a file are not a table.
    #[error("{}: {source}; a table of `tune` is a list of variants with their outcomes", path.display())]
    Json {
        /// The path of the file.
        path: PathBuf,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// The threads could not be started.
    #[error("no threads to measure with: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl Table {
    /// Parses a table.
    ///
    /// # Errors
    /// If the text is not a table.
    pub fn from_json(text: &str) -> Result<Table, serde_json::Error> {
        let entries: Vec<Entry> = serde_json::from_str(text)?;
        Ok(Table(entries.into_iter().map(|e| (e.variant, e.outcome)).collect()))
    }

    /// The table as JSON: a list in the order of variants, independent of the order of measurements.
    pub fn to_json(&self) -> String {
        let entries: Vec<Entry> = self.entries().collect();
        serde_json::to_string_pretty(&entries).map(|text| text + "\n").unwrap_or_default()
    }

    /// Reads a file; if it does not exist, returns an empty table.
    ///
    /// # Errors
    /// If the file cannot be read or is not a table.
    pub fn load(path: &Path) -> Result<Table, Error> {
        match std::fs::read_to_string(path) {
            Ok(text) => {
                Table::from_json(&text).map_err(|source| Error::Json { path: path.to_owned(), source })
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Table::default()),
            Err(source) => Err(Error::File { path: path.to_owned(), source }),
        }
    }

    /// Writes a file atomically: at any time it contains either the old or the new table.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".{}", std::process::id()));
        let written = std::fs::write(&draft, self.to_json()).and_then(|()| std::fs::rename(&draft, path));
        written.map_err(|source| Error::File { path: path.to_owned(), source })
    }

    /// All results.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.0.iter().map(|(variant, outcome)| Entry { variant: variant.clone(), outcome: outcome.clone() })
    }

    /// Adds the results of another table, which take precedence over existing ones.
    pub fn merge(&mut self, other: Table) {
        self.0.extend(other.0);
    }

    /// The variant with the fewest cycles for a problem. If no variant was measured for this problem, the best variant for the nearest
    /// measured problem: the one with the smallest sum of the absolute logarithms of the extents' ratios. `None` if no variant of the
    /// kernel with the same number of extents runs on the target.
    pub fn best(&self, kernel: &str, target: &str, problem: &[u64]) -> Option<Entry> {
        let far = |of: &[u64]| -> f64 {
            let log = |x: &u64| (*x as f64).max(0.5).log2();
            of.iter().zip(problem).map(|(a, b)| (log(a) - log(b)).abs()).sum()
        };
        let cycles = |(variant, outcome): (&Variant, &Outcome)| match outcome {
            Outcome::Cycles(cycles) => Some((far(&variant.problem), *cycles, variant.clone())),
            Outcome::Error(_) => None,
        };
        let like = self
            .0
            .iter()
            .filter(|(v, _)| v.kernel == kernel && v.target == target && v.problem.len() == problem.len());
        let best = like.filter_map(cycles).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        best.map(|(_, cycles, variant)| Entry { variant, outcome: Outcome::Cycles(cycles) })
    }
}

/// The share of the variants that a process measures: every `count`-th, starting with number `index` (from 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Default for Shard {
    /// The shard that contains all variants.
    fn default() -> Self {
        Shard { index: 0, count: 1 }
    }
}

impl FromStr for Shard {
    type Err = String;
    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, count)) if index < count => Ok(Shard { index, count }),
            _ => Err(format!("`{text}` is not a shard; write I/N with I from 0 to N - 1, for example 0/4")),
        }
    }
}

impl Shard {
    /// True if the shard contains the `i`-th variant.
    pub fn has(&self, i: usize) -> bool {
        i % self.count == self.index
    }
}

/// Measures the variants of a shard that the table in `path` lacks, and saves the table after each. Uses `jobs` threads, or one for each
/// core. `progress` receives the numbers of finished and of all variants.
///
/// # Errors
/// If the table cannot be read or written. A variant that does not run is a result and not an error.
pub fn run<E: Display>(
    variants: &[Variant],
    shard: Shard,
    jobs: Option<usize>,
    path: &Path,
    measure: impl Fn(&Variant) -> Result<u64, E> + Sync,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<Table, Error> {
    let table = Mutex::new(Table::load(path)?);
    let lock = || table.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mine: Vec<&Variant> =
        variants.iter().enumerate().filter(|(i, _)| shard.has(*i)).map(|(_, variant)| variant).collect();
    let left: Vec<&Variant> = mine.iter().copied().filter(|v| !lock().0.contains_key(v)).collect();
    let done = AtomicUsize::new(mine.len() - left.len());
    progress(done.load(Ordering::Relaxed), mine.len());
    let one = |variant: &&Variant| -> Result<(), Error> {
        let outcome = match measure(variant) {
            Ok(cycles) => Outcome::Cycles(cycles),
            Err(error) => Outcome::Error(error.to_string()),
        };
        let mut table = lock();
        table.0.insert((*variant).clone(), outcome);
        table.save(path)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, mine.len());
        Ok(())
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).build()?;
    pool.install(|| left.par_iter().try_for_each(one))?;
    Ok(table.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);
    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("gcn-tune-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
    }
    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn variants() -> Vec<Variant> {
        let space = Space::new().with("a", ["1", "2", "3"]).with("b", ["4", "5"]);
        space.variants("k", "t", &[100]).collect()
    }

    fn cycles(v: &Variant) -> Result<u64, String> {
        let number = |name: &str| v.parameters[name].parse::<u64>().unwrap();
        if number("a") == 3 { Err("no".into()) } else { Ok(10 * number("a") + number("b")) }
    }

    #[test]
    fn a_space_is_every_combination() {
        let names: Vec<String> =
            variants().iter().map(|v| format!("{}{}", v.parameters["a"], v.parameters["b"])).collect();
        assert_eq!(names, ["14", "15", "24", "25", "34", "35"]);
    }

    #[test]
    fn what_is_measured_is_not_measured_again() {
        let folder = Folder::new("resume");
        let path = folder.0.join("t.json");
        let count = AtomicUsize::new(0);
        let counted = |v: &Variant| {
            count.fetch_add(1, Ordering::Relaxed);
            cycles(v)
        };
        run(&variants()[..2], Shard::default(), Some(1), &path, counted, |_, _| {}).unwrap();
        let seen = Mutex::new(Vec::new());
        let table = run(&variants(), Shard::default(), None, &path, counted, |done, all| {
            seen.lock().unwrap().push((done, all));
        });
        assert_eq!(count.into_inner(), 6);
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [(2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]);
        assert_eq!(Table::load(&path).unwrap(), table.unwrap());
    }

    #[test]
    fn shards_make_the_whole() {
        let folder = Folder::new("shards");
        let whole =
            run(&variants(), Shard::default(), None, &folder.0.join("whole"), cycles, |_, _| {}).unwrap();
        let mut merged = Table::default();
        for i in 0..4 {
            let shard: Shard = format!("{i}/4").parse().unwrap();
            let path = folder.0.join(i.to_string());
            merged.merge(run(&variants(), shard, None, &path, cycles, |_, _| {}).unwrap());
        }
        assert_eq!(merged, whole);
        assert_eq!(Table::from_json(&whole.to_json()).unwrap(), whole);
        for text in ["4/4", "1", "a/2", "0/0"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_best_is_that_of_the_nearest_problem() {
        let mut table = Table::default();
        let mut add = |problem: u64, a: &str, outcome: Outcome| {
            let parameters = BTreeMap::from([("a".to_owned(), a.to_owned())]);
            let variant =
                Variant { kernel: "k".into(), target: "t".into(), problem: vec![problem], parameters };
            table.0.insert(variant, outcome);
        };
        add(100, "small", Outcome::Cycles(50));
        add(100, "slow", Outcome::Cycles(60));
        add(100, "broken", Outcome::Error("no".into()));
        add(1000, "large", Outcome::Cycles(400));
        let best = |of: u64| table.best("k", "t", &[of]).map(|e| e.variant.parameters["a"].clone());
        assert_eq!(best(100).as_deref(), Some("small"));
        // 300 is 3 times 100, and 1000 is more than 3.3 times 300.
        assert_eq!((best(300).as_deref(), best(350).as_deref()), (Some("small"), Some("large")));
        assert_eq!((table.best("k", "u", &[100]), table.best("k", "t", &[100, 1])), (None, None));
    }

    #[test]
    fn a_file_that_is_no_table_is_an_error() {
        let folder = Folder::new("bad");
        let path = folder.0.join("t.json");
        std::fs::write(&path, "[{]").unwrap();
        let error = run(&variants(), Shard::default(), None, &path, cycles, |_, _| {}).unwrap_err();
        assert!(error.to_string().contains("t.json"), "{error}");
    }
}
