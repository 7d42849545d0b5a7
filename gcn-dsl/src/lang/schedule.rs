//! Schedules that the type system checks: asynchronous operations, waits for them, and the order of instructions.

/// Implements a trait for tuples of two to four members, by calling a method of each member in order; the results, if
/// any, form a tuple.
macro_rules! tuples {
    ($trait:ident: $($what:tt)*) => {
        tuples!(@ $trait [A 0, B 1] $($what)*);
        tuples!(@ $trait [A 0, B 1, C 2] $($what)*);
        tuples!(@ $trait [A 0, B 1, C 2, D 3] $($what)*);
    };
    (@ $trait:ident [$($member:ident $i:tt),*] results of $method:ident) => {
        impl<$($member: $trait),*> $trait for ($($member,)*) {
            type Output = ($($member::Output,)*);
            #[track_caller]
            fn $method(self) -> Self::Output {
                ($(self.$i.$method(),)*)
            }
        }
    };
    (@ $trait:ident [$($member:ident $i:tt),*] $method:ident of each into $out:ident: $ty:ty) => {
        impl<$($member: $trait),*> $trait for ($($member,)*) {
            fn $method(&self, $out: $ty) {
                $(self.$i.$method($out);)*
            }
        }
    };
}

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
