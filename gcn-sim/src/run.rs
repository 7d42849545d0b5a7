//! Runs a grid: checks the launch, distributes workgroups over host threads, and lets the waves of a workgroup take turns.

pub(crate) mod dispatch;
pub(crate) mod launch;
pub(crate) mod patience;
pub(crate) mod workgroup;
