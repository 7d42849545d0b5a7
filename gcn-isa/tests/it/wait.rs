//! The inserter against golden programs, against exhaustive search, and against the checker.

mod counters;
mod fill;
mod flow;
mod full;
mod grades;
mod oracle;
mod states;
mod streams;
mod text;

/// The seeds of a test on random programs: `count` of them, or as many as `GCN_FUZZ_COUNT` says, from `GCN_FUZZ_SEED` on.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let setting = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is a number")),
        Err(_) => default,
    };
    let first = setting("GCN_FUZZ_SEED", 1);
    first..first.saturating_add(setting("GCN_FUZZ_COUNT", count))
}
