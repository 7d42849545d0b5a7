//! The simulator against independent statements of what instructions and kernels do.
#![allow(clippy::type_complexity, reason = "a table of (text, meaning) says in its type what a row is")]
#![allow(clippy::needless_range_loop, reason = "a lane number indexes several registers in step")]

mod aiter;
mod bytes;
mod calls;
mod clang;
mod copies;
mod coverage;
mod csmith;
mod errata;
mod faithful;
mod float;
mod full;
mod golden;
mod harness;
mod hazards_three_way;
mod indexed;
mod int;
mod kernels;
mod lanes;
mod lines;
mod matrix;
mod memory;
mod miscompiled;
mod overflow;
mod partial;
mod patterns;
mod random_c;
mod rdna;
mod rest;
mod sanitize;
mod scalar;
mod scaled;
mod small;
mod specs;
mod strict;
mod table;
mod timed;
mod together;
mod triton;
mod typed;
mod values;
mod vector;
mod ways;
mod whole;
mod witness;
