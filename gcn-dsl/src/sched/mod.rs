//! Order and waits.
//!
//! - [`wait`] puts into a finished machine program the waits that the hardware does not make by itself: `s_waitcnt` for
//!   memory operations, `s_nop` for fixed distances. On the way it moves instructions to where wait states would be idle;
//!   [`fence`] says what that leaves alone.
//! - [`list`] orders the instructions of each block before registers are allocated, so that loads start early and
//!   results are used late.
//! - [`mark`](crate::ir::mark) is what the user says about the order, in [`class`]es of instructions; [`manual`] computes the waits that the
//!   user wrote.

pub mod class;
pub mod fence;
pub mod list;
pub mod manual;

pub use class::Classes;
#[doc(inline)]
pub use gcn_isa::wait;
