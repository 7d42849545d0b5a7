//! The allowed numbers of stages of a pipelined loop. `gcn-dsl-macros` checks the literals in attributes; its tests
//! include this file.

/// The smallest and the largest number of stages. The body is emitted once for each stage, so stages cost code size;
/// more stages gain nothing once the loads in flight cover the latency of memory.
pub const STAGES: std::ops::RangeInclusive<u8> = 2..=8;

/// The allowed numbers of buffers of an LDS array in a pipelined loop.
#[allow(dead_code, reason = "the other reader of this file needs the stages only")]
pub const BUFFERS: std::ops::RangeInclusive<u8> = 1..=2;
