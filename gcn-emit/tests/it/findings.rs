//! What the checker says about the corpus: exactly what `docs/findings.md` lists and argues, so that a new false finding fails. And
//! what `fix --strip` makes of it.
//!
//! `GCN_BLESS=1 cargo test -p gcn-emit-tests --test it findings` writes the lists of the page anew; with `GCN_CORPUS=all` also the totals,
//! which take every file.

mod list;
mod page;
mod totals;
