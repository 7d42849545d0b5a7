//! What is found out about a whole body before it is expanded: which variables vary, and which values nobody reads.

pub(crate) mod unused;
pub(crate) mod vary;
