//! How many stages a pipelined loop can have. The tests of `gcn-dsl-macros`, which says so for literals, read this file too.

/// Fewest and most stages of a pipelined loop. The body is there once for each; what there is to gain ends where the loads
/// of so many trips are longer on their way than memory takes.
pub const STAGES: std::ops::RangeInclusive<u8> = 2..=8;
