//! Scheduling: the order of instructions, and waits.
//!
//! - [`wait`] inserts the waits that the hardware does not make by itself into a finished machine program: `s_waitcnt`
//!   for memory operations, `s_nop` for fixed distances. It also moves instructions into idle wait states; [`fence`]
//!   lists the points across which it must not.
//! - [`list`] orders the instructions of each block before register allocation, so that loads start early and results
//!   are used late.
//! - [`priority`] raises the priority of waves that have begun to multiply.
//! - [`cold`] moves rarely executed code to the end of the program.
//! - [`islands`] lets branches lead further than their 16-bit distance permits.
//! - [`dual`] combines two instructions into one on hardware with dual-issue instructions.
//! - [`mark`](crate::ir::mark) carries the user's requirements on the order, in terms of [`class`]es of instructions;
//!   [`manual`] computes the user's waits.

pub mod class;
pub mod cold;
pub mod dual;
pub mod fence;
pub mod islands;
pub mod list;
pub mod manual;
pub mod priority;

pub use class::Classes;
#[doc(inline)]
pub use gcn_isa::wait;
