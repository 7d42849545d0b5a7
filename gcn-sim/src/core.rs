//! The basic types of the simulator: the state of waves and memory, resolved instructions, and errors.
//!
//! The function that executes an instruction is the [`machine::Exec`] of its [`machine::Step`]. So this module does not depend on the
//! semantics of instructions.

pub(crate) mod aperture;
pub(crate) mod error;
pub(crate) mod fault;
pub(crate) mod finding;
pub(crate) mod grid;
pub(crate) mod gws;
pub(crate) mod kernel;
pub(crate) mod late;
pub(crate) mod machine;
pub(crate) mod matrix;
pub(crate) mod memory;
pub(crate) mod operand;
pub(crate) mod options;
pub(crate) mod overflow;
pub(crate) mod params;
pub(crate) mod permutation;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod probe;
pub(crate) mod scalar;
pub(crate) mod site;
pub(crate) mod trace;
pub(crate) mod value;
pub(crate) mod wave;
