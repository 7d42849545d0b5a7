//! A proof on a small scope: every control-flow graph of a few blocks with every placement of a few instructions is judged by a
//! specification that shares no algorithm with the inserter and the checker. docs/proof.md explains what the proof means for larger
//! programs and how far it has been run.
//!
//! `cargo test` tests the smallest scopes. With `GCN_PROOF_SECONDS=300`, larger scopes are tested for 300 seconds.

mod classes;
mod counters;
mod graphs;
mod judge;
mod program;
mod queues;
mod record;
mod remedies;
mod run;
mod sequences;
mod spec;

use gcn_test_support::{env::is_thorough, skipped};
use run::{Alphabets, LARGE, Run, SMALL};

#[test]
fn small_scopes() {
    let mut run = Run::default();
    // The rules over two blocks take most of the time.
    let long = [Alphabets::Rules, Alphabets::Remedies];
    let scopes = SMALL.into_iter().filter(|scope| is_thorough() || !long.contains(&scope.alphabets));
    for scope in scopes {
        let (tally, _) = run.go_over(scope);
        println!("{scope}: {tally:?}");
        assert!(tally.waits > 0, "{scope}");
    }
}

#[test]
fn large_scopes() {
    let Some(mut run) = Run::by_environment() else {
        skipped("GCN_PROOF_SECONDS is not set", "set GCN_PROOF_SECONDS (docs/proof.md)");
        return;
    };
    for scope in SMALL.into_iter().chain(LARGE) {
        let (tally, whole) = run.go_over(scope);
        println!("{scope}: {tally:?}{}", if whole { "" } else { ", not all of it" });
        if !whole {
            return;
        }
    }
}
