//! The IR: its textual form, its verifier, and its passes, which are tested by text files.

mod passes;
mod verify;
