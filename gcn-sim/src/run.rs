//! Runs a grid: checks the launch, distributes workgroups over host threads, and gives waves turns.

pub(crate) mod dispatch;
pub(crate) mod launch;
pub(crate) mod patience;
pub(crate) mod workgroup;
