//! Lanes: their numbers, values of other lanes, reductions over a wave and over a workgroup.

pub(super) mod ids;
pub(super) mod mask;
pub(super) mod size;
pub(super) mod wave;
