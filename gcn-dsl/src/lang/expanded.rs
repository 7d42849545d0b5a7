//! Traits that let rustc decide questions which the syntax of a kernel leaves open: receivers, paths, types of first
//! values.

pub(super) mod autoref;
pub(super) mod call;
pub(super) mod inference;
pub(super) mod path;
pub(super) mod unsupported;
