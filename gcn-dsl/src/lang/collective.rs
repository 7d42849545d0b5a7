//! Collective operations across the lanes of a wave or the waves of a workgroup: shuffles, reductions, scans, matching,
//! barriers.

pub(super) mod barrier;
pub(super) mod exchange;
pub(super) mod mask;
pub(super) mod match_any;
pub(super) mod reduce;
pub(super) mod shuffle;
pub(super) mod workgroup;
