//! The permitted numbers of stages of a pipelined loop. The tests of `gcn-dsl-macros`, which checks literals,
//! read this file too.

/// Smallest and largest number of stages. The body is emitted once for each stage, so more of them cost code
/// size; the gain ends when the loads of so many trips cover the latency of memory.
pub const STAGES: std::ops::RangeInclusive<u8> = 2..=8;

/// Buffers that an LDS array of a pipelined loop has.
#[allow(dead_code, reason = "the other reader of this file needs the stages only")]
pub const BUFFERS: std::ops::RangeInclusive<u8> = 1..=2;
