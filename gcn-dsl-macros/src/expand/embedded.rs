//! Macros in a body that act on the device: `asm!`, `dbg!`, `debug_assert!`.

pub(crate) mod asm;
pub(crate) mod embed;
