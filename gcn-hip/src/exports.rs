//! The symbols of the library. `build.rs` generates a jump to each function in `data/functions.tsv`, with the symbol version that programs
//! request. A function that is not implemented jumps to [`unsupported`](crate::abi::status::unsupported) with its name.
#![allow(unsafe_code, reason = "assembly: symbols with versions cannot be said in Rust")]

include!(concat!(env!("OUT_DIR"), "/exports.rs"));
