//! Running a grid: launches, workgroups over host threads, turns of waves.

pub(crate) mod dispatch;
pub(crate) mod launch;
mod patience;
pub(crate) mod workgroup;
