//! Prints what the current run of `cargo test` has skipped, how many tests, and what to install. It is the last test of the run.

fn main() {
    // `cargo test -- --list` expects the names of tests.
    if !std::env::args().any(|argument| argument == "--list") {
        println!("\n{}", gcn_test_support::skip::list());
    }
}
