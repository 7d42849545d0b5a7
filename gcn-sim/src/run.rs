//! Running a grid: launches, workgroups over host threads, turns of waves.

pub(crate) mod dispatch;
pub(crate) mod launch;
pub(crate) mod patience;
pub(crate) mod workgroup;
