//! Macros in a body: `asm!`, `dbg!`, `debug_assert!`.

pub(crate) mod asm;
pub(crate) mod embed;
