//! Checks that the checker's findings in the corpus are exactly those that `docs/findings.md` lists and explains, so that a new false
//! finding fails the test. Also checks the results of `fix --strip` on the corpus.
//!
//! `GCN_BLESS=1 cargo test -p gcn-emit-tests --test it findings` updates the lists of the page; with `GCN_CORPUS=all` also the totals,
//! which require all files.

mod list;
mod page;
mod totals;
