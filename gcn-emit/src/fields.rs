//! Where each operand and modifier is in the instruction word.
//!
//! [`layout`] contains the data: one list of bit fields per format, as in the manuals' "microcode formats" chapter (CDNA3 ISA, chapter 13)
//! and as confirmed by the golden encodings. [`row`] combines a format's list with a table row. The result is the row's template: constant
//! bits, bits that belong to a field, and bits that the hardware ignores. The encoder and the decoder both use that template, so they
//! cannot disagree about a bit.

pub mod check;
pub(crate) mod layout;
pub(crate) mod row;
pub(crate) mod source;

pub(crate) use row::codec;
