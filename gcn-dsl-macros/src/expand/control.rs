//! Branches, loops, `match`, patterns, and the exits out of them.

pub(crate) mod branch;
pub(crate) mod endless;
pub(crate) mod exit;
pub(crate) mod iterate;
pub(crate) mod leaves;
pub(crate) mod logic;
pub(crate) mod loops;
pub(crate) mod matching;
pub(crate) mod pattern;
pub(crate) mod unrolled;
