//! This package has no code of its own: see `tests/ui.rs`.
#![forbid(unsafe_code)]
