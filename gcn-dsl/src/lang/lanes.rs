//! Lanes: their numbers, and values across the lanes of a wave.

pub(super) mod ids;
pub(super) mod size;
pub(super) mod wave;
