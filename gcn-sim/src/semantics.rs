//! The functions that execute instructions, and the loader that assigns them to the steps of a program.

pub(crate) mod coverage;
mod dual;
pub(crate) mod execute;
pub(crate) mod fidelity;
pub(crate) mod functions;
pub(crate) mod indexed;
pub(crate) mod load;
pub(crate) mod mem;
pub(crate) mod mfma;
pub(crate) mod op;
pub(crate) mod scalar;
pub(crate) mod valu;
pub(crate) mod wmma;
