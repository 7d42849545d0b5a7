//! How an AMD GPU program is written down, both ways: assembly text, machine code, kernel descriptor, metadata and code
//! object.
#![forbid(unsafe_code)]

pub mod asm;
pub mod asm_file;
pub mod code;
pub mod decode;
pub mod descriptor;
pub mod disasm;
pub mod encode;
mod fields;
pub mod kernel;
pub mod lines;
pub mod lint;
pub mod metadata;
pub mod object;
pub mod occupancy;
pub mod rewrite;
pub mod target_id;
pub mod text;
