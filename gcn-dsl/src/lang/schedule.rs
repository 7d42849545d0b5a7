//! Schedules that types check: results that are on their way, waits, and the order of instructions.

mod carried;
mod lds;
mod memory;
mod order;
mod pair;
mod pending;
mod ping_pong;

pub use carried::{Carried, Carry, carried, traced};
pub use lds::{LdsBuf, ReadPhase, Readable, StorePhase, Turn, TurnPhase, WritePhase, Written, barrier_turn};
pub use memory::AsyncMemory;
pub use order::{
    Interleave, Manual, cold_path, interleave, manual_begin, sched_barrier, sched_barrier_except,
    set_priority,
};
pub use pair::LdsPair;
pub use pending::{
    Awaitable, Drained, LdsAccesses, Loads, Pending, ScalarLoads, Stores, WaitCounter, issue, wait, wait_all,
};
pub use ping_pong::{MatrixPhase, PingPong, matrix_phase_begin, ping_pong_begin};
