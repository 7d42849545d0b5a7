//! Traits by which the expansion lets rustc decide what a kernel's syntax leaves open: receivers, paths, types of first
//! values.

pub(super) mod autoref;
pub(super) mod call;
pub(super) mod inference;
pub(super) mod path;
pub(super) mod unsupported;
