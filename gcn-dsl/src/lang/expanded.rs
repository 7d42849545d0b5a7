//! Traits by which the macro's expansion lets rustc decide what the syntax of a kernel does not show: receivers, paths,
//! types of first values.

pub(super) mod autoref;
pub(super) mod call;
pub(super) mod inference;
pub(super) mod path;
pub(super) mod unsupported;
