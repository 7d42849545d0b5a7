//! Integration tests of the facts and analyses, against golden data.

mod check;
mod golden;
mod hazards;
mod layout;
mod reference;
mod semantics;
