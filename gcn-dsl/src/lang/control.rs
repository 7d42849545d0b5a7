//! Control flow in a kernel: `if`, `match`, `while`, `for`, `loop`, blocks, and exits from them.
//!
//! A *flow* is a type that says which lanes execute a statement: [`WholeWorkgroup`] if all lanes do, [`SomeLanesOf`]`<F>` under a varying
//! condition inside flow `F`, [`InLoop`] and [`After`] if lanes may have left by `break`, `continue` or `return`. A
//! function that needs all lanes, such as `barrier()` or `mfma()`, returns [`everyone::Everyone`], which is accepted
//! only in flows with all lanes, so rustc rejects such a call in divergent code.
//!
//! The macro expands each construct to a *guard* (`if_begin`, `loop_begin`, …), a value whose methods begin and end the
//! construct's parts. An exit has a [`Kind`], which is varying if any construct that it leaves is. Each construct that
//! the exit leaves has a [`Leave`], in which the exit records its kind; these kinds determine the flow after the loop
//! or block.

pub(super) mod assert;
mod branch;
pub(super) mod conditional;
pub(super) mod everyone;
mod exit;
pub(super) mod function;
mod loops;
mod matching;
mod pipeline;
mod range;
pub(super) mod short_circuit;
pub(super) mod while_any;

pub use branch::{Condition, Else, If, if_begin};
pub use exit::{Block, JoinAll, Last, Slot, block_begin};
pub use loops::{
    Loop, UnrollEnd, Unrolled, While, WhileHead, loop_begin, unroll, unroll_inclusive, unrolled_begin,
    while_begin,
};
pub use matching::{Matched, is, is_at_least, is_at_most, is_below, is_between, otherwise};
pub use pipeline::{TripsTogether, pipeline, pipeline_count};
pub use range::{ForIndex, ForLoop, ForRange, Range, Step, for_begin, range, range_inclusive, rolled};
