#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "tools")]
pub mod asm;
pub mod asm_file;
#[cfg(feature = "tools")]
pub mod code;
pub mod decode;
pub mod descriptor;
#[cfg(feature = "tools")]
pub mod disasm;
pub mod encode;
mod fields;
pub mod kernel;
pub mod lines;
#[cfg(feature = "tools")]
pub mod lint;
pub mod metadata;
pub mod object;
#[cfg(feature = "tools")]
pub mod rewrite;
pub mod target_id;
pub mod text;
mod version;

#[doc(inline)]
pub use kernel::occupancy;
