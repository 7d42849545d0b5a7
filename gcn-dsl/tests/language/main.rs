//! The language: operators, control flow, functions, assembly in kernels, and errors.

mod control;
mod embed;
mod errors;
mod functions;
mod operators;
