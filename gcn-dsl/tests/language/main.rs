//! The DSL: operators, control flow, functions, assembly in kernels, and errors.

mod as_ported;
mod bounds;
mod control;
mod data_methods;
mod deferred;
mod elsewhere;
mod embed;
mod enums;
mod errors;
mod functions;
mod given;
mod iterate;
mod kinds;
mod lazy;
mod listed;
mod memory_fields;
mod names;
mod natural;
mod newcomer;
mod operators;
mod option;
mod places;
mod pointers;
mod result;
mod same_text;
mod written;
