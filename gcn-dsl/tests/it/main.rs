//! Integration tests of `gcn-dsl`, one binary.

mod fragments;
#[cfg(feature = "hip")]
mod hip;
mod isa;
mod language;
mod oracle;
mod rng;
mod schedule;
mod states;
mod text;
mod waits;
