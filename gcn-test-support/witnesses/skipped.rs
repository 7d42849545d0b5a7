//! Prints what the run of `cargo test` that this is the end of has skipped, how many tests, and what to install.

fn main() {
    // `cargo test -- --list` asks for the names of tests.
    if !std::env::args().any(|argument| argument == "--list") {
        println!("\n{}", gcn_test_support::skip::list());
    }
}
