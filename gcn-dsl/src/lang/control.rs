//! Control flow in a kernel: `if`, `match`, `while`, `for`, `loop`, blocks, and what leaves them.
//!
//! The flow a statement runs in is a type: [`Top`] where all lanes run, [`Div`]`<F>` under a varying condition inside flow
//! `F`, [`InLoop`] and [`After`] where lanes may have left. What a function that needs all lanes gives, `barrier()` or `mfma()`, is
//! [`everyone::Everyone`], which is taken in flows with all lanes only, so that rustc refuses the call in divergent code.
//!
//! What the macro expands to: a guard for each open construct (`if_begin`, `loop_begin`, …), whose methods begin and end its
//! parts. An exit notes its [`Kind`], varying if a construct that it leaves is, in a [`Leave`] for each construct that has to
//! know; the loop or block ties the noted kinds to its flow when it ends.

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
