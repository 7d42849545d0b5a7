//! Lanes: their numbers, values of other lanes, reductions over a wave and over a workgroup.

pub(super) mod exchange;
pub(super) mod ids;
pub(super) mod match_any;
pub(super) mod reduce;
pub(super) mod shuffle;
pub(super) mod size;
pub(super) mod wave;
pub(super) mod workgroup;
