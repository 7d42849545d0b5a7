//! The symbols of the library: `build.rs` makes a jump to each function of `data/functions.tsv`, with the version that programs
//! ask for, and for what is missing one to [`unsupported`](crate::abi::status::unsupported) with its name.
#![allow(unsafe_code, reason = "assembly: symbols with versions cannot be said in Rust")]

include!(concat!(env!("OUT_DIR"), "/exports.rs"));
