//! Analyses of a whole body before it is expanded: which variables are varying (differ between lanes), and which values are never read.

pub(crate) mod unused;
pub(crate) mod vary;
