//! Kernels, device functions, traits, structs and enums.

pub(crate) mod aggregate;
pub(crate) mod data;
pub(crate) mod declaration;
pub(crate) mod enumeration;
pub(crate) mod function;
pub(crate) mod inlined;
pub(crate) mod kernel;
pub(crate) mod listed;
pub(crate) mod looped;
pub(crate) mod methods;
pub(crate) mod operators;
pub(crate) mod signature;
pub(crate) mod traits;
