//! Settings that the environment gives to tests: how much of a test runs.

use std::any::type_name;
use std::ops::Range;
use std::str::FromStr;

/// The value of a variable, `default` where it is not set.
///
/// # Panics
/// If the value does not parse: a mistyped number must not pass for a run of that size.
#[must_use]
pub fn setting<T: FromStr>(variable: &str, default: T) -> T {
    match std::env::var(variable) {
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a {}", type_name::<T>()))
        }
        Err(_) => default,
    }
}

/// True if the variable is set, to whatever value.
#[must_use]
pub fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

/// How many times as many cases a thorough run has as an ordinary one.
const ORDINARY: usize = 4;

/// True in a thorough run, as `.ci/run` makes it: `GCN_THOROUGH` is set, or `GCN_FUZZ_COUNT` asks for a full run.
#[must_use]
pub fn is_thorough() -> bool {
    is_set("GCN_THOROUGH") || is_full_run()
}

/// How many random cases a test runs: `GCN_FUZZ_COUNT`, by default `thorough` in a thorough run, and a quarter of it in an ordinary one.
#[must_use]
pub fn fuzz_count<T: FromStr + TryFrom<usize> + TryInto<usize>>(thorough: T) -> T {
    let ordinary = |count: T| {
        let count: usize = count.try_into().ok().expect("a number of cases");
        T::try_from(count.div_ceil(ORDINARY)).ok().expect("less than the number that it is a part of")
    };
    setting("GCN_FUZZ_COUNT", if is_thorough() { thorough } else { ordinary(thorough) })
}

/// The first seed of a test with random cases: `GCN_FUZZ_SEED`, by default `default`.
#[must_use]
pub fn fuzz_seed(default: u64) -> u64 {
    setting("GCN_FUZZ_SEED", default)
}

/// The seeds of a test with random cases: `count` of them from `first` on, unless the environment says otherwise.
#[must_use]
pub fn fuzz_seeds(first: u64, count: u64) -> Range<u64> {
    let first = fuzz_seed(first);
    first..first.saturating_add(fuzz_count(count))
}

/// True if `GCN_FUZZ_COUNT` asks for a full run.
#[must_use]
pub fn is_full_run() -> bool {
    is_set("GCN_FUZZ_COUNT")
}

/// The step through a fixed list of cases of which a thorough run takes one in `thorough`, and an ordinary run one in four of those: 1 in
/// a full run.
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

/// All of `cases` in a thorough run; in an ordinary one the one with the number `which`, counted round and round.
///
/// # Panics
/// If there are none.
#[must_use]
pub fn some_of<T>(cases: &[T], which: usize) -> &[T] {
    if is_thorough() {
        return cases;
    }
    let which = which % cases.len();
    &cases[which..=which]
}

/// True if tests are to write the files that they compare with: `GCN_BLESS=1`.
#[must_use]
pub fn bless() -> bool {
    is_set("GCN_BLESS")
}
