//! Traits by which expanded code leaves to rustc what the syntax of a kernel does not tell: receivers, paths, types of first values.

pub(super) mod autoref;
pub(super) mod call;
pub(super) mod inference;
pub(super) mod path;
pub(super) mod unsupported;
