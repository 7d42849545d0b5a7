//! Where each operand and modifier sits in the instruction word.
//!
//! [`layout`] is the data: one list of bit fields per format, as the manuals' "microcode formats" chapter
//! draws them (CDNA3 ISA, chapter 13) and as the golden encodings confirm. [`row`] joins a format's list with
//! a table row into the row's own template: bits that never change, bits that a field fills, bits that
//! hardware ignores. The encoder and the decoder both walk that template, so they cannot disagree about a
//! bit.

pub mod check;
pub(crate) mod layout;
pub(crate) mod row;
pub(crate) mod source;

pub(crate) use row::codec;
