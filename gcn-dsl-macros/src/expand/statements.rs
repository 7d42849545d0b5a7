//! Blocks, `let` and the attributes of statements.

pub(crate) mod attrs;
pub(crate) mod naming;
pub(crate) mod register;
pub(crate) mod schedule;
pub(crate) mod stmt;
