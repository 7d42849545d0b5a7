//! Environment variables that determine how much of a test runs.

use std::any::type_name;
use std::ops::Range;
use std::str::FromStr;

/// The value of an environment variable; `default` if it is not set.
///
/// # Panics
/// If the value does not parse, since a mistyped number must not silently select another size of the run.
#[must_use]
pub fn setting<T: FromStr>(variable: &str, default: T) -> T {
    match std::env::var(variable) {
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a {}", type_name::<T>()))
        }
        Err(_) => default,
    }
}

/// True if the variable is set to any value.
#[must_use]
pub fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

/// A thorough run has this many times as many cases as an ordinary run.
const ORDINARY: usize = 4;

/// True in a thorough run, such as `.ci/run`: `GCN_THOROUGH` is set, or `GCN_FUZZ_COUNT` requests a full run.
#[must_use]
pub fn is_thorough() -> bool {
    is_set("GCN_THOROUGH") || is_full_run()
}

/// The number of random cases of a test: `GCN_FUZZ_COUNT` if set; else `thorough` in a thorough run and a quarter of that in an ordinary
/// one.
#[must_use]
pub fn fuzz_count<T: FromStr + TryFrom<usize> + TryInto<usize>>(thorough: T) -> T {
    let ordinary = |count: T| {
        let count: usize = count.try_into().ok().expect("a number of cases");
        T::try_from(count.div_ceil(ORDINARY)).ok().expect("less than the number that it is a part of")
    };
    setting("GCN_FUZZ_COUNT", if is_thorough() { thorough } else { ordinary(thorough) })
}

/// The first seed of a test with random cases: `GCN_FUZZ_SEED` if set, else `default`.
#[must_use]
pub fn fuzz_seed(default: u64) -> u64 {
    setting("GCN_FUZZ_SEED", default)
}

/// The seeds of a test with random cases: by default `count` seeds, starting at `first`.
#[must_use]
pub fn fuzz_seeds(first: u64, count: u64) -> Range<u64> {
    let first = fuzz_seed(first);
    first..first.saturating_add(fuzz_count(count))
}

/// True if `GCN_FUZZ_COUNT` requests a full run.
#[must_use]
pub fn is_full_run() -> bool {
    is_set("GCN_FUZZ_COUNT")
}

/// The step width with which a test samples a fixed list of cases: 1 in a full run, `thorough` in a thorough run, and four times `thorough`
/// in an ordinary run.
#[must_use]
pub fn fuzz_step(thorough: usize) -> usize {
    if is_full_run() {
        1
    } else if is_thorough() {
        thorough
    } else {
        ORDINARY * thorough
    }
}

/// A seed that differs from day to day: `GCN_FUZZ_SEED` if set, else the number of the day since 1970.
#[must_use]
pub fn daily_seed() -> u64 {
    fuzz_seed(std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs() / 86_400))
}

/// One of `one_of` cases in a thorough run, fewer in an ordinary run, all in a full run. Which ones depends on the day ([`daily_seed`]), so
/// that the runs of successive days test every case. `GCN_FUZZ_SEED` repeats a sample.
#[must_use]
pub fn daily_sample<T>(cases: impl IntoIterator<Item = T>, one_of: usize) -> Vec<T> {
    let cases: Vec<T> = cases.into_iter().collect();
    let step = fuzz_step(one_of).clamp(1, cases.len().max(1));
    let first = (daily_seed() % step as u64) as usize;
    cases.into_iter().skip(first).step_by(step).collect()
}

/// All `cases` in a thorough run; in an ordinary run only case number `which`, modulo their number.
///
/// # Panics
/// If `cases` is empty.
#[must_use]
pub fn some_of<T>(cases: &[T], which: usize) -> &[T] {
    if is_thorough() {
        return cases;
    }
    let which = which % cases.len();
    &cases[which..=which]
}

/// True if tests are to overwrite the files that they compare with: `GCN_BLESS=1`.
#[must_use]
pub fn bless() -> bool {
    is_set("GCN_BLESS")
}
