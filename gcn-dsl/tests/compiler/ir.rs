//! The IR: its textual form, its verifier, and its passes by files of text.

mod passes;
mod verify;
